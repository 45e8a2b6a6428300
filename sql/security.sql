-- Functions run with their caller's rights on the caller's tables; every role may call them.
GRANT USAGE ON SCHEMA hopper TO PUBLIC;

-- Tables and sequences are the owner's alone, whatever default privileges say.
CREATE FUNCTION hopper.close_own_tables() RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_close_own_tables' LANGUAGE C VOLATILE PARALLEL UNSAFE;
SELECT hopper.close_own_tables();
DROP FUNCTION hopper.close_own_tables();
-- Each view shows a role what is its own.
GRANT SELECT ON hopper.runs, hopper.trials, hopper.trial_metrics, hopper.run_events,
    hopper.progress TO PUBLIC;

-- Dumps carry runs: the owner of the database makes them, where the server has a role for that (14).
DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) 'pg_database_owner') THEN
        GRANT SELECT ON hopper.all_runs, hopper.all_trials, hopper.all_trial_metrics, hopper.all_run_events, hopper.all_run_grants,
            hopper.all_search_results, hopper.journal_run_seq TO pg_database_owner;
    END IF;
END $$;
