CREATE FUNCTION hopper.claim_names(name text, outputs text[], replace boolean, source regclass) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hopper_sql_claim_names' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.claim_names(text, text[], boolean, regclass) IS
    'part of auto_fit() and cross_validate(): refuses at once what they could not make, pairs of a kind and an ending of the name; returns whether something is there that will be replaced. Messages call views among them what they call the source, whose rows they have';
