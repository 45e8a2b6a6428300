CREATE FUNCTION hopper.run_closing(statement text, function text DEFAULT NULL, model_table text DEFAULT NULL) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hopper_sql_run_closing' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.run_closing(text, text, text) IS
    'part of auto_fit() and cross_validate(): whether a run is made of what trains next, or goes on with it, which then executes the statement at its end, with the models as $1; function and model_table: what hopper.runs says of it; NULL: only asks';
