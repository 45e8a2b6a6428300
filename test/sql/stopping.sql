-- Early stopping, best weights, falling rates; expressions; confusion matrices.
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_stopping;
SET search_path = hopper_stopping;
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 3, "activation": "softmax"}}]}}'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0.4 THEN 'up' WHEN sin(i) < -0.4 THEN 'down' ELSE 'level' END AS y
    FROM generate_series(1, 300) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('models', :'mlp');

-- A grid over patience; the loss falls, so that "max" finds no improvement.
SELECT hopper.generate_model_configs('models', 'mst', ARRAY[1],
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01]}],
        'metrics': [['accuracy', 'expr max hits: mean(round(p) == y)']]} $$,
    $$ {'batch_size': [16], 'monitor': ['loss'], 'mode': ['max'], 'patience': [1, 3], 'restore_best': [False, True],
        'reduce_lr_on_plateau': [None, {'factor': 0.5, 'patience': 0}]} $$);
SELECT mst_key, fit_params FROM mst ORDER BY mst_key;
INSERT INTO mst SELECT 9, 1, compile_params, 'batch_size=16' FROM mst WHERE mst_key = 1;
SELECT models_trained, models_failed FROM hopper.fit_multiple_model('packed', 'm', 'mst', 5,
    validation_table => 'packed_validation', threads => 1, seed => 1);
SELECT mst_key, status, iterations, best_iteration, learning_rate::numeric(10, 5) AS rate, metrics_iters, loss_type,
    metrics_type, training_loss_final = training_loss[CASE WHEN mst_key IN (3, 4, 7, 8) THEN 1 ELSE iterations END] AS train_of_best,
    validation_loss_final = validation_loss[CASE WHEN mst_key IN (3, 4, 7, 8) THEN 1 ELSE iterations END] AS valid_of_kept
FROM m_info ORDER BY mst_key;
SELECT rank IS NOT NULL AS ranked, mst_key, status, iterations FROM hopper.leaderboard('m') ORDER BY mst_key;
SELECT mst_key, count(*) AS points, max(iteration) AS last FROM hopper.learning_curves('m')
WHERE split = 'validation' AND metric = 'loss' GROUP BY 1 ORDER BY 1;
-- Evaluation is that of the weights that were kept
SELECT i.mst_key, (hopper.evaluate('m', 'packed_validation', mst_key => i.mst_key)).loss = validation_loss_final AS same
FROM m_info i WHERE mst_key IN (1, 3) ORDER BY 1;
-- A model that has stopped stays so; others go on, with their counters.
SELECT hopper.fit_multiple_model('packed', 'm', 'mst', 2, validation_table => 'packed_validation', warm_start => true,
    threads => 1, seed => 1) IS NOT NULL AS went_on;
SELECT mst_key, status, iterations, metrics_iters, training_loss_final IS NOT NULL AS train,
    validation_loss_final IS NOT NULL AS valid FROM m_info ORDER BY mst_key;

-- Watching what is not there is refused before training, with everything else that is wrong
CREATE TABLE bad (mst_key integer, model_id integer, compile_params text, fit_params text);
CREATE TABLE bad_summary AS SELECT 'models'::text AS model_arch_table, NULL::text AS object_table;
\set compile 'loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.1)'', metrics=[''accuracy'']'
INSERT INTO bad VALUES (1, 1, :'compile', 'patience=3');
SELECT hopper.fit_multiple_model('packed', 'n', 'bad', 1);
\echo :LAST_ERROR_SQLSTATE
INSERT INTO bad VALUES (2, 1, :'compile', 'restore_best=True, monitor=''val_acuracy'''),
    (3, 1, :'compile', 'reduce_lr_on_plateau={}'),
    (4, 1, $$loss='categorical_crossentropy', optimizer='SGD(lr=CosineDecay(0.1, 10))', metrics=['true_positives']$$,
     'patience=1, monitor=''true_positives'', reduce_lr_on_plateau={''monitor'': ''loss''}'),
    (5, 1, $$loss='expr: mean(sqare(y - p))', optimizer='SGD()', metrics=['expr: y - q']$$, 'patience=-1');
SELECT hopper.fit_multiple_model('packed', 'n', 'bad', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT mst_key, severity, sqlstate, message FROM hopper.check_configs('bad', 'packed') ORDER BY 1, 4;
SELECT mst_key, detail, hint FROM hopper.check_configs('bad', 'packed') WHERE mst_key IN (2, 4, 5) ORDER BY 1, message;
-- Rates
SELECT hopper.fit('packed', 'n', 'models', 1, $$loss='mse', optimizer='SGD(lr=-0.1)'$$, NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit('packed', 'n', 'models', 1, $$loss='mse', optimizer='SGD(lr=nan)'$$, NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit('packed', 'n', 'models', 1, $${"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": NaN}}}$$, NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit('packed', 'n', 'models', 1, $$loss='mse', optimizer='SGD(lr=1e999)'$$, NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit('packed', 'n', 'models', 1, $$loss='mse', optimizer='Adam(beta_1=1.5)'$$, NULL, 1);

-- A loss of one's own is the same as the one that it copies, up to rounding
SELECT hopper.fit('packed', 'own', 'models', 1, $$loss='expr: mean(square(y - p))', optimizer='SGD(lr=0.1)', metrics=['mse']$$,
    'batch_size=16', 3, training_metrics => 'every') IS NOT NULL AS trained;
SELECT hopper.fit('packed', 'builtin', 'models', 1, $$loss='mse', optimizer='SGD(lr=0.1)', metrics=['mse']$$,
    'batch_size=16', 3, training_metrics => 'every') IS NOT NULL AS trained;
SELECT a.loss_type, abs(a.training_loss_final - b.training_loss_final) < 1e-6 AS same_loss,
    abs(a.training_loss_final - a.training_metrics_final) < 1e-6 AS same_metric
FROM own_info a, builtin_info b;

-- Confusion matrix
SELECT hopper.evaluate('m', 'packed_validation', mst_key => 1, confusion_table => 'confusion') IS NOT NULL AS evaluated;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'confusion'::regclass AND attnum > 0
ORDER BY attnum;
SELECT row_id, class, array_length(confusion_arr, 1) AS n, examples = (SELECT sum(u) FROM unnest(confusion_arr) u) AS row_sum
FROM confusion ORDER BY row_id;
SELECT sum(examples) = 76 AS every_example, sum(examples) = sum(predicted) AS both_ways,
    abs(sum(confusion_arr[row_id]) / 76.0 - (SELECT validation_metrics_final FROM m_info WHERE mst_key = 1)) < 1e-9 AS accuracy
FROM confusion;
SELECT hopper.evaluate('m', 'packed_validation', mst_key => 1, confusion_table => 'confusion');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE numbers AS SELECT id, x, x[1]::real AS y FROM points;
SELECT hopper.training_preprocessor('numbers', 'packed_numbers', 'y', 'x');
SELECT hopper.load_model('models', replace(replace(:'mlp', '"units": 3', '"units": 1'), 'softmax', 'linear'));
SELECT hopper.fit('packed_numbers', 'regression', 'models', 2, $$loss='mse', optimizer='SGD(lr=0.1)'$$, NULL, 1) IS NOT NULL AS trained;
SELECT hopper.evaluate('regression', 'packed_numbers', confusion_table => 'c');
\echo :LAST_ERROR_SQLSTATE
DROP SCHEMA hopper_stopping CASCADE;
