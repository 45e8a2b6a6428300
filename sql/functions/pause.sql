CREATE FUNCTION hopper.pause(
    run bigint)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_pause' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.pause(bigint) IS
    'a run stops when each trial has ended its iteration, until it is resumed

Task: 4.8 train
run: number of a run, as hopper.runs shows it
Example:
SELECT hopper.pause(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''later_models'', ''configs'', 2)$$));';
