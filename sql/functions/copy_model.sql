CREATE FUNCTION hopper.copy_model(
    model_table text,
    new_name text,
    mst_keys hopper.integers DEFAULT NULL,
    replace boolean DEFAULT false)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_copy_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.copy_model(text, text, hopper.integers, boolean) IS
    'copies a table of models and its companions, or some of its models; returns their number

Task: 8.3 models
model_table: table of models that training writes; its companions are _info, _summary and _state
new_name: name of the copy
mst_keys: configurations (model selection tuples) to copy; by itself all
replace: take the place of the table of models that is there
Example:
SELECT hopper.copy_model(model_table := ''models'', new_name := ''models_copy'', mst_keys := 1);';
