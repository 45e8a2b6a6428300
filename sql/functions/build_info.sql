CREATE FUNCTION hopper.build_info() RETURNS TABLE (
    name text,
    value text)
    AS 'MODULE_PATHNAME', 'hopper_sql_build_info' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.build_info() IS
    'libtorch and what it was built with, instruction set, threads, CUDA; loads libtorch

Task: 9.3 server
Example:
SELECT * FROM hopper.build_info();';
