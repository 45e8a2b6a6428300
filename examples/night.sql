-- A run in the background every night. For cron, or a job of pg_cron that calls the statements below "Every night":
--
--     psql -X -q -v ON_ERROR_STOP=1 -d shop -f night.sql
--
-- What another night has left unfinished, because the server was stopped say, is continued, and not begun anew. What failed
-- for a reason that does not go away, as changed data, is begun anew.
\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS model_hopper;
SET client_min_messages = warning;

-- In the place of your own data, networks and configurations.
SELECT to_regclass('night_packed') IS NULL AS is_new \gset
\if :is_new
CREATE TABLE night_points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, sin(i) * cos(i) > 0 AS y FROM generate_series(1, 1000) AS i;
SELECT hopper.training_preprocessor(source_table := 'night_points', output_table := 'night_packed', dependent_varname := 'y',
    independent_varname := 'a, b', validation_fraction := 0.2);
SELECT hopper.mlp(model_arch_table := 'night_networks', packed_table := 'night_packed', hidden := 16);
SELECT hopper.generate_model_configs(model_arch_table := 'night_networks', model_selection_table := 'night_configs',
    model_id_list := ARRAY[1], compile_params_grid := $$ {'loss': ['binary_crossentropy'], 'metrics': ['accuracy'],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [0.01, 0.003]}]} $$,
    fit_params_grid := $$ {'batch_size': [16]} $$);
\endif

-- Every night: the run that is left over, or a new one.
SELECT max(run) AS newest FROM hopper.runs WHERE owner = current_user AND model_table LIKE '%night_models' \gset
\if :{?newest}
SELECT max(run) AS left_over FROM hopper.runs
WHERE run = :newest AND (state IN ('interrupted', 'paused') OR state = 'failed' AND error_code ~ '^5[37]') \gset
\endif
\if :{?left_over}
SELECT :left_over AS run \gset
SELECT hopper.resume(run := :run);
\else
SELECT hopper.submit($$ SELECT hopper.fit_multiple_model('night_packed', 'night_models', 'night_configs', 8,
    validation_table := 'night_packed_validation', replace := true) $$) AS run \gset
\endif

-- It trains whether somebody waits or not; here until the morning.
SELECT hopper.wait(run := :run, seconds := 8 * 3600) AS state;
SELECT hopper.expire_runs('90 days');

-- What ran last night, by whom, on which data, how good and how long.
SELECT run, owner, state, packed_table, model_table, best_metric, best_value, seconds, error
FROM hopper.runs WHERE started > now() - interval '1 day' ORDER BY run;

-- For cron: psql ends with 3 where the run has failed.
SELECT state = 'failed' AS has_failed FROM hopper.runs WHERE run = :run \gset
\if :has_failed
DO $$ BEGIN RAISE EXCEPTION 'the run has failed: its error is above'; END $$;
\endif
