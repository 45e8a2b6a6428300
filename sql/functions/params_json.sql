CREATE FUNCTION hopper.params_json(params hopper.text_or_json) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'hopper_sql_params_json' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.params_json(hopper.text_or_json) IS
    'compile_params or fit_params of a leaderboard as JSON, to compare models by their learning_rate, optimizer or batch_size

Task: 6.6 compare
params: compile_params or fit_params; the optimizer''s arguments come to stand beside the rest, lr as learning_rate
Example:
SELECT mst_key, validation_metric, hopper.params_json(compile_params)->>''learning_rate'' AS learning_rate,
    hopper.params_json(fit_params)->>''batch_size'' AS batch_size
FROM hopper.leaderboard(model_table := ''models'');';
