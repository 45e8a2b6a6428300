CREATE FUNCTION hopper.model_ids(model_arch_table text, VARIADIC names text[]) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'hopper_sql_model_ids' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.model_ids(text, text[]) IS
    'the model_id of architectures by their names, in the order given: for the arguments model_id_list

Task: 2.6 architectures
model_arch_table: table of architectures, made by load_model(), mlp() or cnn()
names: names of architectures
Example:
SELECT hopper.model_ids(''networks'', ''small'');';

CREATE FUNCTION hopper.model_ids(model_arch_table text, names hopper.texts) RETURNS integer[]
    AS 'MODULE_PATHNAME', 'hopper_sql_model_ids' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.model_ids(text, hopper.texts) IS
    'the model_id of architectures by their names, in the order given: for the arguments model_id_list';
