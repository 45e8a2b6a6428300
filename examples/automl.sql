-- A search beside the full grid: 48 networks for handwritten digits, trained all to the end, and by
-- Hyperband and ASHA, which stop what shows early that it is not good. About a minute on two
-- processors.
--
--   psql < examples/automl.sql           27 iterations
--   psql -v r=9 < examples/automl.sql
--
-- From the top of the repository, in a database without these tables.
\set ON_ERROR_STOP on
\pset footer off
\if :{?r} \else \set r 27 \endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;

\echo
\echo '-- 1. Digits: packed, a fifth of them for validation.'
CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\copy digits FROM 'examples/digits.csv' CSV HEADER
SELECT hopper.training_preprocessor(source_table := 'digits', output_table := 'digits_packed',
    dependent_varname := 'label', independent_varname := 'pixels', normalizing_const := 16,
    validation_fraction := 0.2) AS rows_packed;

\echo
\echo '-- 2. One network with parameters in it, {"hopper": "filters"}, and what they may be.'
SELECT hopper.load_model(model_arch_table := 'networks', name := 'convolutions', model_arch := $$
    {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Reshape", "config": {"target_shape": [8, 8, 1]}},
        {"class_name": "Conv2D", "config": {"filters": {"hopper": "filters"}, "kernel_size": 3, "activation": "relu"}},
        {"class_name": "MaxPooling2D", "config": {}},
        {"class_name": "Flatten", "config": {}},
        {"hopper": {"repeat": "depth", "layers": [
            {"class_name": "Dense", "config": {"units": 32, "activation": "relu"}}]}},
        {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}} $$) AS network \gset
\set space '{"parameters": {"filters": [4, 8, 16], "depth": {"type": "int", "low": 0, "high": 1}, "lr": [0.0003, 0.001, 0.003, 0.01], "batch": [16, 64]}, "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"], "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}}, "fit_params": {"batch_size": {"hopper": "batch"}}}'
SELECT parameter, type, low, high, choices, number_of_values AS n, used_in
FROM hopper.describe_space(model_arch_table := 'networks', model_id_list := :network, space := :'space');

\echo
\echo '-- 3. What each would take: configurations, iterations in all, seconds.'
\set search 'packed_table := ''digits_packed'', model_arch_table := ''networks'', model_id_list := :network, compile_params_grid := NULL, fit_params_grid := NULL, space := :''space'', objective := ''accuracy'', validation_table := ''digits_packed_validation'', seed := 1'
SELECT method, configurations, iterations, round(seconds::numeric, 1) AS seconds FROM (
    SELECT 1 AS i, 'the whole grid' AS method, max(CASE item WHEN 'configurations' THEN predicted END) AS configurations,
        max(CASE item WHEN 'iterations' THEN predicted END) AS iterations,
        max(CASE item WHEN 'seconds' THEN predicted END) AS seconds
    FROM hopper.explain_automl(:search, automl_method := 'grid', automl_params := format('num_iterations=%s', :r))
    UNION ALL
    SELECT 2, 'hyperband', max(CASE item WHEN 'configurations' THEN predicted END),
        max(CASE item WHEN 'iterations' THEN predicted END), max(CASE item WHEN 'seconds' THEN predicted END)
    FROM hopper.explain_automl(:search, automl_method := 'hyperband', automl_params := format('R=%s', :r))
    UNION ALL
    SELECT 3, 'asha', max(CASE item WHEN 'configurations' THEN predicted END),
        max(CASE item WHEN 'iterations' THEN predicted END), max(CASE item WHEN 'seconds' THEN predicted END)
    FROM hopper.explain_automl(:search, automl_method := 'asha', automl_params := format('num_configs=48, R=%s', :r))) AS planned
ORDER BY i;

\echo
\echo '-- 4. The grid to its end, Hyperband, ASHA.'
CREATE TABLE searches AS
SELECT 'the whole grid'::text AS method, * FROM hopper.automl(:search, model_table := 'by_grid',
    model_selection_table := 'grid_best', automl_method := 'grid', automl_params := format('num_iterations=%s', :r));
INSERT INTO searches SELECT 'hyperband', * FROM hopper.automl(:search, model_table := 'by_hyperband',
    model_selection_table := 'hyperband_best', automl_method := 'hyperband', automl_params := format('R=%s', :r));
INSERT INTO searches SELECT 'asha', * FROM hopper.automl(:search, model_table := 'by_asha',
    model_selection_table := 'asha_best', automl_method := 'asha', automl_params := format('num_configs=48, R=%s', :r));
SELECT method, configurations, iterations, round(best_value::numeric, 4) AS accuracy, round(seconds::numeric, 1) AS seconds
FROM searches;

\echo
\echo '-- 5. What was good, and what made it good.'
SELECT mst_key, round(value::numeric, 4) AS accuracy, iterations, status, parameters
FROM by_hyperband_trials ORDER BY place LIMIT 5;
SELECT rank, parameter, round(importance::numeric, 3) AS importance FROM hopper.param_importance('by_grid');

\echo
\echo '-- 6. Why configurations were stopped: the last rounds of Hyperband''s first bracket.'
SELECT decision, mst_key, s, i, iterations, reason FROM by_hyperband_decisions
WHERE s = (SELECT max(s) FROM by_hyperband_decisions) AND i >= 1 AND decision IN ('promoted', 'stopped', 'completed') ORDER BY number LIMIT 8;
