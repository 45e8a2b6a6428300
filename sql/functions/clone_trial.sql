CREATE FUNCTION hopper.clone_trial(
    run bigint,
    trial integer,
    compile_params text DEFAULT NULL,
    fit_params text DEFAULT NULL)
RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_clone_trial' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.clone_trial(bigint, integer, text, text) IS
    'adds a trial to a run that goes on from another one''s last checkpoint with other parameters; returns its number

Task: 4.87 train
run: number of a run, as hopper.runs shows it
trial: the one whose weights and optimizer state it begins with, as of its last checkpoint
compile_params: other ones than that trials
fit_params: other ones than that trials
Example:
SELECT hopper.clone_trial(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''cloned_models'', ''configs'', 2)$$), trial := 1, fit_params := ''batch_size=12'');';
