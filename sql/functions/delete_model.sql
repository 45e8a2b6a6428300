CREATE FUNCTION hopper.delete_model(model_arch_table text, model_id hopper.integers) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_delete_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.delete_model(text, hopper.integers) IS
    'deletes one architecture; drops the table with its last one

Task: 2.9 architectures
model_arch_table: table of architectures, made by load_model()
model_id: number of an architecture in model_arch_table
Example:
SELECT hopper.load_model(model_arch_table := ''old_networks'',
    model_arch := (SELECT model_arch::text FROM networks WHERE model_id = 1));
SELECT hopper.delete_model(model_arch_table := ''old_networks'', model_id := 1);';
