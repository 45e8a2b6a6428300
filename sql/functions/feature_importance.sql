CREATE FUNCTION hopper.feature_importance(
    model_table text,
    source_table text,
    mst_key bigint DEFAULT NULL,
    metric text DEFAULT NULL,
    repeats bigint DEFAULT 5,
    most_rows bigint DEFAULT 1000,
    seed bigint DEFAULT 0)
RETURNS TABLE (
    feature text,
    importance double precision,
    deviation double precision,
    low double precision,
    high double precision,
    metric_type text,
    metric_before double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_feature_importance' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.feature_importance(text, text, bigint, text, bigint, bigint, bigint) IS
    'how much worse a model predicts when the values of one column are exchanged among the rows, with an interval of 95 %; the most important column first

Task: 7.6 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
source_table: table or view with the columns and the label, of rows that the model was not trained on
mst_key: which configuration (model selection tuple) of model_table; by itself the best
metric: ''auc'' (the default of two classes), ''accuracy'' (of more) or ''log_loss''; of numbers ''rmse'' or ''mae''
repeats: how often each column is exchanged
most_rows: so many rows are looked at, chosen by what is in them
seed: another seed, other rows and exchanges
Example:
SELECT feature, importance > 0 AS helps FROM hopper.feature_importance(model_table := ''models'', source_table := ''points_test'', mst_key := 1);';
