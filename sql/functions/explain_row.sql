CREATE FUNCTION hopper.explain_row(
    model_table text,
    source_row record,
    background_table text DEFAULT NULL,
    mst_key bigint DEFAULT NULL,
    class_value text DEFAULT NULL,
    samples bigint DEFAULT 200,
    seed bigint DEFAULT 0)
RETURNS TABLE (
    feature text,
    feature_value text,
    contribution double precision,
    baseline double precision,
    prediction double precision,
    class_explained text)
    AS 'MODULE_PATHNAME', 'hopper_sql_explain_row' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.explain_row(text, record, text, bigint, text, bigint, bigint) IS
    'what each column of a row adds to its prediction: Shapley values, in the unit of the label or of a probability, which add up to the prediction less the baseline, the mean prediction of other rows

Task: 7.61 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
source_row: the row, whose columns have the names of the features, in whatever order
background_table: table or view of rows to compare with, such as those the model was trained on
mst_key: which configuration (model selection tuple) of model_table; by itself the best
class_value: the class whose probability is explained; by itself the last of two, of more the one that is predicted
samples: orders in which columns are exchanged, each against one row of background_table; four times as many, half the error
seed: another seed, other rows and orders
Example:
SELECT feature, round(contribution::numeric, 2) AS adds FROM hopper.explain_row(model_table := ''models'',
    source_row := (SELECT t FROM points_test t LIMIT 1), background_table := ''points_test'', mst_key := 1);';
