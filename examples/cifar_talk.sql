-- The experiment of the talks: 96 configurations on CIFAR-10, the best of them refined to 12,
-- Hyperband, and Hyperband again in the neighbourhood of its best.
--
--   psql < examples/cifar_talk.sql                                          a small form, some minutes
--   psql -v rows=50000 -v iterations=20 -v r=81 < examples/cifar_talk.sql   the talks' sizes
--   psql -v pages=examples/gallery < examples/cifar_talk.sql                the small form, with its reports there
--
-- From the top of the repository, in a database without these tables. The images come from a program
-- that prints rows for COPY (id, x as hex bytea, y as text): "python3 $CIFAR train ROWS". CIFAR is
-- cifar10.py in the current folder unless it is set; PYTHON may name another interpreter. The variable
-- "images" is what the reports call them.
\set ON_ERROR_STOP on
\pset footer off
\if :{?rows} \else \set rows 1000 \endif
\if :{?iterations} \else \set iterations 3 \endif
\if :{?r} \else \set r 9 \endif
\if :{?images} \else \set images CIFAR-10 \endif
\set description :rows ' images, ' :images ', a fifth of them for validation'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;

\echo
\echo '-- 1.' :rows 'images, packed; a fifth of them for validation.'
\setenv ROWS :rows
CREATE TABLE cifar (id integer PRIMARY KEY, x bytea, y text);
\copy cifar FROM PROGRAM '${PYTHON:-python3} "${CIFAR:-cifar10.py}" train "$ROWS"'
SELECT hopper.training_preprocessor(source_table := 'cifar', output_table := 'cifar_packed', dependent_varname := 'y',
    independent_varname := 'x', image_shape := '{32,32,3}', normalizing_const := 255, validation_fraction := 0.2) AS rows_packed;

\echo
\echo '-- 2. Two networks, three optimizers, four rates, four batch sizes: 96 configurations.'
SELECT hopper.cnn(model_arch_table := 'networks', packed_table := 'cifar_packed', filters := '{8,16}', name := 'small') AS small,
       hopper.cnn(model_arch_table := 'networks', packed_table := 'cifar_packed', filters := '{16,32}', dropout := 0.2,
           name := 'large') AS large \gset
SELECT hopper.generate_model_configs(model_arch_table := 'networks', model_selection_table := 'grid',
    model_id_list := ARRAY[:small, :large],
    compile_params_grid := $$ {'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [
        {'optimizer': ['Adam', 'RMSprop'], 'lr': [0.0001, 0.001, 0.003, 0.01]},
        {'optimizer': ['SGD'], 'lr': [0.001, 0.003, 0.01, 0.03], 'momentum': [0.9]}]} $$,
    fit_params_grid := $$ {'batch_size': [16, 32, 64, 128]} $$) AS configurations;
SELECT models_trained, models_failed, best_mst_key, round(best_value::numeric, 4) AS accuracy, round(seconds::numeric, 1) AS seconds
FROM hopper.fit_multiple_model(packed_table := 'cifar_packed', model_table := 'grid_models', model_selection_table := 'grid',
    num_iterations := :iterations, validation_table := 'cifar_packed_validation', seed := 1,
    name := 'All 96 configurations', description := :'description');
SELECT rank, name AS network, substring(compile_params FROM '[A-Za-z]+\([^)]*\)') AS optimizer,
       substring(fit_params FROM 'batch_size=(\d+)') AS batch, round(validation_metric::numeric, 4) AS accuracy, curve
FROM hopper.leaderboard(model_table := 'grid_models', n := 6) JOIN networks USING (model_id) ORDER BY rank;

\echo
\echo '-- 3. Refined: the best network, the three best optimizers, all batch sizes: 12 configurations, three times as long.'
CREATE TEMPORARY TABLE ranked AS SELECT * FROM hopper.leaderboard(model_table := 'grid_models');
SELECT model_id AS network FROM ranked WHERE rank = 1 LIMIT 1 \gset
SELECT hopper.generate_model_configs(model_arch_table := 'networks', model_selection_table := 'refined', from_run := 'grid_models',
    mst_keys := ARRAY(SELECT mst_key FROM ranked WHERE model_id = :network AND compile_params IN (
        SELECT compile_params FROM ranked WHERE model_id = :network
        GROUP BY compile_params ORDER BY min(rank), compile_params LIMIT 3))) AS configurations;
SELECT models_trained, best_mst_key, round(best_value::numeric, 4) AS accuracy, round(seconds::numeric, 1) AS seconds
FROM hopper.fit_multiple_model(packed_table := 'cifar_packed', model_table := 'refined_models', model_selection_table := 'refined',
    num_iterations := 3 * :iterations, validation_table := 'cifar_packed_validation', seed := 1);

\echo
\echo '-- 4. Hyperband, R =' :r 'over ranges instead of a grid.'
SELECT format($$ {'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [
    {'optimizer': ['Adam', 'RMSprop'], 'lr': [%s, %s, 'log']}]} $$, 0.0001, 0.01) AS wide \gset
SELECT item, round(predicted::numeric, 1) AS predicted, unit FROM hopper.explain_automl(packed_table := 'cifar_packed',
    model_arch_table := 'networks', model_id_list := ARRAY[:small, :large], compile_params_grid := :'wide',
    fit_params_grid := '{''batch_size'': [16, 32, 64, 128]}', automl_params := format('R=%s', :r),
    validation_table := 'cifar_packed_validation', objective := 'accuracy', seed := 1)
WHERE item IN ('configurations', 'iterations', 'seconds', 'all to the end');
SELECT configurations, failed, iterations, best_mst_key, round(best_value::numeric, 4) AS accuracy, round(seconds::numeric, 1) AS seconds
FROM hopper.automl(packed_table := 'cifar_packed', model_table := 'searched', model_arch_table := 'networks',
    model_selection_table := 'searched_best', model_id_list := ARRAY[:small, :large], compile_params_grid := :'wide',
    fit_params_grid := '{''batch_size'': [16, 32, 64, 128]}', automl_params := format('R=%s', :r),
    validation_table := 'cifar_packed_validation', objective := 'accuracy', seed := 1,
    name := 'Hyperband', description := :'description');
SELECT place, round(value::numeric, 4) AS accuracy, iterations, parameters FROM searched_trials ORDER BY place LIMIT 5;
SELECT parameter, round(importance::numeric, 3) AS importance FROM hopper.param_importance('searched');

\echo
\echo '-- 5. And again between the rates of its five best.'
SELECT format($$ {'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [
    {'optimizer': ['Adam', 'RMSprop'], 'lr': [%s, %s, 'log']}]} $$, min(lr) * 0.8, max(lr) * 1.25) AS narrow, array_agg(DISTINCT model_id) AS networks
FROM (SELECT (parameters->>'lr')::float8 AS lr, model_id FROM searched_trials ORDER BY place LIMIT 5) AS best \gset
SELECT configurations, failed, iterations, best_mst_key, round(best_value::numeric, 4) AS accuracy, round(seconds::numeric, 1) AS seconds
FROM hopper.automl(packed_table := 'cifar_packed', model_table := 'searched_again', model_arch_table := 'networks',
    model_selection_table := 'searched_again_best', model_id_list := :'networks', compile_params_grid := :'narrow',
    fit_params_grid := '{''batch_size'': [16, 32, 64, 128]}', automl_params := format('R=%s', :r),
    validation_table := 'cifar_packed_validation', objective := 'accuracy', seed := 2);

\if :{?pages}
\pset tuples_only on
\pset format unaligned
\set page :pages /cifar_grid.html
\o :page
SELECT hopper.report('grid_models');
\set page :pages /cifar_hyperband.html
\o :page
SELECT hopper.report('searched');
\o
\endif
