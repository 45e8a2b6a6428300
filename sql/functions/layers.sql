CREATE FUNCTION hopper.layers() RETURNS TABLE (
    class_name text,
    weights text,
    description text)
    AS 'MODULE_PATHNAME', 'hopper_sql_layers' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.layers() IS
    'the Keras layers that can be trained, and the weights of each

Task: 2.4 architectures
Example:
SELECT class_name, weights FROM hopper.layers();';
