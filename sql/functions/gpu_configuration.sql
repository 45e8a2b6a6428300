CREATE FUNCTION hopper.gpu_configuration() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'MODULE_PATHNAME', 'hopper_sql_gpu_configuration' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.gpu_configuration() IS
    'the GPUs of the server''s machine, a row each; no rows where there is none; loads libtorch

Task: 9.4 server
Example:
SELECT * FROM hopper.gpu_configuration();';
