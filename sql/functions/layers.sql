CREATE FUNCTION hopper.layers() RETURNS TABLE (
    class_name text,
    arguments text,
    weights text,
    description text,
    since text)
    AS 'MODULE_PATHNAME', 'hopper_sql_layers' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.layers() IS
    'the Keras layers that can be trained: the arguments of each that count, its weights, and the first Keras that has it

Task: 2.4 architectures
Example:
SELECT class_name, arguments, since FROM hopper.layers();';
