-- What training leaves behind: tables, columns, types; leaderboard and learning curves.
CREATE SCHEMA hopper_fit_outputs;
SET search_path = hopper_fit_outputs;
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 2, "activation": "softmax"}}]}}'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('models', :'mlp');
SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[1],
    ARRAY['loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.05)'', metrics=[''accuracy'', ''mse'']',
          'loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.0001)'', metrics=[''accuracy'', ''mse'']'],
    ARRAY['batch_size=16']);
SELECT model_table, best_mst_key, best_metric, models_trained, models_failed, seconds > 0 AS timed
FROM hopper.fit_multiple_model('packed', '"My Models"', 'configs', 5, false, 'packed_validation', 2,
    false, 'a name', 'a description', false, seed => 3, threads => 1);

-- Tables and columns
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attstorage AS storage
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relname LIKE 'My Models%' AND c.relkind = 'r' AND a.attnum > 0 ORDER BY c.relname, a.attnum;

-- A row a configuration, metrics at 2, 4 and the last iteration
SELECT mst_key, model_id, fit_params, model_type, model_size, metrics_type, loss_type, metrics_iters,
    cardinality(metrics_elapsed_time) AS times, cardinality(training_loss) AS losses,
    array_dims(validation_metrics_all) AS all_metrics, status, error, iterations, parameters
FROM "My Models_info" ORDER BY mst_key;
SELECT mst_key,
    training_loss_final = training_loss[3] AND training_metrics_final = training_metrics[3]
    AND validation_loss_final = validation_loss[3] AND validation_metrics_final = validation_metrics[3]
        AS finals,
    validation_metrics = ARRAY[validation_metrics_all[1][1], validation_metrics_all[1][2],
                               validation_metrics_all[1][3]] AS first_of_all,
    seconds_training > 0 AND seconds_evaluating > 0 AND seconds_waiting >= 0 AS seconds,
    examples_per_second > 0 AS speed, state_digest ~ '^[0-9a-f]{32}$' AS digest
FROM "My Models_info" ORDER BY mst_key;
SELECT m.mst_key, octet_length(model_weights) / 4 AS floats, model_arch -> 'config' ->> 'name' AS arch,
    count(s.part) AS parts
FROM "My Models" m JOIN "My Models_state" s USING (mst_key) GROUP BY 1, 2, 3 ORDER BY 1;
SELECT source_table, validation_table, model, model_info, dependent_varname, independent_varname,
    model_arch_table, model_selection_table, object_table, num_iterations, metrics_compute_frequency,
    warm_start, name, description, end_training_time >= start_training_time AS in_order,
    num_classes, y_class_values, dependent_vartype, normalizing_const, metrics_iters
FROM "My Models_summary" \gx
SELECT s.seed, threads, dtype, training_metrics_mode, validation_freq, numerics_class LIKE '%fp32%' AS numerics,
    seconds > 0 AS timed, models_trained, models_failed, best_mst_key, best_metric,
    s.source_checksum = p.checksum AS checksum, s.validation_checksum = v.checksum AS validation_checksum,
    training_rows, validation_rows, s.independent_vartype, s.independent_type, s.independent_shape,
    s.label_kind, position(version IN hopper.version()) > 0 AS version
FROM "My Models_summary" s, packed_summary p, packed_validation_summary v \gx

-- The first learns, the second hardly does
SELECT rank, mst_key, model_id, status, validation_metric > 0.9 AS good,
    round((overfit_gap - (training_metric - validation_metric))::numeric, 6) AS gap, iterations,
    seconds > 0 AS timed, parameters, length(curve) AS points
FROM hopper.leaderboard('"My Models"');
SELECT count(*) FROM hopper.leaderboard('"My Models"', 1);
SELECT hopper.leaderboard('"My Models"', 0);
SELECT mst_key, iteration, split, metric, value IS NOT NULL AS known, seconds > 0 AS timed
FROM hopper.learning_curves('"My Models"') WHERE mst_key = 1 ORDER BY 1, 2, 3, 4;
-- NaN is worse than any number, whichever direction is better; another column is no stand-in for it.
BEGIN;
UPDATE "My Models_info" SET validation_metrics_final = 'NaN', training_metrics_final = 'NaN',
    validation_loss_final = 100, training_loss_final = 100 WHERE mst_key = 1;
SELECT rank, mst_key, validation_metric = 'NaN' AS nan FROM hopper.leaderboard('"My Models"');
UPDATE "My Models_info" SET metrics_type = ARRAY['mse'], validation_loss_final = 0, training_loss_final = 0;
SELECT rank, mst_key, validation_metric = 'NaN' AS nan FROM hopper.leaderboard('"My Models"');
ROLLBACK;
SELECT hopper.leaderboard('points');
SELECT hopper.learning_curves('"No Models"');

-- Every iteration by default; training values only at the end, or at all of them
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'every', 'configs', 3);
SELECT metrics_iters, validation_loss, validation_metrics_final FROM every_info WHERE mst_key = 1;
SELECT hopper.learning_curves('every') IS NOT NULL AS curves LIMIT 1;
SELECT best_metric FROM every_summary;
-- Losses rank models without metrics
SELECT best_metric, best_mst_key FROM hopper.fit('packed', 'bare', 'models', 1,
    'loss=''categorical_crossentropy'', optimizer=''SGD()''', NULL, 2);
SELECT mst_key, metrics_type, training_metrics, training_loss IS NOT NULL AS loss FROM bare_info;
SELECT rank, metric, validation_metric, training_metric = training_loss AS loss, overfit_gap
FROM hopper.leaderboard('bare');

-- Directions
SELECT m, hopper.metric_ascends(m) FROM unnest(ARRAY['accuracy', 'top_k(3)', 'mse', 'mean_absolute_error',
    'categorical_crossentropy', 'loss', 'sparse_categorical_accuracy']) m;

-- Parameters as JSON
SELECT hopper.params_json($$loss='mse', optimizer='Adam(lr=0.1, beta_1=0.8)', metrics=['mae', AUC(num_thresholds=50)]$$);
SELECT hopper.params_json('{"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.25, "nesterov": true}}, "class_weight": {"0": 1}}');
SELECT hopper.params_json('batch_size=16, callbacks=None, shuffle=False'), hopper.params_json('optimizer=SGD(0.5)'), hopper.params_json(NULL);
SELECT hopper.params_json('batch_size=');
\echo :LAST_ERROR_SQLSTATE
SELECT mst_key, hopper.params_json(compile_params)->>'optimizer' AS optimizer FROM hopper.leaderboard('bare') ORDER BY 1;

-- Sparklines
SELECT hopper.sparkline('{0,1,2,3,4,5,6,7}'), hopper.sparkline('{5,5,5}'), hopper.sparkline('{1,NULL,2,NaN}'),
    hopper.sparkline('{}'), hopper.sparkline(NULL), hopper.sparkline('{0,1,2,3,4,5,6,7,8,9}', 3),
    hopper.sparkline('{1,2}', 1);
-- Differences that are infinite or vanish
SELECT hopper.sparkline('{-1e308,0,1e308}'), hopper.sparkline('{1e308,-1.7e308}'),
    hopper.sparkline('{-Infinity,0,1e308,Infinity}'), hopper.sparkline('{0,5e-324}');
SET client_encoding = 'LATIN1';
SELECT hopper.sparkline('{0,1,2,3,4,5,6,7}');
RESET client_encoding;
SELECT hopper.sparkline('{1}', 0);

-- NULL for an optional argument is its default
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'given', 'configs', 2, threads => 1);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'nulls', 'configs', 2, use_gpus => NULL,
    validation_table => NULL, metrics_compute_frequency => NULL, warm_start => NULL, name => NULL, description => NULL,
    use_caching => NULL, seed => NULL, threads => 1, dtype => NULL, training_metrics => NULL, threads_per_model => NULL,
    fuse => NULL, gpus => NULL, validation_freq => NULL);
SELECT count(*) AS same FROM given_info JOIN nulls_info USING (mst_key, state_digest, training_loss_final);
SELECT count(*) > 9 AS explained FROM hopper.explain_fit('packed', 'nulls', 'configs', 2, use_gpus => NULL,
    validation_table => NULL, metrics_compute_frequency => NULL, threads => NULL, training_metrics => NULL,
    threads_per_model => NULL, measure => NULL, dtype => NULL, validation_freq => NULL);

-- validation has a frequency of its own: the same weights, fewer passes
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'validated', 'configs', 5, threads => 1,
    validation_table => 'packed_validation', validation_freq => 2);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'validated_always', 'configs', 5, threads => 1,
    validation_table => 'packed_validation');
SELECT mst_key, metrics_iters, array_length(training_loss, 1) AS training,
    ARRAY(SELECT i FROM generate_series(1, 5) i WHERE v.validation_loss[i] IS NOT NULL) AS validated,
    ARRAY(SELECT i FROM generate_series(1, 5) i WHERE v.validation_loss[i] IS DISTINCT FROM a.validation_loss[i])
        AS not_validated, v.state_digest = a.state_digest AS same
FROM validated_info v JOIN validated_always_info a USING (mst_key, metrics_iters, training_loss) ORDER BY mst_key;

SELECT v.validation_freq, a.validation_freq AS always, g.validation_freq AS without
FROM validated_summary v, validated_always_summary a, given_summary g;
SELECT v.predicted < a.predicted AS fewer FROM hopper.explain_fit(model_table => 'validated', measure => true) v
JOIN hopper.explain_fit(model_table => 'validated_always', measure => true) a USING (item) WHERE item = 'hop';

DROP SCHEMA hopper_fit_outputs CASCADE;
