CREATE FUNCTION hopper.predict_rows(
    model_table text,
    source_rows anyelement,
    pred_type hopper.pred_type DEFAULT 'response',
    mst_key bigint DEFAULT NULL,
    on_null text DEFAULT 'error',
    independent_varname hopper.columns DEFAULT NULL,
    source_query text DEFAULT NULL,
    layer text DEFAULT NULL)
RETURNS TABLE (source anyelement, class_value text, prob double precision, rank integer, value double precision, output text,
               layer_output real[])
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_rows' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.predict_rows(text, anyelement, hopper.pred_type, bigint, text, hopper.columns, text, text) IS
    'each row of a table or view with its prediction beside it: for SELECT, views, CREATE TABLE AS, and standbys, because it writes nothing

The rows of a model with several outputs come once for each of them, whose name is in column output.

Task: 7.3 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
source_rows: NULL::name, with the name of the table or view that has the rows; features are found by the names that the model was trained with
pred_type: ''response'': the most probable class; ''prob'': every class, each in a row of its own; a number: so many of the most probable, or, below 1, those that are more probable
mst_key: which configuration (model selection tuple) of model_table; by itself the best
on_null: rows of which a feature is infinite, or NULL or NaN where no treatment fills that in: ''error'', or ''null'' (they get no prediction)
independent_varname: columns of features; by itself those that the model was trained with, by their names
source_query: SELECT whose rows are taken instead, with the columns of source_rows by their names; by itself all rows of the table or view
layer: name of a layer of the architecture, whose output is then in column layer_output; by itself what the model predicts
Example:
SELECT (source).*, class_value, prob FROM hopper.predict_rows(model_table := ''models'',
    source_rows := NULL::points_test, mst_key := 1) LIMIT 5;';

CREATE FUNCTION hopper.predict_rows(
    model_table text,
    source_rows hopper.untyped,
    pred_type hopper.pred_type DEFAULT 'response',
    mst_key bigint DEFAULT NULL,
    on_null text DEFAULT 'error',
    independent_varname hopper.columns DEFAULT NULL,
    source_query text DEFAULT NULL,
    layer text DEFAULT NULL)
RETURNS TABLE (source hopper.untyped, class_value text, prob double precision, rank integer, value double precision, output text,
               layer_output real[])
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_rows' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_rows(text, hopper.untyped, hopper.pred_type, bigint, text, hopper.columns, text, text) IS
    'says that the rows'' type is missing, where source_rows is NULL or a literal without one';
