\echo Use "CREATE EXTENSION model_hopper" to load this file. \quit

-- Refuses a schema hopper in which others can create objects.
CREATE FUNCTION hopper.check_schema() RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_check_schema' LANGUAGE C VOLATILE PARALLEL UNSAFE;
SELECT hopper.check_schema();
DROP FUNCTION hopper.check_schema();

COMMENT ON SCHEMA hopper IS
    'deep-learning model selection inside the database: models hop, data does not';
