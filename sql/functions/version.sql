CREATE FUNCTION hopper.version() RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_version' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.version() IS
    'version of the extension in this database and of its library; does not load libtorch

Task: 9.2 server
Example:
SELECT hopper.version();';
