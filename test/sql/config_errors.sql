-- Wrong configurations: refused with what is wrong, where, and what to do.
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 4], "units": 3, "activation": "softmax"}}]}}'
\set good '{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.1]}]}'
CREATE SCHEMA hopper_config_errors;
SET search_path = hopper_config_errors;
SELECT hopper.load_model('models', :'mlp');

-- NULL, empty and wrong arguments
SELECT hopper.generate_model_configs(NULL, 'mst', ARRAY[1], :'good', NULL);
SELECT hopper.generate_model_configs('models', NULL, ARRAY[1], :'good', NULL);
SELECT hopper.generate_model_configs('models', 'mst', NULL, :'good', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[]::integer[], :'good', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1, NULL], :'good', NULL);
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[[1], [1]], :'good', NULL);
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], NULL, NULL);
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1, 5], :'good', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('modls', 'mst', ARRAY[1], :'good', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, 'bayes');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, '');
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, 'grid', 3);
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, 'grid', NULL, 3);
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, 'random');
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1], :'good', NULL, 'random', 0);
SELECT hopper.load_model_selection_table('models', 'mst', ARRAY[1], NULL, ARRAY['']);
SELECT hopper.load_model_selection_table('models', 'mst', ARRAY[1], ARRAY['loss=''mse''', NULL], ARRAY['']);
SELECT hopper.load_model_selection_table('models', 'mst', ARRAY[1], ARRAY['loss=''mse'''], NULL);

-- Wrong ranges, and too many combinations
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'learning_rate': [0.1, 0.001, 'log']}]} $$,
    NULL, 'random', 3);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'decay': [0, 0.001, 'log']}]} $$,
    NULL, 'random', 3);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    format($$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [%s]}]} $$,
        (SELECT string_agg((i / 1000.0)::text, ',') FROM generate_series(1, 108) AS i)),
    format($$ {'batch_size': [%1$s], 'epochs': [%1$s]} $$,
        (SELECT string_agg(i::text, ',') FROM generate_series(1, 108) AS i)));
\echo :LAST_ERROR_SQLSTATE
SET hopper.max_configs = 5;
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2, 0.3]}]} $$,
    $$ {'batch_size': [1, 2]} $$);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model_selection_table('models', 'mst', ARRAY[1],
    ARRAY[$$loss='mse',optimizer='SGD(lr=0.1)'$$, $$loss='mse',optimizer='SGD(lr=0.2)'$$],
    ARRAY['batch_size=1', 'batch_size=2', 'batch_size=3']);
RESET hopper.max_configs;
-- A problem that all configurations share is shown once
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr_rate': [0.1, 0.2]}]} $$, NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT to_regclass('mst'), to_regclass('mst_summary');

-- Tables written by hand
SELECT hopper.check_configs(NULL);
SELECT hopper.check_configs('mst');
CREATE TABLE mst (mst_key integer, model_id integer, compile_params text);
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
ALTER TABLE mst ADD fit_params text;
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE mst_summary (model_arch text);
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
ALTER TABLE mst_summary RENAME model_arch TO model_arch_table;
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO mst_summary VALUES ('models');
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO mst VALUES (1, 1, $$loss='categorical_crossentropy',optimizer='SGD()'$$, '');
INSERT INTO mst VALUES (1, 1, $$loss='categorical_crossentropy',optimizer='SGD()'$$, NULL);
SELECT hopper.check_configs('mst');
UPDATE mst SET mst_key = NULL;
SELECT hopper.check_configs('mst');
\echo :LAST_ERROR_SQLSTATE
DELETE FROM mst;
INSERT INTO mst VALUES (1, NULL, '', '');
SELECT hopper.check_configs('mst');
DELETE FROM mst;

-- Every problem of every configuration
INSERT INTO mst VALUES
    (1, 1, $$loss='categorical_crossentropy',optimizer='Adam(lr=0.1)',metrics=['accuracy']$$, 'batch_size=8'),
    (2, 1, $$loss='categorical_crossentropy',optimizer='Adam(lr_rate=0.1)'$$, 'batch_size=8'),
    (3, 1, $$loss='categorical_crossentropi',optimizer='Adagard()'$$, 'batchsize=8'),
    (4, 9, $$loss='mse',optimizer='SGD()'$$, NULL),
    (5, 1, NULL, 'batch_size=-1'),
    (6, 1, $$loss='mse',optimizer='SGD(lr=0.1'$$, 'batch_size=8,epochs=one'),
    (7, 1, $$loss='categorical_crossentropy',optimizer='SGD()'$$, 'batch_size=8,initial_epoch=1');
SELECT mst_key, severity, sqlstate, message, hint FROM hopper.check_configs('mst');
SELECT mst_key, detail FROM hopper.check_configs('mst') WHERE detail IS NOT NULL;
SELECT * FROM hopper.check_configs('mst', 'no_such_table');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hopper.check_configs('mst', 'models');
\echo :LAST_ERROR_SQLSTATE

-- Columns that the data does not have
CREATE TABLE train (id integer, image real[], label integer);
SELECT hopper.training_preprocessor('train', 'packed', 'labl', 'image');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.training_preprocessor('train', 'packed', 'label', 'images');
SELECT hopper.training_preprocessor('train', 'packed', 'nothing_like_it', 'image');
SELECT hopper.training_preprocessor('trian', 'packed', 'label', 'image');
DROP TABLE train;

-- With data: what does not fit it
CREATE TABLE train AS
SELECT i AS id, ARRAY[i % 7, i % 5, i % 3, 1, 0]::real[] AS x, i % 3 AS label, i % 5 AS five FROM generate_series(1, 30) AS i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('train', 'packed', 'label', 'x');
SELECT hopper.training_preprocessor('train', 'packed_five', 'five', 'x');
RESET client_min_messages;
SELECT mst_key, severity, sqlstate, message, detail, hint FROM hopper.check_configs('mst', 'packed') WHERE mst_key = 1;
SELECT mst_key, severity, sqlstate, message, detail, hint FROM hopper.check_configs('mst', 'packed_five') WHERE mst_key = 1;
-- Training refuses with the whole list
SELECT hopper.fit_multiple_model('packed', 'trained', 'mst', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT to_regclass('trained');
-- What all configurations have in common is the message itself
DELETE FROM mst WHERE mst_key NOT IN (1, 7);
SELECT hopper.fit_multiple_model('packed', 'trained', 'mst', 1);
DELETE FROM mst WHERE mst_key <> 1;
SELECT hopper.fit_multiple_model('packed', 'trained', 'mst', 1);
SELECT hopper.fit_multiple_model('packed_five', 'trained', 'mst', 1);
-- A model that is missing is on the list with the rest
INSERT INTO mst VALUES (2, 7, $$loss='mse',optimizer='SGD()'$$, ''),
    (3, 1, $$loss='mse'$$, ''), (4, 1, $$loss='mse'$$, 'batch_size=2');
SELECT hopper.fit_multiple_model('packed', 'trained', 'mst', 1);

-- Warnings do not stop anything; the same one comes once
SELECT hopper.load_model('models', '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "logits", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 5], "units": 3, "activation": "linear"}}]}}');
SELECT hopper.generate_model_configs('models', 'logits', ARRAY[2],
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]} $$, NULL);
SELECT mst_key, severity, sqlstate, message, detail, hint FROM hopper.check_configs('logits');

DROP SCHEMA hopper_config_errors CASCADE;
