CREATE FUNCTION hopper.run_closing(statement text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hopper_sql_run_closing' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.run_closing(text) IS
    'part of auto_fit(): whether a run is made of its search, which then executes the statement at its end, with the models as $1; NULL: only asks';
