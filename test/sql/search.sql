-- automl(), hyperband_schedule() and search_algorithms(): what is refused, and Hyperband's tables.
\set VERBOSITY default
CREATE TABLE search_points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y
FROM generate_series(1, 200) AS i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('search_points', 'search_packed', 'y', 'a, b', validation_fraction := 0.2);
SELECT hopper.load_model('search_networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
RESET client_min_messages;

-- R = 81, eta = 3 of the paper; powers that floating-point logarithms lose
SELECT hopper.hyperband_schedule('search_81', 81, 3);
SELECT * FROM search_81 ORDER BY s DESC, i;
SELECT hopper.hyperband_schedule('search_243', 243), hopper.hyperband_schedule('search_1000', 1000, 10);
SELECT max(s) FROM search_243;
SELECT max(s) FROM search_1000;
SELECT hopper.hyperband_schedule('search_skip', 9, 3, skip_last := 1);
SELECT * FROM search_skip ORDER BY s DESC, i;
-- the paper's number of configurations, which automl() has as variant=jmlr
SELECT hopper.hyperband_schedule('search_jmlr', 27, variant := 'JMLR');
SELECT s, n_i AS configurations FROM search_jmlr WHERE i = 0 ORDER BY s DESC;
SELECT hopper.hyperband_schedule('search_bad', 2, variant := 'jlmr');
SELECT hopper.hyperband_schedule('search_skip', 9);
SELECT hopper.hyperband_schedule('search_bad', 2, 3);
SELECT hopper.hyperband_schedule('search_bad', 9, 1, 7);
SELECT hopper.hyperband_schedule('search_bad', NULL);
SELECT algorithm, arguments FROM hopper.search_algorithms() WHERE algorithm IN ('hyperband', 'tpe');

CREATE FUNCTION search(method text, params text, lr text DEFAULT '[0.001, 0.1, ''log'']', objective text DEFAULT NULL,
    max_configs bigint DEFAULT NULL, max_iterations bigint DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT (hopper.automl(packed_table := 'search_packed', model_table := 'searched', model_arch_table := 'search_networks',
        model_selection_table := 'search_best', model_id_list := 1,
        compile_params_grid := format('{''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],'
            ' ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': %s}]}', lr),
        fit_params_grid := '{''batch_size'': [16]}', automl_method := method, automl_params := params,
        validation_table := 'search_packed_validation', objective := objective, max_configs := max_configs,
        max_iterations := max_iterations)).model_table
$$;
SELECT search('hyperbrand', NULL);
SELECT search('hyperband', 'R=2, eta=3');
SELECT search('hyperband', 'R=9, etta=3');
SELECT search('hyperband', 'R=9, eta=1, skip_last=9');
SELECT search('grid', NULL);
SELECT search('random', 'num_configs=0');
SELECT search('random', NULL, '[0, 0.1, ''log'']');
SELECT search('random', NULL, objective := 'acuracy');
SELECT search('random', NULL, objective := 'mae');
SELECT search('random', NULL, objective := 'acc');
SELECT search('random', NULL, objective := 'accuracy, 0.1 * true_positives');
SELECT search('random', NULL, objective := 'accuracy >= 0.9');
SELECT search('random', NULL, objective := 'accuracy; loss');
SELECT search('random', NULL, objective := '2 * accuracy, loss * 2');
SELECT search('random', NULL, max_configs := 0);
SELECT search('random', 'num_iterations=3', max_iterations := 2);
CREATE TABLE searched_trials (i integer);
SELECT search('random', NULL);
DROP TABLE searched_trials;
-- nothing is left of what failed
SELECT relname FROM pg_class WHERE relname LIKE 'searched%' OR relname LIKE 'search_best%';

-- a space that is smaller than the budget
SET client_min_messages = warning;
SELECT search('random', 'num_configs=20, num_iterations=1', '[0.1, 0.01]');
RESET client_min_messages;
SELECT mst_key, iterations, status FROM searched_trials ORDER BY mst_key;
SELECT decision, mst_key, reason FROM searched_decisions ORDER BY number;
SELECT count(*) FROM search_best;

-- values that stand twice make no other configurations
SELECT parameter, choices FROM hopper.describe_space(NULL, ARRAY[1, 1],
    $$ {'loss': ['mse', 'mse'], 'optimizer_params_list': [{'optimizer': ['SGD', 'sgd'], 'lr': [0.1, 0.1]}]} $$, $$ {'batch_size': [16, 16]} $$);

-- parameters inside an architecture: what may be chosen, and rows for what is tried
SET client_min_messages = warning;
SELECT hopper.load_model('search_networks', '{"class_name": "Sequential", "config": {"layers": [
    {"hopper": {"repeat": "depth", "layers": [{"class_name": "Dense", "config": {"units": {"hopper": "units#"}}}]}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}', name := 'tower');
RESET client_min_messages;
\set space '{"parameters": {"depth": {"type": "int", "low": 1, "high": 2}, "units1": [4, 8], "units2": {"type": "int", "low": 4, "high": 16, "step": 4, "when": {"depth": 2}}, "lr": {"type": "float", "low": 0.001, "high": 0.1, "scale": "log"}, "batch": [16]}, "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}}, "fit_params": {"batch_size": {"hopper": "batch"}}}'
SELECT * FROM hopper.describe_space('search_networks', ARRAY[1, 2], space := :'space');
SELECT parameter, type, scale, low, high, choices, condition FROM hopper.describe_space(NULL, 1,
    $$ {'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]},
        {'optimizer': ['Adam'], 'lr': [0.001, 0.1, 'log']}]} $$, $$ {'batch_size': [16, 32]} $$);
SELECT hopper.describe_space('search_networks', ARRAY[1, 2],
    space := replace(replace(:'space', '"low": 1,', '"low": 7, "stp": 1,'), '{"hopper": "batch"}', '{"hopper": "bach"}'));
SELECT hopper.load_model('search_networks', '{"layers": [{"units": {"hopper": 5}}]}');
SET client_min_messages = warning;
SELECT configurations, iterations FROM hopper.automl('search_packed', 'towers', 'search_networks', 'towers_best', '{1,2}', NULL, NULL,
    'random', 'num_configs=6, num_iterations=2', 3, validation_table := 'search_packed_validation', space := :'space',
    objective := 'accuracy, 0.1 * loss', constraints := 'overfit_gap <= 0.2, parameters < 1000', keep := 2);
SELECT configurations, iterations FROM hopper.automl('search_packed', 'towers', 'search_networks', 'towers_best', '{1,2}', NULL, NULL,
    'random', 'num_configs=6, num_iterations=2', 3, validation_table := 'search_packed_validation', space := :'space',
    objective := 'accuracy, 0.1 * loss', constraints := 'overfit_gap <= 0.2, parameters <= 1000', keep := 2);
RESET client_min_messages;
SELECT mst_key, parameters - 'lr' AS parameters, model_id, array_length(objectives, 1) AS objectives,
    constraints[2] AS weights FROM towers_trials ORDER BY mst_key;
SELECT model_id, name, description FROM search_networks ORDER BY model_id;
SELECT count(*) FROM towers;
-- which the next search takes again
SET client_min_messages = warning;
SELECT configurations FROM hopper.automl('search_packed', 'retowered', 'search_networks', 'retowered_best', '{1,2}', NULL, NULL,
    'random', 'num_configs=6, num_iterations=1', 3, validation_table := 'search_packed_validation', space := :'space');
RESET client_min_messages;
SELECT count(*) AS architectures, max(model_id) FROM search_networks;
SELECT bool_and(a.model_id = t.model_id) AS same FROM retowered_trials a JOIN towers_trials t USING (mst_key);
SELECT count(*), count(DISTINCT mst_key) FROM towers_rungs;
SELECT (b.mst_key, b.value) = (t.mst_key, t.value) AS best FROM hopper.best_config('towers') b, towers_trials t WHERE place = 1;
SELECT round(sum(importance)::numeric, 3) IN (0, 1) AS shares, count(*) FROM hopper.param_importance('towers');
SELECT * FROM hopper.best_config('search_networks');

-- what a search would take: Hyperband's configurations and iterations are known before
SELECT item, predicted, unit FROM hopper.explain_automl('search_packed', 'search_networks', '{1,2}', automl_params := 'R=81',
    space := :'space', validation_table := 'search_packed_validation') WHERE item IN ('configurations', 'iterations', 'longest configuration');
SELECT bool_and(predicted > 0) FROM hopper.explain_automl('search_packed', 'search_networks', '{1,2}', automl_method := 'asha',
    space := :'space', max_iterations := 100);
-- what would end before its first configuration; and where the server sets an end
SELECT hopper.explain_automl('search_packed', 'search_networks', '{1,2}', space := :'space', max_iterations := 1);
SET hopper.max_configs = 3;
SELECT predicted FROM hopper.explain_automl('search_packed', 'search_networks', '{1,2}', automl_method := 'random', space := :'space')
    WHERE item = 'configurations';
SELECT predicted FROM hopper.explain_automl('search_packed', 'search_networks', '{1,2}', automl_method := 'random', space := :'space',
    max_configs := 2) WHERE item = 'configurations';
RESET hopper.max_configs;
SELECT hopper.explain_automl('search_packed', 'search_networks', '{1,2}', automl_method := 'ash', space := :'space', max_iterations := 0);

-- known from another search, and tried first
CREATE TABLE search_first AS SELECT '{"model_id": 1, "lr": 0.05}'::json AS parameters;
SET client_min_messages = warning;
SELECT configurations FROM hopper.automl('search_packed', 'more_towers', 'search_networks', 'more_towers_best', '{1,2}', NULL, NULL,
    'random', 'num_configs=3, num_iterations=1', 3, validation_table := 'search_packed_validation', space := :'space',
    objective := 'accuracy, 0.1 * loss', constraints := 'overfit_gap <= 0.2, parameters <= 1000', from_run := 'towers',
    first_table := 'search_first');
RESET client_min_messages;
SELECT status, count(*), min(mst_key) FROM more_towers_trials GROUP BY status ORDER BY status;
SELECT parameters->>'lr' AS lr, reason FROM more_towers_trials JOIN more_towers_decisions USING (mst_key) WHERE mst_key = 7
    AND decision = 'proposed';
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space := :'space',
    from_run := 'towers', validation_table := 'search_packed_validation');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space := :'space',
    from_run := 'towers', objective := 'accuracy, 0.1 * loss', constraints := 'parameters <= 999');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space := :'space',
    from_run := 'search_networks');

-- what is known best would be gone
SELECT hopper.automl('search_packed', 'towers', 'search_networks', 'towers_best', '{1,2}', NULL, NULL, space := :'space',
    objective := 'accuracy, 0.1 * loss', constraints := 'overfit_gap <= 0.2, parameters <= 1000',
    validation_table := 'search_packed_validation', from_run := 'towers', replace := true);
-- the number of weights is of no data
SET client_min_messages = warning;
SELECT best_metric, best_value FROM hopper.automl('search_packed', 'lightest', 'search_networks', 'lightest_best', '{1,2}', NULL, NULL,
    'random', 'num_configs=3, num_iterations=1', 3, validation_table := 'search_packed_validation', space := :'space',
    objective := 'parameters, loss');
RESET client_min_messages;

-- everything that is wrong is said at once
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, 'hyperbund', space := :'space',
    objective := 'mae, 0 * loss', constraints := 'overfit <= 0.1, loss', parallel := 0, max_configs := 0, max_iterations := -1,
    max_seconds := 0, keep := 0, first_table := 'search_first');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space :=
    '{"parameters": {"a": {"type": "float", "low": 0, "high": 1, "scale": "log", "when": {"b": 1}}, "b": {"type": "int", "low": 3, "high": 1,
      "when": {"a": 1}}, "c": []}, "model_id": 7}', validation_table := 'search_packed_validation');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space := :'space',
    constraints := 'overfit_gap <= 0.1');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,9}', NULL, NULL, space := :'space');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, $$ {'batch_size': [16]} $$,
    space := :'space', constraints := 'overfit_gap <= 0.1, paramters <= 7, size <= 1e6');
-- also what tables, numbers and single entries of a grid have wrong with them
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,99}',
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [
        {'optimizer': ['SGD'], 'lr': [0, 0.1, 'log'], 'momentum': []}, {'optimizer': [3], 'lr': 0.1}]} $$,
    $$ {'batch_size': 16} $$, 'hyperband', 'R=9, eta=1, skip_last=9', objective := 'overfit_gap', max_seconds := 'NaN', target := 'NaN',
    first_table := 'search_nowhere', from_run := 'search_packed');
SELECT hopper.explain_automl('search_packed', 'search_networks', '{2,98}', NULL, NULL, 'asha', 'R=2, r=3',
    objective := 'mae', space := :'space', max_configs := 0);
SELECT hopper.describe_space('search_networks', '{1,98}');
SELECT hopper.describe_space('search_networks', '{2,98}', space := replace(:'space', '"low": 1,', '"low": 7,'));
-- one that an error told alone has its SQLSTATE still
\set VERBOSITY sqlstate
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,99}', NULL, NULL, space := :'space');
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space := :'space',
    first_table := 'search_nowhere');
\set VERBOSITY default
-- names that are spelt wrong among the choices, wherever they apply
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', '{1,2}', NULL, NULL, space :=
    '{"parameters": {"depth": [1, 2], "units1": [4, 8], "units2": {"type": "choice", "values": [4, 8], "when": {"depth": 2}},
      "optimizer": ["adm", "sgd"], "loss": ["categorical_crossentropy", "categorical_crosentropy"],
      "metrics": [["accuracy"], ["acuracy"]]},
     "compile_params": {"loss": {"hopper": "loss"}, "metrics": {"hopper": "metrics"}, "optimizer": {"hopper": "optimizer"}},
     "fit_params": {"batch_size": 16}}');
SELECT hopper.load_model('search_networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 4, "activation": {"hopper": "activation"}}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}') AS template \gset
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', ARRAY[1, :template], NULL, NULL, space :=
    '{"parameters": {"activation": ["relu", "rleu"]}, "compile_params": {"loss": "categorical_crossentropy", "optimizer": "sgd"},
      "fit_params": {"batch_size": 16}}');
SELECT hopper.explain_automl('search_packed', 'search_networks', 1,
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD']}, {'optimizer': ['Adm', 'Adam']}]} $$,
    $$ {'batch_size': [16]} $$);
-- one of several, which differ in their arguments alone
SELECT hopper.explain_automl('search_packed', 'search_networks', 1,
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1]},
        {'optimizer': ['SGD'], 'lr': [-1, 0.1]}, {'optimizer': ['SGD'], 'momentum': [0.9]}, {'optimizer': ['SGD'], 'rho': [0.9]}]} $$,
    $$ {'batch_size': [16]} $$);
SELECT hopper.generate_model_configs('search_networks', 'other', 1,
    $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1]},
        {'optimizer': ['SGD'], 'lr': 0.1}, {'optimizer': [1], 'lr': [0.1]}]} $$,
    $$ {'batch_size': [16]} $$);
-- a network that never fits the data
SELECT hopper.automl('search_packed', 'other', 'search_networks', 'other_best', 1,
    $$ {'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$,
    $$ {'batch_size': [0]} $$);
SELECT relname FROM pg_class WHERE relname LIKE 'other%';
DROP TABLE search_first;
SELECT hopper.drop_model('towers');
SELECT relname FROM pg_class WHERE relname LIKE 'towers%' ORDER BY 1;

-- refined: what the chosen of a run have, combined
SELECT hopper.generate_model_configs('search_networks', 'search_refined', from_run := 'more_towers',
    mst_keys := ARRAY(SELECT mst_key FROM more_towers_trials WHERE status = 'done' AND mst_key <= 8));
SELECT count(*), count(DISTINCT model_id) AS models, count(DISTINCT compile_params) AS compile FROM search_refined;
SELECT hopper.generate_model_configs('search_networks', 'search_refined2', from_run := 'more_towers', mst_keys := 99);
SELECT hopper.generate_model_configs('search_networks', 'search_refined2', 1, from_run := 'more_towers', mst_keys := 7);
SELECT hopper.generate_model_configs('search_networks', 'search_refined2', from_run := 'more_towers');
SELECT hopper.generate_model_configs('search_networks', 'search_refined2');
-- a configuration that cannot be built is told to the algorithm, and stands among the others
SELECT hopper.load_model('search_shapes', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Reshape", "config": {"target_shape": [{"hopper": "n"}]}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
SET client_min_messages = warning;
SELECT configurations, failed FROM hopper.automl('search_packed', 'shaped', 'search_shapes', 'shaped_best', 1, automl_method := 'grid',
    automl_params := 'num_iterations=2', validation_table := 'search_packed_validation', space :=
    '{"parameters": {"n": [2, 3]}, "compile_params": {"loss": "categorical_crossentropy", "optimizer": "SGD"}}');
RESET client_min_messages;
SELECT mst_key, model_id, status, iterations, search_place, error FROM shaped_info ORDER BY 1;
SELECT models_trained, models_failed FROM shaped_summary;
SELECT rank, mst_key, status, has_weights FROM hopper.leaderboard('shaped');
-- PBT with no more configurations than its population
SET client_min_messages = warning;
SELECT configurations, iterations FROM hopper.automl('search_packed', 'peopled', 'search_networks', 'peopled_best', '{1,2}', NULL, NULL,
    'pbt', 'population=4, generations=3', validation_table := 'search_packed_validation', space := :'space', max_configs := 5);
RESET client_min_messages;
SELECT count(*) FROM peopled_trials;
SELECT decision, count(*) FROM peopled_decisions GROUP BY 1 ORDER BY 1;
