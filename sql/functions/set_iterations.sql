CREATE FUNCTION hopper.set_iterations(
    run bigint,
    iterations integer,
    trial integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_set_iterations' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.set_iterations(bigint, integer, integer) IS
    'raises or lowers the number of iterations of a run while it trains

Task: 4.85 train
run: number of a run, as hopper.runs shows it
iterations: how many its trials are to have in all; less than one has: it ends with its next one
trial: only this one
Example:
SELECT hopper.set_iterations(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''longer_models'', ''configs'', 2)$$), iterations := 4);';
