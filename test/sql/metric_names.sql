-- A name that a metric is given is its name: in results, for what watches it, in objectives and rankings.
\set VERBOSITY default
CREATE TABLE named_points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) + cos(3 * i) > 0 THEN 1 ELSE 0 END AS y
FROM generate_series(1, 200) AS i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('named_points', 'named_packed', 'y', 'a, b', validation_fraction := 0.2);
SELECT hopper.mlp('named_networks', 'named_packed', '{8}');
SELECT models_failed FROM hopper.fit('named_packed', 'named', 'named_networks', 1,
    $$ loss='binary_crossentropy', optimizer='adam',
       metrics=[tf.keras.metrics.AUC(name='roc'), tf.keras.metrics.AUC(name='prc', curve='PR'), 'accuracy', 'accuracy'] $$,
    $$ batch_size=8, callbacks=[EarlyStopping(monitor='val_prc', mode='max', patience=2, restore_best_weights=True)] $$, 4,
    validation_table := 'named_packed_validation');
RESET client_min_messages;
SELECT metrics_type FROM named_info;
SELECT metric FROM hopper.leaderboard('named');
SELECT metric, validation_metric = v.validation_metrics_all[2][array_position(v.metrics_iters, v.best_iteration)] AS best
FROM hopper.leaderboard('named', rank_by := 'prc'), named_info v;
SELECT DISTINCT metric FROM hopper.learning_curves('named') ORDER BY 1;
-- what is there is told
SELECT hopper.fit('named_packed', 'renamed', 'named_networks', 1,
    $$ loss='binary_crossentropy', optimizer='adam', metrics=[AUC(name='roc'), AUC(), AUC()] $$,
    $$ batch_size=8, patience=1, monitor='val_prc' $$, 2, validation_table := 'named_packed_validation');
SELECT hopper.fit('named_packed', 'renamed', 'named_networks', 1,
    $$ loss='binary_crossentropy', optimizer='adam', metrics=[AUC(name='loss')] $$, 'batch_size=8', 2);
SELECT * FROM hopper.leaderboard('named', rank_by := 'pcr');
-- a search looks for it
CREATE FUNCTION named_search(objective text, constraints text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT (hopper.automl('named_packed', 'named_searched', 'named_networks', 'named_best', 1,
        '{''loss'': [''binary_crossentropy''], ''metrics'': [[''AUC(name="roc")'', ''AUC(name="prc",curve="PR")'']],'
        ' ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.1, 0.01]}]}', '{''batch_size'': [8]}', 'grid', 'num_iterations=2',
        validation_table := 'named_packed_validation', objective := objective, constraints := constraints, replace := true)).best_metric
$$;
SET client_min_messages = warning;
SELECT named_search('prc', 'roc >= 0.1');
RESET client_min_messages;
SELECT (SELECT metrics_type FROM named_searched_info LIMIT 1), best_metric FROM named_searched_summary;
SELECT fit_params FROM named_best;
SELECT named_search('auc');
SELECT named_search('pcr');
DROP FUNCTION named_search;
