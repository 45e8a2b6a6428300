CREATE FUNCTION hopper.explain_fit(
    packed_table text DEFAULT NULL,
    model_table text DEFAULT NULL,
    model_selection_table text DEFAULT NULL,
    num_iterations bigint DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency bigint DEFAULT NULL,
    threads bigint DEFAULT NULL,
    training_metrics text DEFAULT 'final',
    threads_per_model bigint DEFAULT 1,
    measure boolean DEFAULT false,
    dtype text DEFAULT 'fp32',
    validation_freq bigint DEFAULT NULL)
RETURNS TABLE (
    item text,
    mst_key integer,
    predicted double precision,
    measured double precision,
    unit text)
    AS 'MODULE_PATHNAME', 'hopper_sql_explain_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.explain_fit(text, text, text, bigint, boolean, text, bigint, bigint,
    text, bigint, boolean, text, bigint) IS
    'what fit_multiple_model would take, without training; with measure, beside what a run took

Task: 4.1 train
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
model_table: table of models that training writes; its companions are _info, _summary and _state
model_selection_table: table of configurations, made by generate_model_configs() or load_model_selection_table()
num_iterations: passes over the training data, for each model
use_gpus: not yet: true is an error
validation_table: packed table of rows that are not trained on, to compare the models by
metrics_compute_frequency: metrics are taken at every so many iterations and at the last one
threads: threads that train at once; by itself hopper.threads
training_metrics: ''running'': summed up while weights move; ''final'': exact after the last iteration; ''every'': exact at every metrics iteration
threads_per_model: threads that share the arithmetic of one model, for few large models on many processors
measure: compare with what the run that made model_table really took
dtype: ''fp32'' or ''bf16'': what products of layers are computed in
validation_freq: models are validated at every so many iterations and at the last one; by itself when metrics are taken
Example:
SELECT item, predicted, unit FROM hopper.explain_fit(packed_table := ''points_packed'', model_table := ''models'',
    model_selection_table := ''configs'', num_iterations := 5) WHERE mst_key IS NULL;';
