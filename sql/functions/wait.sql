CREATE FUNCTION hopper.wait(
    run bigint,
    seconds double precision DEFAULT NULL)
RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_wait' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.wait(bigint, double precision) IS
    'waits until a run ends, pauses or is interrupted, and returns its state

Task: 4.7 train
run: number of a run, as hopper.runs shows it
seconds: how long at most; by itself for as long as it takes
Example:
SELECT hopper.wait(run := max(run), seconds := 60) FROM hopper.runs;';
