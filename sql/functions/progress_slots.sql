CREATE FUNCTION hopper.progress_slots()
RETURNS TABLE (
    pid integer,
    role oid,
    run bigint,
    packed_table oid,
    started timestamp with time zone,
    iterations bigint,
    iterations_total bigint,
    trials bigint,
    trials_training bigint,
    trials_failed bigint,
    best_trial integer,
    best_value double precision,
    work double precision,
    threads bigint,
    memory bigint)
    AS 'MODULE_PATHNAME', 'hopper_sql_progress_slots' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.progress_slots() IS
    'what trains now in this database, in any session, as hopper.progress shows it

Task: 4.86 train
Example:
SELECT pid, run, iterations, iterations_total, work FROM hopper.progress_slots();';
