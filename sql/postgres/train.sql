CREATE PROCEDURE hopper.train(
    run bigint)
    AS 'MODULE_PATHNAME', 'hopper_sql_train' LANGUAGE C;
COMMENT ON PROCEDURE hopper.train(bigint) IS
    'trains a run to its end, in this session, and commits each checkpoint: CALL hopper.train(run := 1);

Task: 4.85 train
run: number of a run, as hopper.runs shows it
Example:
SELECT state, best_trial, best_value FROM hopper.runs ORDER BY run DESC LIMIT 1;';
