CREATE TYPE hopper.evaluation AS (
    loss double precision,
    metric double precision,
    metrics_type text[],
    loss_type text,
    metrics double precision[]);
COMMENT ON TYPE hopper.evaluation IS
    'loss and metrics of one model on one packed table; metric is the first of metrics';

CREATE FUNCTION hopper.evaluate(
    model_table text,
    packed_table text,
    output_table text DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    mst_key bigint DEFAULT NULL,
    confusion_table text DEFAULT NULL,
    replace boolean DEFAULT false)
RETURNS hopper.evaluation
    AS 'MODULE_PATHNAME', 'hopper_sql_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.evaluate(text, text, text, boolean, bigint, text, boolean) IS
    'loss and metrics of a trained model on a packed table, which validation_preprocessor makes; confusion_table gets a row per class

Task: 7.4 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
output_table: table to write the result to; by itself none
use_gpus: not yet: true is an error
mst_key: which configuration (model selection tuple) of model_table; by itself the best
confusion_table: table to write the confusion matrix to, a row per class; by itself none
replace: take the place of an output_table and a confusion_table that are there
Example:
SELECT * FROM hopper.evaluate(model_table := ''models'', packed_table := ''points_packed_validation'', mst_key := 1);';
