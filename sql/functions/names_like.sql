CREATE FUNCTION hopper.names_like(name text, argument text, longest text) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_names_like' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.names_like(text, text, text) IS
    'part of auto_fit() and cross_validate(): for format(), the names of tables that go with a table: the name, quoted where it must be, with %s where their endings go';
