CREATE FUNCTION hopper.fits_at_once(statements text[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_fits_at_once' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fits_at_once(text[]) IS
    'part of cross_validate(): how many such calls of fit_multiple_model() are to be trained at the same time, those that fit into memory and not more than threads are busy with; trains nothing';
