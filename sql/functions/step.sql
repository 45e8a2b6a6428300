CREATE FUNCTION hopper.step(
    run bigint,
    seconds double precision DEFAULT 10)
RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_step' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.step(bigint, double precision) IS
    'trains a run for some seconds, in this session, then to the end of each trial''s iteration, and says how it stands

Task: 4.6 train
run: number of a run, as hopper.runs shows it
seconds: how long; 0: an iteration of each trial
Example:
SELECT hopper.step(run := max(run), seconds := 60) FROM hopper.runs WHERE model_table = ''stepped_models'';';
