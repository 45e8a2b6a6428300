-- How long the threads of a search are without work: searches over CNNs for handwritten digits, by the clock.
--
--   psql -X -f bench/search_idle.sql             as many threads as processors
--   psql -X -v threads=2 -v rounds=5 -f bench/search_idle.sql
--
-- From the top of the repository, in a database without a schema search_idle. A row a run: "alike" are the networks of
-- examples/automl.sql, "unlike" two of which one costs eight times the other (slowest / fastest: seconds of their iterations,
-- as they were measured). idle_percent is explain_fit()'s measured "idle share".
\set ON_ERROR_STOP on
\if :{?threads} \else \set threads NULL \endif
\if :{?rounds} \else \set rounds 3 \endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS model_hopper;
DROP SCHEMA IF EXISTS search_idle CASCADE;
CREATE SCHEMA search_idle;
SET search_path = search_idle;
CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\copy digits FROM 'examples/digits.csv' CSV HEADER
SELECT hopper.training_preprocessor(source_table := 'digits', output_table := 'packed', dependent_varname := 'label',
    independent_varname := 'pixels', normalizing_const := 16, validation_fraction := 0.2) AS rows_packed \gset
SELECT hopper.load_model(model_arch_table := 'networks', name := 'convolutions', model_arch := $$
    {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Reshape", "config": {"target_shape": [8, 8, 1]}},
        {"class_name": "Conv2D", "config": {"filters": {"hopper": "filters"}, "kernel_size": 3, "activation": "relu"}},
        {"class_name": "MaxPooling2D", "config": {}},
        {"class_name": "Flatten", "config": {}},
        {"hopper": {"repeat": "depth", "layers": [
            {"class_name": "Dense", "config": {"units": {"hopper": "units"}, "activation": "relu"}}]}},
        {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}} $$) AS network \gset
CREATE TABLE spaces (name text, parameters text);
INSERT INTO spaces VALUES
    ('alike', '"filters": [4, 8, 16], "depth": {"type": "int", "low": 0, "high": 1}, "units": 32'),
    ('unlike', '"filters": [4, 144], "depth": 1, "units": 32');
CREATE TABLE methods (method text, params text);
INSERT INTO methods VALUES ('hyperband', 'R=27'), ('asha', 'num_configs=64, R=27'), ('tpe', 'num_configs=24, num_iterations=9');

CREATE FUNCTION measured(space text, method text, seed int, threads int)
RETURNS TABLE (seconds float8, iterations bigint, unlike float8, idle_percent float8) LANGUAGE plpgsql AS $f$
BEGIN
    PERFORM hopper.automl(packed_table := 'packed', model_table := 'models', model_arch_table := 'networks',
        model_selection_table := 'best', model_id_list := 1, compile_params_grid := NULL, fit_params_grid := NULL,
        automl_method := m.method, automl_params := m.params, seed := measured.seed, objective := 'accuracy',
        validation_table := 'packed_validation', replace := true, threads := measured.threads,
        space := format('{"parameters": {%s, "lr": {"type": "float", "low": 0.0003, "high": 0.03, "scale": "log"}},
            "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"],
                "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}},
            "fit_params": {"batch_size": 32}}', s.parameters))
    FROM spaces s, methods m WHERE s.name = measured.space AND m.method = measured.method;
    RETURN QUERY SELECT d.measured, (SELECT sum(i.iterations) FROM models_info i),
        (SELECT max(each) / min(each) FROM (SELECT sum(seconds_training) / sum(i.iterations) AS each FROM models_info i WHERE i.iterations > 0 GROUP BY model_id) e),
        100 * w.measured
    FROM (SELECT e.measured FROM hopper.explain_fit(model_table := 'models', measure := true) e WHERE item = 'duration') d,
         (SELECT e.measured FROM hopper.explain_fit(model_table := 'models', measure := true) e WHERE item = 'idle share') w;
END $f$;
-- What a session does once.
SELECT seconds FROM measured('alike', 'tpe', 0, :threads) \gset
CREATE TABLE results AS
SELECT space, method, seed, m.* FROM (VALUES (1, 'alike', 'hyperband'), (2, 'unlike', 'hyperband'), (3, 'unlike', 'asha'), (4, 'unlike', 'tpe')) AS r (i, space, method),
    generate_series(1, :rounds) AS seed, LATERAL measured(space, method, seed, :threads) AS m
ORDER BY seed, i;
SELECT space, method, count(*) AS runs, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 2) AS seconds,
    round(avg(iterations)) AS iterations, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY unlike)::numeric, 1) AS "slowest / fastest",
    round(min(idle_percent)::numeric, 1) AS "least idle %", round(percentile_cont(0.5) WITHIN GROUP (ORDER BY idle_percent)::numeric, 1) AS "median",
    round(max(idle_percent)::numeric, 1) AS "most"
FROM results GROUP BY space, method ORDER BY space, method;
DROP SCHEMA search_idle CASCADE;
