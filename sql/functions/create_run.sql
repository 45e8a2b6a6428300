CREATE FUNCTION hopper.create_run(
    statement text)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_create_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.create_run(text) IS
    'looks at a call that trains and makes a run of it, which train(), step() or resume() begins

Task: 4.4 train
statement: one SELECT that calls fit(), fit_multiple_model(), automl(), auto_fit() or cross_validate()
Example:
SELECT hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''stepped_models'', ''configs'', 2)$$);';
