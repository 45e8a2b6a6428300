-- Trains one table of search_quality: 288 configurations x 27 iterations, and writes it as CSV.
-- Run by make_tables. Variables: rows (a CSV of data.py), known (rows to train on), scale, network
-- (the architectures' call), table (the CSV to write).
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;
DROP SCHEMA IF EXISTS search_quality CASCADE;
CREATE SCHEMA search_quality;
SET search_path = search_quality, public;
-- Others' work on the machine goes first.
SELECT pg_backend_pid() AS pid \gset
\setenv BACKEND :pid
\! renice -n 19 -p $BACKEND >/dev/null
CREATE TABLE rows (id int PRIMARY KEY, y text, x real[]);
\copy rows FROM PROGRAM 'cat "$ROWS"' CSV
CREATE VIEW known AS SELECT * FROM rows WHERE id <= :known;
CREATE VIEW others AS SELECT * FROM rows WHERE id > :known;
SELECT hopper.training_preprocessor(source_table := 'known', output_table := 'packed',
    dependent_varname := 'y', independent_varname := 'x', normalizing_const := :scale, seed := 1);
SELECT hopper.validation_preprocessor(source_table := 'others', output_table := 'packed_others',
    packed_table := 'packed');
CREATE TABLE networks_made AS
SELECT width, activation, dropout, hopper.:network, activation := activation, dropout := dropout,
       name := format('%s %s %s', width, activation, dropout)) AS model_id
FROM unnest(ARRAY[4, 8, 16]) AS width, unnest(ARRAY['relu', 'tanh']) AS activation,
     unnest(ARRAY[0, 0.3]) AS dropout;
SELECT hopper.generate_model_configs(model_arch_table := 'networks', model_selection_table := 'configs',
    model_id_list := (SELECT array_agg(model_id) FROM networks_made),
    compile_params_grid := $$ {'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]},
            {'optimizer': ['SGD'], 'lr': [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], 'momentum': [0.9]}]} $$,
    fit_params_grid := $$ {'batch_size': [16, 64], 'epochs': [1]} $$);
\timing on
SELECT * FROM hopper.fit_multiple_model(packed_table := 'packed', model_table := 'models',
    model_selection_table := 'configs', num_iterations := 27, validation_table := 'packed_others',
    metrics_compute_frequency := 1, seed := 1);
\timing off
-- A configuration a row: its six parameters by their places, then 27 accuracies in units of 0.0001;
-- one that failed has what it had before, and zeros.
CREATE VIEW accuracies AS
SELECT mst_key, array_agg(round(coalesce(value, 0) * 10000)::int ORDER BY i) AS values
FROM configs CROSS JOIN generate_series(1, 27) AS i
LEFT JOIN (SELECT mst_key, iteration AS i, value FROM hopper.learning_curves('models')
           WHERE split = 'validation' AND metric = 'accuracy') AS curves USING (mst_key, i)
GROUP BY mst_key;
\pset format unaligned
\pset tuples_only on
\pset fieldsep ','
\o :table
SELECT 'width,activation,dropout,optimizer,batch,lr,' || string_agg('a' || i, ',' ORDER BY i) FROM generate_series(1, 27) AS i;
SELECT n.width, n.activation, n.dropout, CASE WHEN compile_params LIKE '%Adam%' THEN 'adam' ELSE 'sgd' END,
       substring(fit_params FROM 'batch_size=(\d+)') AS batch, substring(compile_params FROM 'lr=([0-9.e-]+)') AS lr,
       array_to_string(a.values, ',')
FROM configs JOIN networks_made n USING (model_id) JOIN accuracies a USING (mst_key)
ORDER BY 1, 2, 3, 4, 5::int, 6::float8;
\o
SELECT split_part(version(), ' ', 2), sum(seconds) FROM hopper.leaderboard('models');
