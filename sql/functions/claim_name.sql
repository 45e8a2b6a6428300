CREATE FUNCTION hopper.claim_name(model_table text) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_claim_name' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.claim_name(text) IS
    'part of auto_fit() and cross_validate(): refuses at once where another session''s transaction makes tables of this name';
