-- Tables that the functions made and somebody changed: an error each, never a crash. A value that is
-- read as if it were of another type would be an address in the server's memory.
SET client_min_messages = warning;
CREATE TABLE points AS
  SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('points', 'points_packed', 'y', 'x');
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}');
SELECT hopper.load_model_selection_table('models', 'configs', '{1}',
  ARRAY[$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$],
  ARRAY['batch_size=8']);
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1);

-- the packed table and its summary
BEGIN;
ALTER TABLE points_packed ALTER x TYPE bigint USING 4096;
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
ALTER TABLE points_packed ALTER partition_id TYPE text;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
ALTER TABLE points_packed_summary ALTER starts TYPE bigint USING 4096;
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
ALTER TABLE points_packed_summary ALTER dependent_varname TYPE text USING 'y';
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;

-- architectures
BEGIN;
ALTER TABLE models ALTER model_weights TYPE bigint USING 4096;
SELECT * FROM hopper.describe_model('models', 1);
ROLLBACK;

-- the outputs of training
BEGIN;
ALTER TABLE run ALTER model_weights TYPE bigint USING 4096;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
ALTER TABLE run_info ALTER metrics_type TYPE bigint USING 4096;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_info SET metrics_type = '{accuracy,mse}';
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_info SET metrics_type = ARRAY[NULL]::text[];
SELECT metrics_type FROM hopper.evaluate('run', 'points_packed');
SELECT models_trained
  FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
ROLLBACK;
-- explain_fit() reads numbers that only a finished run needs.
BEGIN;
UPDATE run_summary SET num_iterations = NULL;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
UPDATE run_summary SET metrics_compute_frequency = 0;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
UPDATE run_summary SET threads = 2000000000;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
UPDATE run_summary SET training_metrics_mode = NULL;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
UPDATE run_info SET model_id = NULL;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
UPDATE run_info SET compile_params = NULL;
SELECT item FROM hopper.explain_fit(model_table => 'run', measure => true);
ROLLBACK;
BEGIN;
ALTER TABLE run_summary ALTER independent_shape TYPE bigint USING 4096;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_summary SET label_kind = NULL;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_summary SET independent_type = NULL;
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted');
ROLLBACK;
BEGIN;
ALTER TABLE run DROP CONSTRAINT run_pkey;
ALTER TABLE run ALTER mst_key DROP NOT NULL;
UPDATE run SET mst_key = NULL;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
ALTER TABLE run_state DROP CONSTRAINT run_state_pkey;
UPDATE run_state SET part = -1;
INSERT INTO run_state SELECT mst_key, 1, state FROM run_state;
SELECT hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
ROLLBACK;
BEGIN;
ALTER TABLE run_info ALTER training_loss TYPE bigint USING 4096;
SELECT hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
ROLLBACK;
BEGIN;
UPDATE run_info SET iterations = NULL;
SELECT hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
ROLLBACK;
-- the best of several models is a row of the info table
SELECT hopper.load_model_selection_table('models', 'two', '{1}',
  ARRAY[$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$],
  ARRAY['batch_size=8', 'batch_size=16']);
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'pair', 'two', 1);
BEGIN;
ALTER TABLE pair_info DROP CONSTRAINT pair_info_pkey;
ALTER TABLE pair_info ALTER mst_key DROP NOT NULL;
UPDATE pair_info SET mst_key = NULL;
SELECT hopper.evaluate('pair', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE pair_info SET metrics_type = NULL;
SELECT hopper.evaluate('pair', 'points_packed');
ROLLBACK;
BEGIN;
DELETE FROM pair_info;
SELECT hopper.evaluate('pair', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE pair_info SET metrics_iters = '{NULL}';
SELECT hopper.fit_multiple_model('points_packed', 'pair', 'two', 1, warm_start => true);
ROLLBACK;
-- numbers that no run writes
BEGIN;
UPDATE run_summary SET num_classes = NULL;
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted');
ROLLBACK;
BEGIN;
UPDATE run_summary SET num_classes = '{-1}';
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_summary SET independent_shape = '{0}';
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_summary SET normalizing_const = 'NaN';
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE run_summary SET label_kind = 'classes';
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
ALTER TABLE points_packed_summary ALTER n_rows TYPE numeric USING 1e30;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET partitions = -1;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET normalizing_const = 0;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
-- fewer class values than classes: reading on would be reading beyond the array
BEGIN;
UPDATE run_summary SET y_class_values = '{0}';
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', 'prob', mst_key => 1);
ROLLBACK;
BEGIN;
UPDATE run_summary SET y_class_values = '{0}';
ALTER TABLE run_summary ALTER y_class_values TYPE text[];
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', 'response');
ROLLBACK;
BEGIN;
UPDATE run_summary SET num_classes = NULL, y_class_values = '{0}';
ALTER TABLE run_summary ALTER y_class_values TYPE text[];
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted', 'prob', mst_key => 1);
ROLLBACK;
BEGIN;
ALTER TABLE run_summary ALTER y_class_values TYPE bigint USING 4096;
SELECT hopper.predict('run', 'points', 'id', 'x', 'predicted');
ROLLBACK;
-- Something is kept for each partition and each row: their numbers are bounded before.
BEGIN;
UPDATE points_packed_summary SET partitions = 20000000, n_rows = 20000000;
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET partitions = 20000, n_rows = 20000;
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET partitions = 20000, n_rows = 20000;
SELECT hopper.evaluate('run', 'points_packed');
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET partitions = 20000, n_rows = 20000;
SELECT hopper.explain_fit('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
UPDATE points_packed_summary SET n_rows = 9223372036854775807;
SELECT hopper.fit_multiple_model('points_packed', 'other', 'configs', 1);
ROLLBACK;
BEGIN;
CREATE TABLE measured AS
  SELECT i AS id, ARRAY[i, i % 3]::real[] AS x, i::real AS y FROM generate_series(1, 12) i;
SELECT hopper.training_preprocessor('measured', 'measured_packed', 'y', 'x');
UPDATE measured_packed_summary SET label_kind = 'array', label_shape = '{1}';
SELECT hopper.validation_preprocessor('measured', 'other', 'y', 'x', 'measured_packed');
ROLLBACK;
DROP TABLE two, two_summary, pair, pair_info, pair_state, pair_summary;
DROP TABLE points, points_packed, points_packed_summary, models, configs, configs_summary, run,
  run_info, run_state, run_summary;
