CREATE FUNCTION hopper.rename_model(
    model_table text,
    new_name text,
    replace boolean DEFAULT false)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_rename_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.rename_model(text, text, boolean) IS
    'gives a table of models and its companions another name

Task: 8.2 models
model_table: table of models that training writes; its companions are _info, _summary and _state
new_name: the name to have then, in the same schema
replace: take the place of the table of models that is there
Example:
SELECT hopper.copy_model(model_table := ''models'', new_name := ''models_draft'');
SELECT hopper.rename_model(model_table := ''models_draft'', new_name := ''models_final'');';
