CREATE FUNCTION hopper.resume(
    run bigint)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_resume' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.resume(bigint) IS
    'a run that was created, paused or interrupted, or that failed, goes on in the background from its last checkpoints

Task: 4.81 train
run: number of a run, as hopper.runs shows it
Example:
SELECT hopper.resume(run := max(run)) FROM hopper.runs WHERE state = ''paused'';';
