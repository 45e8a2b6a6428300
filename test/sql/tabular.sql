-- tabular(): published networks for rows of numbers, with the configuration that belongs to them.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_tabular;
SET search_path = hopper_tabular;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, (i % 17 / 17.0)::real AS a, (i % 13 / 13.0)::real AS b, (i % 5)::real AS kind,
    CASE WHEN i % 17 < 6 THEN 'low' WHEN i % 13 < 6 THEN 'middle' ELSE 'high' END AS class,
    ((i % 17 - i % 13) / 9.0)::real AS number FROM generate_series(1, 400) i;
SELECT hopper.training_preprocessor('points', 'classes', 'class', 'a, b, kind', validation_fraction => 0.25),
    hopper.training_preprocessor('points', 'numbers', 'number', 'a, b, kind', validation_fraction => 0.25);
SELECT model_id, compile_params::json, fit_params::json FROM hopper.tabular('networks', 'classes', options => '{"iterations": 12}');
SELECT model_id, compile_params::json, fit_params::json FROM hopper.tabular('networks', 'numbers', 'realmlp_small', name => 'small');
SELECT model_id, compile_params::json, fit_params::json FROM hopper.tabular('networks', 'numbers', 'resnet', '{"hidden": [16, 16]}');
SELECT model_id, name FROM networks ORDER BY model_id;

-- Each trains, and is far better than chance: ids of categories have rows of their own
SELECT class_name, output_shape, parameters FROM hopper.describe_model('networks', 1);
SELECT r.model_id, r.compile_params AS compile, r.fit_params AS fit FROM hopper.tabular('networks', 'classes', options =>
    '{"iterations": 12, "hidden": [32, 32], "categories": {"3": 5}, "batch_size": 32}', name => 'trained') AS r \gset
SELECT (hopper.fit('classes', 'run', 'networks', :model_id, :'compile', :'fit', 12, validation_table => 'classes_validation', seed => 1)).best_value > 0.8 AS learnt;
SELECT r.model_id, r.compile_params AS compile, r.fit_params AS fit FROM hopper.tabular('networks', 'numbers', options =>
    '{"iterations": 12, "hidden": [32, 32], "categories": {"3": 5}, "batch_size": 32}', name => 'regression') AS r \gset
SELECT (hopper.fit('numbers', 'run_numbers', 'networks', :model_id, :'compile', :'fit', 12, validation_table => 'numbers_validation', seed => 1)).best_value < 0.3 AS learnt;
SELECT r.model_id, r.compile_params AS compile, r.fit_params AS fit FROM hopper.tabular('networks', 'classes', 'resnet',
    '{"hidden": [16, 16], "categories": {"3": 5}, "learning_rate": 0.01, "batch_size": 32}', name => 'residual') AS r \gset
SELECT (hopper.fit('classes', 'run_resnet', 'networks', :model_id, :'compile', :'fit', 10, validation_table => 'classes_validation', seed => 1)).best_value > 0.6 AS learnt;

-- TabM: members of an ensemble, of which predictions and metrics are the mean
SELECT r.model_id, r.compile_params AS compile, r.fit_params AS fit FROM hopper.tabular('networks', 'classes', 'tabm',
    '{"hidden": [16, 16], "members": 4, "categories": {"3": 5}, "learning_rate": 0.01, "batch_size": 32}', name => 'members') AS r \gset
SELECT class_name, output_shape, parameters FROM hopper.describe_model('networks', :model_id);
SELECT (hopper.fit('classes', 'run_members', 'networks', :model_id, :'compile', :'fit', 15, validation_table => 'classes_validation', seed => 1)).best_value > 0.8 AS learnt;
SELECT hopper.predict('run_members', 'points', id_col => 'id', output_table => 'predicted', pred_type => 'response') AS rows;
SELECT avg((p.class = predicted.predicted_class)::int) > 0.8 AS right_mostly FROM predicted JOIN points AS p USING (id);
SELECT r.model_id, r.compile_params AS compile, r.fit_params AS fit FROM hopper.tabular('networks', 'numbers', 'tabm_mini',
    '{"hidden": [16, 16], "members": 4, "frequencies": 8, "batch_size": 32}', name => 'mini') AS r \gset
SELECT (hopper.fit('numbers', 'run_mini', 'networks', :model_id, :'compile', :'fit', 15, validation_table => 'numbers_validation', seed => 1)).best_value < 0.3 AS learnt;

-- Ranges are a search's
SELECT compile_params IS NULL AS not_fixed, space::json -> 'parameters' AS parameters FROM hopper.tabular('networks', 'classes', options =>
    '{"learning_rate": {"type": "float", "low": 0.01, "high": 0.1, "scale": "log"}, "dropout": [0.0, 0.2]}', name => 'ranges');

-- What is refused
SELECT hopper.tabular('networks', 'classes', 'real_mlp');
SELECT hopper.tabular('networks', 'classes', options => '{"itrations": 3}');
SELECT hopper.tabular('networks', 'classes', 'tabm', '{"hidden": []}');
SELECT hopper.tabular('networks', 'classes', 'tabm', '{"members": 0}');
SELECT hopper.tabular('networks', 'classes', 'tabm', '{"members": [4, 2.5]}');
SELECT hopper.tabular('networks', 'classes', 'tabm', '{"frequencies": -4}');
SELECT hopper.tabular('networks', 'classes', 'tabm', '{"frequency_units": -4}');
SELECT hopper.tabular('networks', 'classes', options => '{"dropout": 1}');
SELECT hopper.tabular('networks', 'classes', options => '{"learning_rate": "fast"}');
SELECT hopper.tabular('networks', 'classes', options => '{"categories": {"4": 3}}');
SELECT hopper.tabular('networks', 'classes', options => '[1]');
SELECT hopper.tabular('networks', 'points');
DROP SCHEMA hopper_tabular CASCADE;
