CREATE FUNCTION hopper.calibrate(
    model_table text,
    packed_table text,
    mst_key bigint DEFAULT NULL,
    OUT mst_key integer,
    OUT source_mst_key integer,
    OUT temperature double precision,
    OUT loss double precision,
    OUT loss_before double precision,
    OUT calibration_error double precision,
    OUT calibration_error_before double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_calibrate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.calibrate(text, text, bigint) IS
    'adds a model to a table of models that is a classifier of it, or an ensemble, with a temperature, so that its probabilities are as sure as they are right; returns its number, the temperature, and the mean log-loss and the expected calibration error with it and before

Task: 7.46 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
packed_table: packed table of rows that the model was not trained on, whose log-loss the temperature makes least
mst_key: which configuration (model selection tuple) of model_table; by itself the best
Example:
SELECT temperature, loss, loss_before FROM hopper.calibrate(model_table := ''models'', packed_table := ''points_packed_validation'', mst_key := 1);';
