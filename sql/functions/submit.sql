CREATE FUNCTION hopper.submit(
    statement text)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_submit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.submit(text) IS
    'trains in the background: returns the number of a run, which goes on when the session ends

Task: 4.5 train
statement: one SELECT that calls fit(), fit_multiple_model(), automl(), auto_fit() or cross_validate()
Example:
SELECT hopper.submit($$SELECT hopper.fit_multiple_model(''points_packed'', ''night_models'', ''configs'', 2)$$);';
