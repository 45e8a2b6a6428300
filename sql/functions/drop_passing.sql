CREATE FUNCTION hopper.drop_passing(model_table text) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_drop_passing' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.drop_passing(text) IS
    'part of auto_fit(): drops a model that was made on the way, and what hopper.runs says of it';
