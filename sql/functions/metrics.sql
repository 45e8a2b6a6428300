CREATE FUNCTION hopper.metrics() RETURNS TABLE (
    name text,
    other_names text,
    arguments text,
    better text)
    AS 'MODULE_PATHNAME', 'hopper_sql_list' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.metrics() IS
    'the metrics of compile_params, losses among them: names, arguments, and whether larger or smaller values are the better ones

Task: 3.4 configurations
Example:
SELECT name, arguments FROM hopper.metrics() WHERE better = ''larger'';';
