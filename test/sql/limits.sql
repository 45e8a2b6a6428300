-- What meets a limit or leaves something open, and what is said then.
CREATE TABLE big AS
  SELECT i AS id, array_agg(sin(i * j)) AS x, i % 2 AS y
  FROM generate_series(1, 20000) i, generate_series(1, 16) j GROUP BY i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('big', 'big_packed', 'y', 'x', validation_fraction => 0.5);
RESET client_min_messages;

-- An architecture without an input shape: load_model tells, training takes it from the data.
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "open", "layers": [
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}');
SELECT * FROM hopper.describe_model('models', 1);
SELECT hopper.load_model('models', model_arch, '\x00') FROM models;
SELECT hopper.load_model('models', model_arch, '\x00000000') FROM models;
SELECT hopper.load_model_selection_table('models', 'configs', '{1}',
  ARRAY[$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$],
  ARRAY['batch_size=1000']);
SET client_min_messages = warning;
SELECT models_trained FROM hopper.fit_multiple_model('big_packed', 'run', 'configs', 1);
SELECT mst_key, parameters FROM run_info;
SELECT loss IS NOT NULL AS evaluated FROM hopper.evaluate('run', 'big_packed_validation');
SELECT count(*) FROM hopper.predict_row('run', 1, (SELECT x FROM big WHERE id = 1));
SELECT hopper.predict('run', 'big', 'id', 'x', 'predicted', 'response');
SELECT count(*) FROM predicted;
SELECT models_trained
  FROM hopper.fit_multiple_model('big_packed', 'run', 'configs', 1, warm_start => true);
-- Weights that do not fit the shape are found as soon as it is known.
UPDATE configs SET model_id = 2;
SELECT hopper.fit_multiple_model('big_packed', 'other', 'configs', 1);

-- Data above the memory limit are read in turns, with the same weights.
UPDATE configs SET model_id = 1, fit_params = 'batch_size=100';
SELECT models_trained FROM hopper.fit_multiple_model('big_packed', 'roomy', 'configs', 3,
  validation_table => 'big_packed_validation', training_metrics => 'every');
CREATE TEMP TABLE roomy_values AS SELECT * FROM hopper.evaluate('roomy', 'big_packed');
SET hopper.memory_limit = '1MB';
SELECT models_trained FROM hopper.fit_multiple_model('big_packed', 'tight', 'configs', 3,
  validation_table => 'big_packed_validation', training_metrics => 'every');
SELECT r.state_digest = t.state_digest AS same, r.training_loss = t.training_loss AS same_training,
  r.validation_loss = t.validation_loss AS same_validation
FROM roomy_info r, tight_info t;
SELECT models_trained
FROM hopper.fit_multiple_model('big_packed', 'tight', 'configs', 1, warm_start => true);
DROP TABLE tight, tight_info, tight_state, tight_summary;
SELECT hopper.evaluate('roomy', 'big_packed') = v AS same FROM roomy_values v;
-- Where not even one partition fits they are refused, and told how to fit.
SELECT hopper.training_preprocessor('big', 'whole_packed', 'y', 'x', partitions => 1);
DO $$
BEGIN
  PERFORM hopper.fit_multiple_model('whole_packed', 'other', 'configs', 1);
EXCEPTION WHEN out_of_memory THEN
  RAISE WARNING 'refused, %', SQLSTATE;
END $$;
SELECT hopper.fit_multiple_model('whole_packed', 'other', 'configs', 1);
SELECT hopper.evaluate('run', 'whole_packed');
RESET hopper.memory_limit;
UPDATE configs SET fit_params = 'batch_size=1000';
DROP TABLE whole_packed, whole_packed_summary, roomy, roomy_info, roomy_state, roomy_summary;

-- Seconds in tables have six decimals at most.
SELECT bool_and(s = round(s::numeric, 6)) AS rounded
FROM (SELECT seconds AS s FROM hopper.leaderboard('run')
  UNION ALL SELECT seconds FROM hopper.learning_curves('run')
  UNION ALL SELECT unnest(ARRAY[seconds, seconds_busy]) FROM run_summary
  UNION ALL SELECT unnest(ARRAY[seconds_training, seconds_evaluating, seconds_waiting])
    FROM run_info) all_of_them;
-- A setting whose name is an SQL keyword.
SELECT hopper.fit_multiple_model('big_packed', 'other', 'configs', 1, dtype => 'bf15');

-- Weights do not depend on how the session shows numbers, and final values are those of the final
-- weights: without a validation table there are none after a warm start.
UPDATE configs SET fit_params = 'batch_size=100';
CREATE TABLE tenths AS SELECT id, x[1:2] AS x, y FROM big WHERE id <= 500;
SELECT hopper.training_preprocessor('tenths', 'tenths_packed', 'y', 'x', normalizing_const => 0.123);
SELECT models_trained FROM hopper.fit_multiple_model('tenths_packed', 'exact', 'configs', 2,
  validation_table => 'tenths_packed');
SELECT validation_loss_final IS NOT NULL AS validated FROM exact_info;
SET extra_float_digits = -15;
SELECT models_trained FROM hopper.fit_multiple_model('tenths_packed', 'rough', 'configs', 2);
SELECT e.state_digest = r.state_digest AS same FROM exact_info e, rough_info r;
SELECT e.best_value = r.training_metrics_final AS same FROM rough_summary e, rough_info r;
RESET extra_float_digits;
SELECT models_trained FROM hopper.fit_multiple_model('tenths_packed', 'exact', 'configs', 1,
  warm_start => true);
SELECT validation_loss_final, cardinality(validation_loss), best_metric
FROM exact_info, exact_summary;
SELECT best_value = training_metrics_final AS best FROM exact_info, exact_summary;
DROP TABLE tenths, tenths_packed, tenths_packed_summary, exact, exact_info, exact_state,
  exact_summary, rough, rough_info, rough_state, rough_summary;
DROP TABLE big, big_packed, big_packed_summary, big_packed_validation,
  big_packed_validation_summary, models, configs, configs_summary, run, run_info, run_state,
  run_summary, predicted;

-- One statement may do everything: each function sees what those before it did.
SET client_min_messages = warning;
CREATE TABLE few AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y
FROM generate_series(1, 40) i;
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "m", "layers": [
    {"class_name": "Dense", "config": {"name": "out", "batch_input_shape": [null, 2], "units": 2,
     "activation": "softmax"}}]}}') AS model,
  hopper.training_preprocessor('few', 'few_packed', 'y', 'x') AS packed,
  (hopper.fit('few_packed', 'run', 'models', 1,
    $$loss='categorical_crossentropy', optimizer='adam'$$, 'batch_size=8', 1)).models_trained,
  (hopper.evaluate('run', 'few_packed')).loss IS NOT NULL AS evaluated,
  hopper.predict('run', 'few', 'id', 'x', 'predicted', 'response') AS predicted,
  (SELECT count(*) FROM hopper.leaderboard('run')) AS models;
SELECT count(*) FROM predicted;
DROP TABLE few, few_packed, few_packed_summary, models, run, run_info, run_state, run_summary,
  predicted;

-- The counts of a confusion matrix, the square of the classes' number, are memory like any other.
CREATE TABLE few AS SELECT ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y FROM generate_series(1, 8) i;
SELECT hopper.training_preprocessor('few', 'few_packed', 'y', 'x', num_classes => '{2000}', partitions => 2);
SELECT hopper.load_model('wide', '{"class_name": "Sequential", "config": {"name": "wide", "layers": [
  {"class_name": "Dense", "config": {"name": "out", "units": 2000, "activation": "softmax"}}]}}');
SELECT count(*) FROM hopper.fit('few_packed', 'wide_run', 'wide', 1,
  $$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)'$$, 'batch_size=4', 1);
SET hopper.memory_limit = '100MB';
SELECT loss IS NOT NULL AS evaluated FROM hopper.evaluate('wide_run', 'few_packed');
SELECT hopper.evaluate('wide_run', 'few_packed', confusion_table => 'confused');
RESET hopper.memory_limit;
DROP TABLE few, few_packed, few_packed_summary, wide, wide_run, wide_run_info, wide_run_state, wide_run_summary;
