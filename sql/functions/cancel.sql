CREATE FUNCTION hopper.cancel(
    run bigint)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_cancel' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.cancel(bigint) IS
    'ends a run, whose models are dropped; its rows stay

Task: 4.82 train
run: number of a run, as hopper.runs shows it
Example:
SELECT hopper.cancel(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''unwanted_models'', ''configs'', 2)$$));';
