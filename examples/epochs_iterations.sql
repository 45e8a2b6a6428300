-- One number of passes over the data, split between epochs and iterations. An iteration takes a
-- model to every partition once; epochs are the passes that it makes over a partition before it goes
-- on. More epochs mean fewer hops, and data that are seen less evenly mixed.
--
--   psql < examples/epochs_iterations.sql                 50 passes
--   psql -v passes=20 < examples/epochs_iterations.sql
--
-- From the top of the repository, in a database without these tables.
\set ON_ERROR_STOP on
\pset footer off
\if :{?passes} \else \set passes 50 \endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;

CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\copy digits FROM 'examples/digits.csv' CSV HEADER
SELECT hopper.training_preprocessor(source_table := 'digits', output_table := 'digits_packed',
    dependent_varname := 'label', independent_varname := 'pixels', normalizing_const := 16,
    validation_fraction := 0.2, partitions := 8) AS rows_packed;
SELECT hopper.cnn(model_arch_table := 'networks', packed_table := 'digits_packed', filters := 8) AS network \gset

CREATE TABLE passes (epochs integer, iterations integer, accuracy numeric, loss numeric, seconds numeric);
CREATE FUNCTION train(epochs integer, iterations integer, network integer) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
    INSERT INTO passes
    SELECT train.epochs, train.iterations, round(r.validation_metric::numeric, 4), round(r.validation_loss::numeric, 4), round(f.seconds::numeric, 2)
    FROM hopper.fit(packed_table := 'digits_packed', model_table := 'model_of_' || epochs, model_arch_table := 'networks', model_id := network,
            num_iterations := iterations, compile_params := 'optimizer=SGD(lr=0.03, momentum=0.9), loss=''categorical_crossentropy'', metrics=[''accuracy'']',
            fit_params := 'batch_size=32, epochs=' || epochs, validation_table := 'digits_packed_validation', seed := 1) AS f,
        LATERAL (SELECT * FROM hopper.leaderboard('model_of_' || epochs)) AS r;
END $$;
SELECT count(train(epochs, :passes / epochs, :network)) AS splits FROM unnest(ARRAY[1, 2, 5, 10, 25, 50]) AS epochs
WHERE :passes % epochs = 0;
\echo
\echo '--' :passes 'passes over the data each:'
SELECT * FROM passes ORDER BY epochs;
