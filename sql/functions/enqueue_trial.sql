CREATE FUNCTION hopper.enqueue_trial(
    run bigint,
    parameters hopper.text_or_json)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_enqueue_trial' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.enqueue_trial(bigint, hopper.text_or_json) IS
    'a search tries these parameters next, when it begins another trial

Task: 4.9 train
run: number of a run of automl(), as hopper.runs shows it
parameters: a value of each parameter of the search, as hopper.trials shows them
Example:
SELECT hopper.enqueue_trial(run := hopper.create_run($$SELECT hopper.automl(''points_packed'', ''queued_search'', ''networks'', ''queued_best'', 1,
    fit_params_grid := ''{"batch_size": [16, 32, 64]}'', compile_params_grid := ''{"loss": ["categorical_crossentropy"],
    "optimizer_params_list": [{"optimizer": ["Adam"], "lr": [0.01]}]}'')$$), parameters := ''{"batch_size": 32}'');';
