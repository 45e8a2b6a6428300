CREATE FUNCTION hopper.delete_model(model_arch_table text, model_id integer) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_delete_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.delete_model(text, integer) IS
    'deletes one architecture; drops the table with its last one';
