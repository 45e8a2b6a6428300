CREATE FUNCTION hopper.unpin_trial(
    run bigint,
    trial integer)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_unpin_trial' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.unpin_trial(bigint, integer) IS
    'a trial that was pinned goes on only as far as the search wants again

Task: 4.89 train
run: number of a run of automl(), as hopper.runs shows it
trial: one of its trials, the mst_key of its model
Example:
SELECT hopper.unpin_trial(run := hopper.create_run($$SELECT hopper.automl(''points_packed'', ''unpinned_search'', ''networks'', ''unpinned_best'', 1,
    fit_params_grid := ''{"batch_size": [16, 32, 64]}'', compile_params_grid := ''{"loss": ["categorical_crossentropy"],
    "optimizer_params_list": [{"optimizer": ["Adam"], "lr": [0.01]}]}'')$$), trial := 1);';
