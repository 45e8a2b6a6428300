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
SELECT hopper.hyperband_schedule('search_skip', 9);
SELECT hopper.hyperband_schedule('search_bad', 2, 3);
SELECT hopper.hyperband_schedule('search_bad', 9, 1, 7);
SELECT hopper.hyperband_schedule('search_bad', NULL);
SELECT algorithm, arguments FROM hopper.search_algorithms() WHERE algorithm IN ('hyperband', 'tpe');

CREATE FUNCTION search(method text, params text, lr text DEFAULT '[0.001, 0.1, ''log'']', objective text DEFAULT NULL,
    max_configs bigint DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT (hopper.automl(packed_table := 'search_packed', model_table := 'searched', model_arch_table := 'search_networks',
        model_selection_table := 'search_best', model_id_list := 1,
        compile_params_grid := format('{''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],'
            ' ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': %s}]}', lr),
        fit_params_grid := '{''batch_size'': [16]}', automl_method := method, automl_params := params,
        validation_table := 'search_packed_validation', objective := objective, max_configs := max_configs)).model_table
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
SELECT search('random', NULL, max_configs := 0);
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
