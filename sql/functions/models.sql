CREATE FUNCTION hopper.models() RETURNS TABLE (
    schema text,
    model_table text,
    trained timestamp with time zone,
    packed_table text,
    validation_table text,
    models bigint,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    bytes bigint,
    owner text,
    name text,
    description text,
    seconds double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_models' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.models() IS
    'the tables of models that you may read: from what and when they were trained, how many models they hold, the best of them, size and owner, the run''s name and description, and how long it took

Task: 8.1 models
Example:
SELECT * FROM hopper.models();';
