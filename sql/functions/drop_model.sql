CREATE FUNCTION hopper.drop_model(model_table text) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_drop_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.drop_model(text) IS
    'drops a table of models and its companions; returns the number of tables, 0 where there are none

Task: 8.5 models
model_table: table of models that training writes; its companions are _info, _summary and _state
Example:
SELECT hopper.copy_model(model_table := ''models'', new_name := ''models_to_drop'');
SELECT hopper.drop_model(model_table := ''models_to_drop'');';
