CREATE FUNCTION hopper.source_hash(source regclass, named text, seed bigint, left_out text DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_source_hash' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION hopper.source_hash(regclass, text, bigint, text) IS
    'part of auto_fit() and cross_validate(): an SQL expression, a bigint of a row''s values (of one column, named quoted, or of all but one) that no setting of a session changes';
