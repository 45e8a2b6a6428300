CREATE FUNCTION hopper.show_as(name text, shown text) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_show_as' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.show_as(text, text) IS
    'part of cross_validate(): what messages call a table, and those whose names begin with its name and "_", until the statement ends';
