CREATE FUNCTION hopper.losses() RETURNS TABLE (
    name text,
    other_names text,
    arguments text,
    labels text)
    AS 'MODULE_PATHNAME', 'hopper_sql_list' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.losses() IS
    'the losses of compile_params: names, arguments, and what labels they are for

Task: 3.5 configurations
Example:
SELECT name, arguments FROM hopper.losses() WHERE labels = ''classes'';';
