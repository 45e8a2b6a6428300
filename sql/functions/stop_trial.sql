CREATE FUNCTION hopper.stop_trial(
    run bigint,
    trial integer)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_stop_trial' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.stop_trial(bigint, integer) IS
    'a trial of a run ends with its next iteration; its model stays

Task: 4.84 train
run: number of a run, as hopper.runs shows it; a search tries others instead
trial: one of its trials, the mst_key of its model
Example:
SELECT hopper.stop_trial(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''stopped_models'', ''configs'', 2)$$), trial := 1);';
