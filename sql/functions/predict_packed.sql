CREATE FUNCTION hopper.predict_packed(
    model_table text,
    packed_table text,
    mst_key bigint DEFAULT NULL,
    n bigint DEFAULT NULL)
RETURNS TABLE (
    row_number bigint,
    label text,
    predicted text,
    probability double precision,
    outputs double precision[])
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_packed' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.predict_packed(text, text, bigint, bigint) IS
    'what a model predicts for the rows of a packed table, beside their labels: the class and its probability with those of all classes, or the number; for thresholds, calibration and errors of validation rows

Task: 7.42 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
mst_key: which configuration (model selection tuple) of model_table; by itself the best
n: so many rows, spread evenly over all; by itself all
Example:
SELECT label, predicted, probability FROM hopper.predict_packed(model_table := ''models'', packed_table := ''points_packed_validation'', n := 5);';
