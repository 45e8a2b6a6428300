CREATE FUNCTION hopper.model_id(model_arch_table text, name text) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_model_id' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.model_id(text, text) IS
    'the model_id of an architecture by its name: for the arguments model_id

Task: 2.7 architectures
model_arch_table: table of architectures, made by load_model(), mlp() or cnn()
name: name of an architecture
Example:
SELECT hopper.model_id(model_arch_table := ''networks'', name := ''small'');';
