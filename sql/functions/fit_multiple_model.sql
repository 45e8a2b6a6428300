CREATE FUNCTION hopper.fit_multiple_model(
    packed_table text,
    model_table text,
    model_selection_table text,
    num_iterations bigint DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency bigint DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    use_caching boolean DEFAULT false,
    seed bigint DEFAULT NULL,
    threads bigint DEFAULT NULL,
    dtype text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model bigint DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus hopper.integers DEFAULT NULL,
    rank_by text DEFAULT NULL,
    mst_keys hopper.integers DEFAULT NULL,
    replace boolean DEFAULT false,
    validation_freq bigint DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit_multiple_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit_multiple_model(text, text, text, bigint, boolean, text, bigint,
    boolean, text, text, boolean, bigint, bigint, text, text, bigint, boolean, hopper.integers,
    text, hopper.integers, boolean, bigint) IS
    'train all configurations of a model selection table together on a packed table

Task: 4.2 train
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
model_table: name of the table of models to make, with the companions _info, _summary and _state
model_selection_table: table of configurations, made by generate_model_configs() or load_model_selection_table()
num_iterations: passes over the training data, for each model, which must be given
use_gpus: train on the machine''s GPUs; an error where there is none
validation_table: packed table of rows that are not trained on, to compare the models by
metrics_compute_frequency: metrics are taken at every so many iterations and at the last one
warm_start: go on from the models in model_table
name: a name, kept with the result
description: a text, kept with the result
use_caching: accepted for MADlib''s sake
seed: another seed, other random numbers; the same seed, the same result; by itself 0, and that of the run before where warm_start goes on
threads: threads that train at once; by itself hopper.threads
dtype: ''fp32'' or ''bf16'': what products of layers are computed in
training_metrics: ''running'': summed up while weights move; ''final'': exact after the last iteration; ''every'': exact at every metrics iteration
threads_per_model: threads that share the arithmetic of one model, for few large models on many processors
fuse: on GPUs: models of one shape train side by side
mst_keys: only these configurations are trained; with warm_start the others keep what they have
gpus: indexes of the GPUs to use, as gpu_configuration() shows them; by itself all
rank_by: metric, or ''loss'', that the models are compared by; by itself the first that all of them compute
replace: take the place of the model_table that is there, once the new one is trained
validation_freq: models are validated at every so many iterations and at the last one; by itself when metrics are taken
Example:
SELECT * FROM hopper.fit_multiple_model(packed_table := ''points_packed'', model_table := ''models'',
    model_selection_table := ''configs'', num_iterations := 5, validation_table := ''points_packed_validation'');';
