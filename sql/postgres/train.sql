CREATE PROCEDURE hopper.train(
    run bigint)
    AS 'MODULE_PATHNAME', 'hopper_sql_train' LANGUAGE C;
COMMENT ON PROCEDURE hopper.train(bigint) IS
    'trains a run to its end, in this session, and commits each checkpoint

Task: 4.85 train
run: number of a run, as hopper.runs shows it
Example:
CALL hopper.train(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''called_models'', ''configs'', 2)$$));';
