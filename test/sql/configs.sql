-- Model selection tables: load_model_selection_table(), generate_model_configs(), check_configs().
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 4], "units": 10, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 3, "activation": "softmax"}}]}}'
CREATE SCHEMA hopper_configs;
SET search_path = hopper_configs;
SELECT hopper.load_model('models', :'mlp', NULL, 'one'), hopper.load_model('other_models', :'mlp');
SELECT hopper.load_model('models', :'mlp', NULL, 'two');

-- Every combination of three lists
SELECT hopper.load_model_selection_table('models', 'chosen', ARRAY[1, 2],
    ARRAY[$$loss='categorical_crossentropy',optimizer='Adam(lr=0.1)',metrics=['accuracy']$$,
          $$loss='categorical_crossentropy',optimizer='Adam(lr=0.001)',metrics=['accuracy']$$],
    ARRAY['batch_size=16,epochs=1', 'batch_size=32,epochs=1']);
\d chosen
\d chosen_summary
SELECT * FROM chosen ORDER BY mst_key;
SELECT * FROM chosen_summary;
SELECT * FROM hopper.check_configs('chosen');
-- Blanks and the order of keys make no other configuration
SELECT hopper.load_model_selection_table('models', 'same', ARRAY[1]::bigint[],
    ARRAY[$$loss='mse',optimizer='SGD()'$$, $$optimizer = 'SGD()', loss = 'mse'$$],
    ARRAY['batch_size=16,epochs=1', 'epochs=1, batch_size=16']);
SELECT hopper.load_model_selection_table('models', 'chosen', ARRAY[1], ARRAY[$$loss='mse',optimizer='SGD()'$$], ARRAY['']);
\echo :LAST_ERROR_SQLSTATE
-- Mistakes are refused, and nothing is left behind
SELECT hopper.load_model_selection_table('models', 'wrong', ARRAY[1],
    ARRAY[$$loss='mse',optimizer='Adam(lr_rate=0.1)'$$, $$loss='mse',optimizer='SGD()'$$], ARRAY['batch_size=16', 'batch_size=0']);
\echo :LAST_ERROR_SQLSTATE
SELECT to_regclass('wrong'), to_regclass('wrong_summary');

-- Grid
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1, 2], $$
    {'loss': ['categorical_crossentropy'],
     'optimizer_params_list': [ {'optimizer': ['Adam'], 'lr': [0.001, 0.01]},
                                {'optimizer': ['SGD'], 'lr': [0.1], 'nesterov': [True]} ],
     'metrics': ['accuracy']} $$,
    $$ {'batch_size': [16, 32], 'epochs': [2]} $$);
SELECT count(*), min(mst_key), max(mst_key), count(DISTINCT (model_id, compile_params, fit_params)) FROM grid;
SELECT compile_params, fit_params, array_agg(model_id ORDER BY model_id) FROM grid GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM grid_summary;
SELECT * FROM hopper.check_configs('grid');
-- Again: nothing new; with one more value: only what is new, keys go on
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1, 2],
    $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.01]}]} $$,
    $$ {'batch_size': [16, 32], 'epochs': [2]} $$);
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1],
    $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.5]}]} $$,
    $$ {'batch_size': [16, 32], 'epochs': [2]} $$, search_type => 'gri');
SELECT mst_key, model_id, fit_params FROM grid WHERE mst_key > 12 ORDER BY mst_key;
SELECT count(*) FROM grid_summary;
-- Rows of one's own come after them
INSERT INTO grid (model_id, compile_params, fit_params)
VALUES (2, $$loss='mse',optimizer='SGD(lr=0.5)'$$, 'batch_size=4') RETURNING mst_key;
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$, NULL);
SELECT max(mst_key) FROM grid;
SELECT hopper.generate_model_configs('other_models', 'grid', ARRAY[1],
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$, NULL);
\echo :LAST_ERROR_SQLSTATE
-- Several calls in one statement
SELECT sum(hopper.generate_model_configs('models', 'many', 1,
    format($f$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [%s]}]} $f$, rate), NULL))
FROM unnest(ARRAY[0.1, 0.2, 0.1]) AS rate;
SELECT mst_key, compile_params FROM many ORDER BY 1;

-- Random
SELECT hopper.generate_model_configs('models', 'random', ARRAY[1, 2], $$
    {'loss': ['categorical_crossentropy'],
     'optimizer_params_list': [ {'optimizer': ['Adam'], 'lr': [0.0001, 0.1, 'log'], 'beta_1': [0.9, 0.999, 'log_near_one']},
                                {'optimizer': ['SGD'], 'momentum': [0.5, 0.9, 'linear']} ],
     'metrics': ['accuracy']} $$,
    $$ {'batch_size': [16, 64, 'linear'], 'epochs': [1, 2]} $$, 'random', 8, 42);
SELECT count(*), count(DISTINCT (model_id, compile_params, fit_params)) FROM random;
SELECT bool_and(fit_params ~ 'batch_size=[0-9]+(,|$)') AS integers_stay_integers FROM random;
SELECT * FROM hopper.check_configs('random');
-- Equal configurations with the same seed, others with another
SELECT hopper.generate_model_configs('models', 'random_again', ARRAY[1, 2], $$
    {'loss': ['categorical_crossentropy'],
     'optimizer_params_list': [ {'optimizer': ['Adam'], 'lr': [0.0001, 0.1, 'log'], 'beta_1': [0.9, 0.999, 'log_near_one']},
                                {'optimizer': ['SGD'], 'momentum': [0.5, 0.9, 'linear']} ],
     'metrics': ['accuracy']} $$,
    $$ {'batch_size': [16, 64, 'linear'], 'epochs': [1, 2]} $$, 'rand', 8, 42);
SELECT hopper.generate_model_configs('models', 'random_other', ARRAY[1, 2], $$
    {'loss': ['categorical_crossentropy'],
     'optimizer_params_list': [ {'optimizer': ['Adam'], 'lr': [0.0001, 0.1, 'log'], 'beta_1': [0.9, 0.999, 'log_near_one']},
                                {'optimizer': ['SGD'], 'momentum': [0.5, 0.9, 'linear']} ],
     'metrics': ['accuracy']} $$,
    $$ {'batch_size': [16, 64, 'linear'], 'epochs': [1, 2]} $$, 'RANDOM', 8, 43);
SELECT count(*) AS equal FROM random JOIN random_again USING (mst_key, model_id, compile_params, fit_params);
SELECT count(*) < 8 AS different FROM random JOIN random_other USING (mst_key, model_id, compile_params, fit_params);

-- Keys after the last one
INSERT INTO grid VALUES (2147483646, 1, 'by hand', NULL);
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1],
    '{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.7, 0.8]}]}',
    '{''batch_size'': [3]}');
SELECT hopper.generate_model_configs('models', 'grid', ARRAY[1],
    '{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.7]}]}',
    '{''batch_size'': [3]}');
SELECT max(mst_key) FROM grid;

DROP SCHEMA hopper_configs CASCADE;
