CREATE FUNCTION hopper.publish(
    run bigint,
    new_name text,
    replace boolean DEFAULT false)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_publish' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.publish(bigint, text, boolean) IS
    'makes a table of models of what a run has reached at its last checkpoint, while it trains on; returns their number

Task: 4.88 train
run: number of a run, as hopper.runs shows it
new_name: name of the table of models
replace: take the place of the table of models that is there
Example:
SELECT hopper.publish(run := run, new_name := ''so_far'') FROM hopper.runs WHERE state = ''running'' AND checkpoints > 0;';
