-- What searches say of what they are given: architectures with parameters, first configurations, those of earlier searches.
\set VERBOSITY default
CREATE TABLE told_points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y
FROM generate_series(1, 200) AS i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('told_points', 'told_packed', 'y', 'a, b', validation_fraction := 0.2);
SELECT hopper.load_model('told_networks', '{"class_name": "Sequential", "config": {"layers": [
    {"hopper": {"repeat": "depth", "layers": [{"class_name": "Dense", "config": {"units": {"hopper": "units#"}}}]}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}', name := 'tower');
RESET client_min_messages;
-- it is no model yet
SELECT * FROM hopper.describe_model('told_networks', 1);
SELECT hopper.fit('told_packed', 'told', 'told_networks', 1, 'loss=''categorical_crossentropy'', optimizer=''sgd''', 'batch_size=8', 1);
SELECT hopper.load_model_selection_table('told_networks', 'told_configs', 1, ARRAY['loss=''categorical_crossentropy'', optimizer=''sgd'''],
    ARRAY['batch_size=8']);
SELECT hopper.automl('told_packed', 'told', 'told_networks', 'told_best', 1,
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$, $$ {'batch_size': [16]} $$);
-- what does not fit into the space: all of it, with the tables and whose it is
\set space '{"parameters": {"depth": {"type": "int", "low": 1, "high": 2}, "units1": [4, 8], "units2": {"type": "int", "low": 4, "high": 16, "step": 4, "when": {"depth": 2}}, "lr": {"type": "float", "low": 0.001, "high": 0.1, "scale": "log"}}, "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}}, "fit_params": {"batch_size": 16}}'
SET client_min_messages = warning;
SELECT configurations FROM hopper.automl('told_packed', 'told', 'told_networks', 'told_best', 1, automl_method := 'random',
    automl_params := 'num_configs=5, num_iterations=1', validation_table := 'told_packed_validation', space := :'space');
RESET client_min_messages;
CREATE TABLE told_first (mst_key integer, parameters jsonb);
INSERT INTO told_first VALUES (7, '{"depth": 3, "units1": 1024, "lrr": 0.01}'), (2, '{"depth": 1, "units1": 4, "lr": 0.01}'),
    (4, '{"depth": 2, "units1": 1024, "lr": 0.01}'), (9, '[1]');
SELECT hopper.automl('told_packed', 'other', 'told_networks', 'other_best', 1, validation_table := 'told_packed_validation',
    space := replace(:'space', '0.001', '0.09'), first_table := 'told_first', from_run := 'told');
ALTER TABLE told_first DROP COLUMN mst_key;
SELECT hopper.automl('told_packed', 'other', 'told_networks', 'other_best', 1, validation_table := 'told_packed_validation',
    space := :'space', first_table := 'told_first');
-- the best iteration is kept unless the user says otherwise
CREATE TABLE told_noise AS
SELECT i AS id, sin(i * 1.7)::real AS a, cos(i * 0.3)::real AS b, CASE WHEN sin(i * 1.7) + cos(i * 0.3) + 0.8 * sin(i * i) > 0 THEN 1 ELSE 0 END AS y
FROM generate_series(1, 300) AS i;
CREATE FUNCTION told_search(restore text) RETURNS text LANGUAGE sql AS $$
    SELECT (hopper.automl('noise_packed', 'noisy', 'noise_networks', 'noisy_best', 1,
        '{''loss'': [''binary_crossentropy''], ''metrics'': [[''accuracy'']],'
        ' ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.3]}]}', format('{''batch_size'': [8]%s}', restore), 'grid', 'num_iterations=9',
        validation_table := 'noise_packed_validation', objective := 'accuracy', replace := true)).best_metric
$$;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('told_noise', 'noise_packed', 'y', 'a, b', validation_fraction := 0.3, partitions := 1);
SELECT hopper.mlp('noise_networks', 'noise_packed', '{32}');
SELECT told_search('');
SELECT fit_params FROM noisy_best;
SELECT b.value = e.metric AS as_told, b.value > i.validation_metrics[9] AS better_than_the_last FROM hopper.best_config('noisy') b, noisy_info i,
    hopper.evaluate('noisy', 'noise_packed_validation') e;
SELECT told_search(', ''restore_best'': [False]');
SELECT b.value = i.validation_metrics[9] AS the_last FROM hopper.best_config('noisy') b, noisy_info i;
DROP FUNCTION told_search;
