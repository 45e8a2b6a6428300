CREATE FUNCTION hopper.fit_together(statements text[], recorded boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_fit_together' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit_together(text[], boolean) IS
    'part of auto_fit() and cross_validate(): trains what several calls of fit_multiple_model() or fit() ask for, at the same time where all fit into memory, with the results that each has alone; hopper.runs has none of them, or the last one alone (recorded)';
