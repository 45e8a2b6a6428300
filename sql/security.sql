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
