CREATE FUNCTION hopper.keep_best(model_table text, n bigint DEFAULT 1) RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_keep_best' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.keep_best(text, bigint) IS
    'deletes all models but the best, with their states; what was measured stays; returns the number deleted

Task: 8.4 models
model_table: table of models that training writes; its companions are _info, _summary and _state
n: how many of the leaderboard''s first to keep
Example:
SELECT hopper.copy_model(model_table := ''models'', new_name := ''best_models'');
SELECT hopper.keep_best(model_table := ''best_models'');';
