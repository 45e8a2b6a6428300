CREATE FUNCTION hopper.expire_runs(
    older_than interval)
RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_expire_runs' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.expire_runs(interval) IS
    'removes the rows of runs that ended so long ago, and returns how many

Task: 4.84 train
older_than: time since the end of a run
Example:
SELECT hopper.expire_runs(older_than := ''90 days'');';
