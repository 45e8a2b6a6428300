CREATE FUNCTION hopper.fit_together(statements text[]) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_fit_together' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit_together(text[]) IS
    'part of cross_validate(): trains what several calls of fit_multiple_model() ask for, at the same time where all fit into memory, with the results that each has alone';
