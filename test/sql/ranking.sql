-- Models are compared by one thing that all of them have, and never one metric against another.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_ranking;
SET search_path = hopper_ranking;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b', validation_fraction => 0.25);
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 8, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
-- 1 learns, 2 does not
CREATE FUNCTION train(n integer, learns text, idles text, rank_by text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    PERFORM hopper.load_model_selection_table('models', 'configs' || n, ARRAY[1],
        ARRAY[learns || ', optimizer=''Adam(lr=0.05)''', idles || ', optimizer=''SGD(lr=0.000001)'''], ARRAY['batch_size=16']);
    SELECT * INTO found FROM hopper.fit_multiple_model('packed', 'm' || n, 'configs' || n, 5,
        validation_table => 'packed_validation', seed => 3, threads => 1, rank_by => rank_by);
    RETURN format('%s %s', found.best_mst_key, found.best_metric);
END
$$;
-- Different metrics, one loss; a metric in common; a metric that is asked for
SELECT train(1, 'loss=mse, metrics=[mae]', 'loss=mse, metrics=[accuracy]');
SELECT train(2, 'loss=mse, metrics=[mae, auc]', 'loss=categorical_crossentropy, metrics=[accuracy, auc]');
SELECT train(3, 'loss=mse, metrics=[accuracy, huber]', 'loss=mse, metrics=[accuracy, huber]', 'huber');
-- Nothing in common
SELECT train(4, 'loss=categorical_crossentropy', 'loss=mse');
SELECT best_mst_key, best_metric, best_value FROM m4_summary;
SELECT n, rank, mst_key, metric, validation_metric IS NOT NULL AS valued FROM (
    SELECT 1 AS n, * FROM hopper.leaderboard('m1') UNION ALL SELECT 2, * FROM hopper.leaderboard('m2')
    UNION ALL SELECT 3, * FROM hopper.leaderboard('m3') UNION ALL SELECT 4, * FROM hopper.leaderboard('m4')) l
ORDER BY n, rank, mst_key;
SELECT count(*) FROM hopper.leaderboard('m4', 1);
SELECT hopper.predict('m4', 'points', 'id', output_table => 'p');
-- Another metric later on
SELECT rank, mst_key, metric, validation_metric = validation_loss AS loss, overfit_gap = validation_loss - training_loss AS gap
FROM hopper.leaderboard('m1', rank_by => 'loss');
SELECT l.metric, l.rank, l.mst_key, l.validation_metric = v.value AS last, l.overfit_gap = t.value - v.value AS gap
FROM hopper.leaderboard('m2', rank_by => 'AUC') l
JOIN hopper.learning_curves('m2') v ON (v.mst_key, v.iteration, v.split, v.metric) = (l.mst_key, 5, 'validation', 'auc')
JOIN hopper.learning_curves('m2') t ON (t.mst_key, t.iteration, t.split, t.metric) = (l.mst_key, 5, 'training', 'auc');
-- The best that the metric was at any iteration
SELECT l.run, l.mst_key, l.metric, l.best_value = CASE WHEN l.metric = 'auc' THEN max(c.value) ELSE min(c.value) END AS best,
    l.best_iteration = min(c.iteration) FILTER (WHERE c.value = l.best_value) AS first
FROM (SELECT 1 AS run, * FROM hopper.leaderboard('m1') UNION ALL SELECT 2, * FROM hopper.leaderboard('m2')
    UNION ALL SELECT 3, * FROM hopper.leaderboard('m3')) l
JOIN (SELECT 1 AS run, * FROM hopper.learning_curves('m1') UNION ALL SELECT 2, * FROM hopper.learning_curves('m2')
    UNION ALL SELECT 3, * FROM hopper.learning_curves('m3')) c USING (run, mst_key, metric)
WHERE c.split = 'validation' GROUP BY 1, 2, 3, l.best_value, l.best_iteration ORDER BY 1, 2;
SELECT * FROM hopper.leaderboard('m1', rank_by => 'accuracy');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM hopper.leaderboard('m2', rank_by => 'loss');
SELECT * FROM hopper.leaderboard('m2', rank_by => 'acuracy');
-- Before training
SELECT hopper.fit_multiple_model('packed', 'q', 'configs2', 1, rank_by => 'mae');
SELECT hopper.fit_multiple_model('packed', 'q', 'configs4', 1, rank_by => 'loss');

-- The weights of the best iteration, with all that they reached
SELECT hopper.load_model_selection_table('models', 'best_of', ARRAY[1],
    ARRAY['loss=mse, optimizer=''Adam(lr=0.5)'', metrics=[accuracy, mae]'], ARRAY['batch_size=4, restore_best=True', 'batch_size=4']);
SELECT best_mst_key IS NOT NULL AS found FROM hopper.fit_multiple_model('packed', 'best', 'best_of', 12,
    validation_table => 'packed_validation', seed => 3, rank_by => 'mae');
SELECT l.mst_key, l.validation_metric = (hopper.evaluate('best', 'packed_validation', mst_key => l.mst_key)).metrics[2] AS equal
FROM hopper.leaderboard('best') l ORDER BY 1;
-- Of iterations with the same loss and the same first metric, that whose weights are kept: the last one, or the best one
SELECT hopper.load_model_selection_table('models', 'tied', ARRAY[1], ARRAY['loss=mse, optimizer=''Adam(lr=0.05)'', metrics=[accuracy, mae]'],
    ARRAY['batch_size=16, patience=9, monitor=loss, restore_best=False', 'batch_size=16, restore_best=True, monitor=loss',
        'batch_size=16, callbacks=[EarlyStopping(monitor=''loss'', patience=9, restore_best_weights=False)]',
        'batch_size=16, callbacks=[EarlyStopping(monitor=''loss'', patience=9, restore_best_weights=True)]', 'batch_size=16']);
SELECT count(*) FROM hopper.fit_multiple_model('packed', 'ties', 'tied', 3, validation_table => 'packed_validation', seed => 3);
UPDATE ties_info SET best_iteration = 1, training_loss = array_fill(training_loss_final, ARRAY[3]),
    validation_loss = array_fill(validation_loss_final, ARRAY[3]), validation_metrics = array_fill(validation_metrics_final, ARRAY[3]);
SELECT l.mst_key, c.iteration FROM hopper.leaderboard('ties', rank_by => 'mae') l
JOIN hopper.learning_curves('ties') c ON (c.mst_key, c.split, c.metric, c.value) = (l.mst_key, 'validation', 'mae', l.validation_metric)
ORDER BY 1;

-- Several outputs: the loss is the sum that is trained, and an output's loss is compared with the same only
CREATE TABLE pairs AS SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, (100 * sin(i))::real AS size,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('pairs', 'pairs_packed', '{"size": "size", "y": "y"}', 'a, b', validation_fraction => 0.25);
SELECT hopper.load_model('pair_models', $${"class_name": "Functional", "config": {"name": "two", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"name": "x", "batch_input_shape": [null, 2]}, "inbound_nodes": []},
    {"class_name": "Dense", "name": "size", "config": {"name": "size", "units": 1}, "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "Dense", "name": "y", "config": {"name": "y", "units": 1, "activation": "sigmoid"},
     "inbound_nodes": [[["x", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["size", 0, 0], ["y", 0, 0]]}}$$);
CREATE FUNCTION pair(n integer, learns text, idles text, rank_by text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    PERFORM hopper.load_model_selection_table('pair_models', 'pair_configs' || n, ARRAY[1],
        ARRAY[learns || ', optimizer=''Adam(lr=0.05)''', idles || ', optimizer=''SGD(lr=0.000001)'''], ARRAY['batch_size=16']);
    SELECT * INTO found FROM hopper.fit_multiple_model('pairs_packed', 'pm' || n, 'pair_configs' || n, 3,
        validation_table => 'pairs_packed_validation', seed => 3, threads => 1, rank_by => rank_by);
    RETURN format('%s %s', found.best_mst_key, found.best_metric);
END
$$;
SELECT pair(1, $$loss={'size':'mse','y':'bce'}, loss_weights={'size':0}$$, $$loss={'size':'mse','y':'bce'}, loss_weights={'size':0.0}$$);
SELECT rank, mst_key, metric FROM hopper.leaderboard('pm1');
SELECT pair(2, $$loss={'size':'mse','y':'bce'}, loss_weights={'size':0.01}$$,
    $$loss={'size':'mse','y':'bce'}, loss_weights={'size':0.0001,'y':0.01}$$, 'loss');
SELECT pair(3, $$loss={'size':'mse','y':'bce'}, metrics={'y':'accuracy'}$$,
    $$loss={'size':'mse','y':'binary_focal_crossentropy'}, metrics={'y':'accuracy'}$$, 'y_loss');
SELECT hopper.automl('pairs_packed', 'pair_search', 'pair_models', 'pair_searched', ARRAY[1],
    $$ {'loss': [{'size':'mse','y':'bce'}], 'loss_weights': [{'size':0.001,'y':0.001}, {'size':1,'y':1}],
        'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.000001]}]} $$, $$ {'batch_size': [16]} $$, 'grid',
    validation_table => 'pairs_packed_validation');

-- A model that stops early is validated where it stops, and what it keeps is validated as well
SELECT hopper.load_model_selection_table('models', 'stopping', ARRAY[1], ARRAY['loss=mse, optimizer=''SGD(lr=0.000001)'', metrics=[accuracy]'],
    ARRAY['batch_size=16, patience=1, monitor=loss, min_delta=1', 'batch_size=16, restore_best=True, monitor=loss, min_delta=1', 'batch_size=16']);
SELECT best_metric FROM hopper.fit_multiple_model('packed', 'stopped', 'stopping', 7,
    validation_table => 'packed_validation', validation_freq => 5, seed => 2);
SELECT i.mst_key, status, metrics_iters, best_iteration, validation_metrics_final = (e).metrics[1] AS metric, validation_loss_final = (e).loss AS loss
FROM stopped_info i, LATERAL hopper.evaluate('stopped', 'packed_validation', mst_key => i.mst_key) e ORDER BY 1;
-- Without its training values, a best iteration gets them at the end
SELECT hopper.load_model_selection_table('models', 'best_without', ARRAY[1], ARRAY['loss=mse, optimizer=''SGD(lr=0.000001)'''],
    ARRAY['batch_size=16, restore_best=True, monitor=val_loss, min_delta=1']);
SELECT best_metric FROM hopper.fit_multiple_model('packed', 'without', 'best_without', 8, validation_table => 'packed_validation',
    validation_freq => 3, metrics_compute_frequency => 2, training_metrics => 'every', seed => 2);
SELECT best_iteration, training_loss_final = (hopper.evaluate('without', 'packed', mst_key => 1)).loss AS training,
    validation_loss_final = (hopper.evaluate('without', 'packed_validation', mst_key => 1)).loss AS validation FROM without_info;
-- No training value is compared with validation values, where these are missing all the same
UPDATE stopped_info SET validation_loss_final = NULL, validation_metrics_final = NULL, training_metrics_final = 1 WHERE mst_key = 1;
SELECT mst_key = 1 AS lacks, rank = 3 AS last FROM hopper.leaderboard('stopped') ORDER BY 1 DESC;

-- The curve is of the split that is ranked: after a warm start without validation data that of training.
DELETE FROM stopping WHERE mst_key < 3;
SELECT best_metric FROM hopper.fit_multiple_model('packed', 'curves', 'stopping', 5, validation_table => 'packed_validation', seed => 2);
SELECT curve = hopper.sparkline(validation_metrics_all[1:1]) AS validation FROM hopper.leaderboard('curves') JOIN curves_info USING (mst_key);
SELECT best_metric FROM hopper.fit_multiple_model('packed', 'curves', 'stopping', 2, warm_start => true, seed => 2);
SELECT curve = hopper.sparkline(training_metrics_all[1:1]) AS training, curve = hopper.sparkline(validation_metrics_all[1:1]) AS validation
FROM hopper.leaderboard('curves') JOIN curves_info USING (mst_key);

-- Grids: a list of names is one list, as in Keras; lists of it are alternatives
SET client_min_messages = notice;
SELECT hopper.generate_model_configs('models', 'one_list', ARRAY[1],
    $$ {'loss': ['mse'], 'metrics': ['accuracy', 'auc'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.1, 0.01]}]} $$, NULL);
SELECT compile_params FROM one_list ORDER BY mst_key;
SELECT hopper.generate_model_configs('models', 'alternatives', ARRAY[1],
    $$ {'loss': ['mse'], 'metrics': [['accuracy'], ['auc']], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.1]}]} $$, NULL);
SELECT compile_params FROM alternatives ORDER BY mst_key;

SET client_min_messages = warning;
DROP SCHEMA hopper_ranking CASCADE;
