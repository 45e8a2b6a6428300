CREATE TYPE hopper.fit_result AS (
    model_table text,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    models_trained integer,
    models_failed integer,
    seconds double precision);
COMMENT ON TYPE hopper.fit_result IS
    'what a training run returns: its best configuration, and how many models were trained';

CREATE FUNCTION hopper.fit(
    packed_table text,
    model_table text,
    model_arch_table text,
    model_id hopper.integers,
    compile_params hopper.text_or_json DEFAULT NULL,
    fit_params hopper.text_or_json DEFAULT NULL,
    num_iterations bigint DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency bigint DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    seed bigint DEFAULT NULL,
    threads bigint DEFAULT NULL,
    dtype text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model bigint DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus hopper.integers DEFAULT NULL,
    replace boolean DEFAULT false,
    validation_freq bigint DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit(text, text, text, hopper.integers, hopper.text_or_json, hopper.text_or_json,
    bigint, boolean, text, bigint, boolean, text, text, bigint, bigint, text, text, bigint, boolean,
    hopper.integers, boolean, bigint) IS
    'train one model on a packed table; its tables are those of fit_multiple_model, with mst_key 1

Task: 4.3 train
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
model_table: name of the table of models to make, with the companions _info, _summary and _state
model_arch_table: table of architectures, made by load_model()
model_id: number of an architecture in model_arch_table
compile_params: how to train, in Keras'' words: loss, optimizer, metrics; it must be given
fit_params: how to train: batch_size, epochs, class_weight, callbacks and so on
num_iterations: passes over the training data, for each model, which must be given
use_gpus: train on the machine''s GPUs; an error where there is none
validation_table: packed table of rows that are not trained on, to compare the models by
metrics_compute_frequency: metrics are taken at every so many iterations and at the last one
warm_start: go on from the models in model_table
name: a name, kept with the result
description: a text, kept with the result
seed: another seed, other random numbers; the same seed, the same result; by itself 0, and that of the run before where warm_start goes on
threads: threads that train at once; by itself hopper.threads
dtype: ''fp32'' or ''bf16'': what products of layers are computed in
training_metrics: ''running'': summed up while weights move; ''final'': exact after the last iteration; ''every'': exact at every metrics iteration
threads_per_model: threads that share the arithmetic of one model, for few large models on many processors
fuse: on GPUs: models of one shape train side by side
gpus: indexes of the GPUs to use, as gpu_configuration() shows them; by itself all
replace: take the place of the model_table that is there, once the new one is trained
validation_freq: models are validated at every so many iterations and at the last one; by itself when metrics are taken
Example:
SELECT * FROM hopper.fit(packed_table := ''points_packed'', model_table := ''one_model'', model_arch_table := ''networks'',
    model_id := 1, compile_params := $$loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.01)'', metrics=[''accuracy'']$$,
    fit_params := ''batch_size=32'', num_iterations := 5);';
