\echo Use "CREATE EXTENSION model_hopper" to load this file. \quit

-- Of the functions that an older library lacks the server would tell the first one's symbol alone.
CREATE FUNCTION hopper.version_here() RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_version' LANGUAGE C VOLATILE PARALLEL UNSAFE;
DO $$
DECLARE
    files text := extversion FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'model_hopper';
    library text;
BEGIN
    FOR library IN SELECT pg_catalog.substring(version, 'library ([0-9.]+)') FROM (SELECT hopper.version_here()
        /* UNION ALL SELECT hopper.version_here() FROM gp_dist_random('pg_catalog.gp_id') */) AS hosts (version) LOOP
        IF pg_catalog.string_to_array(library, '.')::pg_catalog.int4[]
            OPERATOR(pg_catalog.<) pg_catalog.string_to_array(files, '.')::pg_catalog.int4[] THEN
            RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = pg_catalog.format(
                'the SQL files of model_hopper are of version %s, but the library is of version %s', files, library),
                HINT = pg_catalog.format('Install version %s everywhere, on all hosts of a cluster, and reconnect; '
                    'where shared_preload_libraries names model_hopper, restart the server.', files);
        END IF;
    END LOOP;
END
$$;
DROP FUNCTION hopper.version_here();

-- Refuses a schema hopper in which others can create objects.
CREATE FUNCTION hopper.check_schema() RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_check_schema' LANGUAGE C VOLATILE PARALLEL UNSAFE;
SELECT hopper.check_schema();
DROP FUNCTION hopper.check_schema();

COMMENT ON SCHEMA hopper IS
    'deep-learning model selection inside the database: models hop, data does not';
