CREATE FUNCTION hopper.check_configs(
    model_selection_table text,
    packed_table text DEFAULT NULL)
RETURNS TABLE (
    mst_key integer,
    severity text,
    sqlstate text,
    message text,
    detail text,
    hint text)
    AS 'MODULE_PATHNAME', 'hopper_sql_check_configs' LANGUAGE C STABLE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.check_configs(text, text) IS
    'every problem of every configuration, a row each, with a packed table also whether models and data fit; no rows: all is well

Task: 3.3 configurations
model_selection_table: table of configurations, made by generate_model_configs() or load_model_selection_table()
packed_table: packed training table to check the configurations against
Example:
SELECT mst_key, message FROM hopper.check_configs(model_selection_table := ''configs'', packed_table := ''points_packed'');';
