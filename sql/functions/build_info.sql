CREATE FUNCTION hopper.build_info() RETURNS TABLE (
    name text,
    value text)
    AS 'MODULE_PATHNAME', 'hopper_sql_build_info' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.build_info() IS
    'instruction set, threads; libtorch and CUDA where libtorch is installed, which is loaded

Task: 9.3 server
Example:
SELECT * FROM hopper.build_info();';
