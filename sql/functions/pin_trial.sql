CREATE FUNCTION hopper.pin_trial(
    run bigint,
    trial integer)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_pin_trial' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.pin_trial(bigint, integer) IS
    'a trial of a search goes on to the last iteration whatever its results are, beside those that the search picks

Task: 4.88 train
run: number of a run of automl(), as hopper.runs shows it
trial: one of its trials, the mst_key of its model
Example:
SELECT hopper.pin_trial(run := hopper.create_run($$SELECT hopper.automl(''points_packed'', ''later_search'', ''networks'', ''later_best'', 1,
    fit_params_grid := ''{"batch_size": [16, 32, 64]}'', compile_params_grid := ''{"loss": ["categorical_crossentropy"],
    "optimizer_params_list": [{"optimizer": ["Adam"], "lr": [0.01]}]}'')$$), trial := 1);';
