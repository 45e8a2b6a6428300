CREATE FUNCTION hopper.losses() RETURNS TABLE (
    name text,
    other_names text,
    arguments text)
    AS 'MODULE_PATHNAME', 'hopper_sql_list' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.losses() IS
    'the losses of compile_params: names and arguments

Task: 3.5 configurations
Example:
SELECT name, arguments FROM hopper.losses();';
