-- Training refuses what is wrong before it starts: messages, details, hints, SQLSTATEs.
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_fit_errors;
SET search_path = hopper_fit_errors;
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 2, "activation": "softmax"}}]}}'
\set adam 'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.01)'', metrics=[''accuracy'']'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
CREATE TABLE other_shape AS SELECT id, x[1:2] AS x, y FROM points;
CREATE TABLE other_classes AS SELECT id, x, y || 'ward' AS y FROM points;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x');
SELECT hopper.training_preprocessor('points', 'by_ten', 'y', 'x', normalizing_const => 10);
SELECT hopper.training_preprocessor('other_shape', 'packed_shape', 'y', 'x');
SELECT hopper.training_preprocessor('other_classes', 'packed_classes', 'y', 'x');
SELECT hopper.load_model('models', :'mlp');
SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[1], ARRAY[:'adam'],
    ARRAY['batch_size=16', 'batch_size=32']);

-- NULL and out of range
SELECT hopper.fit_multiple_model(NULL, 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', NULL, 'configs', 1);
SELECT hopper.fit_multiple_model('packed', 'm', NULL, 1);
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 0);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, metrics_compute_frequency => 0);
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, validation_freq => 0);
SELECT * FROM hopper.explain_fit('packed', NULL, 'configs', 1, validation_freq => 0);
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, threads => 0);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, threads => 100000);
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, dtype => 'bf15');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, dtype => 'tf32');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, training_metrics => 'never');
SELECT hopper.fit('packed', 'm', 'models', NULL, :'adam', NULL, 1);
SELECT hopper.fit('packed', 'm', 'models', 1, NULL, NULL, 1);
SELECT hopper.fit('packed', 'm', 'models', 7, :'adam', NULL, 1);
\echo :LAST_ERROR_SQLSTATE

-- Tables that are missing, not packed, or there already
SELECT hopper.fit_multiple_model('paked', 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('points', 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'config', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'points', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE m_state ();
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1);
DROP TABLE m_state;
SELECT hopper.fit_multiple_model('packed', 'nowhere.m', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, warm_start => true);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'points', 'configs', 1, warm_start => true);
\echo :LAST_ERROR_SQLSTATE

-- Validation data that do not fit
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, validation_table => 'points');
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, validation_table => 'packed_shape');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, validation_table => 'packed_classes');
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, validation_table => 'by_ten');

-- All problems of all configurations at once
INSERT INTO configs (model_id, compile_params, fit_params) VALUES
    (1, 'loss=''categorical_crossentropy'', optimizer=''Adam(lr_rate=1)''', 'batch_size=16'),
    (1, :'adam', 'batch_size=0');
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
DELETE FROM configs WHERE mst_key > 2;
SELECT hopper.fit_multiple_model('packed_shape', 'm', 'configs', 1);
SELECT hopper.fit('packed', 'm', 'models', 1, 'loss=''mse'', optimizer=''Adam(lr=0.01)''', 'batch=3', 1);

-- Nothing finished
SELECT hopper.fit('packed', 'm', 'models', 1, 'loss=''mse'', optimizer=''SGD(lr=1e30)''', 'batch_size=16', 1);
\echo :LAST_ERROR_SQLSTATE

-- The caller's rights count
CREATE ROLE hopper_fit_reader;
GRANT USAGE, CREATE ON SCHEMA hopper_fit_errors TO hopper_fit_reader;
GRANT SELECT ON configs, configs_summary, models, packed_summary TO hopper_fit_reader;
SET ROLE hopper_fit_reader;
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
GRANT SELECT ON packed TO hopper_fit_reader;
REVOKE CREATE ON SCHEMA hopper_fit_errors FROM hopper_fit_reader;
SET ROLE hopper_fit_reader;
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1);
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
GRANT CREATE ON SCHEMA hopper_fit_errors TO hopper_fit_reader;
SET ROLE hopper_fit_reader;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', 1);
RESET ROLE;
-- A warm start needs the owner's rights
CREATE ROLE hopper_fit_other;
GRANT USAGE ON SCHEMA hopper_fit_errors TO hopper_fit_other;
GRANT SELECT ON ALL TABLES IN SCHEMA hopper_fit_errors TO hopper_fit_other;
SET ROLE hopper_fit_other;
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, warm_start => true);
\echo :LAST_ERROR_SQLSTATE
SELECT mst_key, status FROM hopper.leaderboard('m') ORDER BY 1;
RESET ROLE;

-- Nothing can be written: refused before anything is trained
BEGIN READ ONLY;
SET LOCAL statement_timeout = '20s';
SELECT hopper.fit_multiple_model('packed', 'unwritten', 'configs', 2000000000);
ROLLBACK;
BEGIN READ ONLY;
SET LOCAL statement_timeout = '20s';
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 2000000000, warm_start => true);
ROLLBACK;

-- A warm start on other data
SELECT hopper.fit_multiple_model('packed_classes', 'm', 'configs', 1, warm_start => true);
SELECT count(*) FROM m;

DROP SCHEMA hopper_fit_errors CASCADE;
DROP ROLE hopper_fit_reader, hopper_fit_other;
