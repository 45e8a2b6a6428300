CREATE FUNCTION hopper.add_trials(
    run bigint)
RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_add_trials' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.add_trials(bigint) IS
    'makes new rows of a runs model selection table trials of it; returns how many

Task: 4.86 train
run: number of a run, as hopper.runs shows it
Example:
SELECT hopper.add_trials(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''grown_models'', ''configs'', 2)$$));';
