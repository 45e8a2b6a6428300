CREATE FUNCTION hopper.drop_run(
    run bigint)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_drop_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.drop_run(bigint) IS
    'removes the rows of a run; models that have got their names stay

Task: 4.83 train
run: number of a run, as hopper.runs shows it
Example:
SELECT hopper.drop_run(run := max(run)) FROM hopper.runs WHERE state = ''cancelled'';';
