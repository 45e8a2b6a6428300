-- The demo: sixteen networks learn to read handwritten digits, side by side, in the database.
-- Run by scripts/demo; by hand: psql < examples/digits.sql, from the top of the repository, in a
-- database without these tables.
\set ON_ERROR_STOP on
\pset footer off

CREATE EXTENSION model_hopper;

\echo
\echo '-- 1. Data: 1,797 images of 8 x 8 pixels in an ordinary table. The last 97 are put aside.'
CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\copy digits FROM 'examples/digits.csv' CSV HEADER
CREATE VIEW digits_known AS SELECT * FROM digits WHERE id <= 1700;
CREATE VIEW digits_new AS SELECT * FROM digits WHERE id > 1700;

\echo
\echo '-- 2. Pack them for training, and a fifth of them for validation.'
SELECT hopper.training_preprocessor(source_table := 'digits_known', output_table := 'digits_packed',
    dependent_varname := 'label', independent_varname := 'pixels', normalizing_const := 16,
    validation_fraction := 0.2) AS rows_packed;

\echo
\echo '-- 3. Two architectures, as Keras wrote them with model.to_json().'
\set cnn `cat examples/digits_cnn.json`
\set mlp `cat examples/digits_mlp.json`
SELECT hopper.load_model(model_arch_table := 'architectures', model_arch := :'cnn', name := 'cnn') AS cnn,
       hopper.load_model(model_arch_table := 'architectures', model_arch := :'mlp', name := 'mlp') AS mlp \gset
SELECT layer, class_name, output_shape, parameters
FROM hopper.describe_model(model_arch_table := 'architectures', model_id := :cnn);

\echo
\echo '-- 4. A grid: 2 architectures x (2 rates of Adam + 2 rates of SGD) x 2 batch sizes = 16.'
SELECT hopper.generate_model_configs(model_arch_table := 'architectures', model_selection_table := 'configs',
    model_id_list := ARRAY[:cnn, :mlp],
    compile_params_grid := $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.001, 0.003]},
                                  {'optimizer': ['SGD'], 'lr': [0.03, 0.1], 'momentum': [0.9]}]} $$,
    fit_params_grid := $$ {'batch_size': [16, 64], 'epochs': [1]} $$) AS configurations;

\echo
\echo '-- 5. Train all of them together, ten passes over the data each.'
SET hopper.notice_interval = 1;
\timing on
SELECT * FROM hopper.fit_multiple_model(packed_table := 'digits_packed', model_table := 'models',
    model_selection_table := 'configs', num_iterations := 10, validation_table := 'digits_packed_validation',
    seed := 1);
\timing off

\echo
\echo '-- 6. Compare them.'
SELECT rank, name AS arch, round(validation_metric::numeric, 4) AS validation,
       round(overfit_gap::numeric, 4) AS gap, round(seconds::numeric, 1) AS s, parameters,
       substring(compile_params FROM '(?:Adam|SGD)\([^)]*\)') AS optimizer,
       substring(fit_params FROM 'batch_size=(\d+)') AS batch, curve
FROM hopper.leaderboard('models') JOIN architectures USING (model_id) ORDER BY rank;

\echo
\echo '-- 7. How the best of each architecture learnt: accuracy on the validation data.'
WITH best AS (
    SELECT DISTINCT ON (model_id) name, mst_key
    FROM hopper.leaderboard('models') JOIN architectures USING (model_id)
    ORDER BY model_id, rank)
SELECT iteration, name, round(value::numeric, 4) AS accuracy,
       repeat('#', greatest(0, (value - 0.8) * 200)::integer) AS "80% to 100%"
FROM hopper.learning_curves('models') JOIN best USING (mst_key)
WHERE split = 'validation' AND metric = 'accuracy' ORDER BY name, iteration;

\echo
\echo '-- 8. Let the best one read the digits that no network has seen.'
SELECT mst_key AS best FROM hopper.leaderboard(model_table := 'models', n := 1) \gset
SELECT hopper.predict(model_table := 'models', source_table := 'digits_new', id_col := 'id',
    independent_varname := 'pixels', output_table := 'predicted', pred_type := 3, mst_key := :best) AS predicted \gset
SELECT count(*) AS new_digits, sum((class_value = label::text)::integer) AS read_correctly
FROM predicted JOIN digits_new USING (id) WHERE rank = 1;
\i examples/draw_digits.sql
