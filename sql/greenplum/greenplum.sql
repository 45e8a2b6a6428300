-- What the coordinator's statements call on the segments; not for users.
CREATE TYPE hopper.segment_row AS (
    mst_key integer,
    next_key integer,
    part integer,
    n_parts integer,
    done boolean,
    missing boolean,
    report bytea,
    result bytea,
    body bytea);
COMMENT ON TYPE hopper.segment_row IS
    'one part of a model that leaves a segment';

CREATE FUNCTION hopper.segment_load(internal, bigint, bytea, integer, integer, integer, integer,
    integer, bytea, bytea, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_load' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_load(internal, bigint, bytea, integer, integer, integer, integer,
    integer, bytea, bytea, bytea) IS
    'internal: takes one buffer of packed data into the memory of a segment';

CREATE FUNCTION hopper.segment_load_end(internal) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_load_end' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_load_end(internal) IS
    'internal: the numerics class of a segment that has its data';

CREATE AGGREGATE hopper.segment_data(run bigint, description bytea, key integer, split integer,
    partition_id integer, buffer_id integer, n integer, x bytea, y bytea, checksum bytea) (
    SFUNC = hopper.segment_load, STYPE = internal, FINALFUNC = hopper.segment_load_end);
COMMENT ON AGGREGATE hopper.segment_data(bigint, bytea, integer, integer, integer, integer, integer,
    bytea, bytea, bytea) IS
    'internal: packed data of one segment into its memory';

CREATE FUNCTION hopper.segment_enter(run bigint, description bytea) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_enter' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_enter(bigint, bytea) IS
    'internal: which models train on a segment from now on';

CREATE FUNCTION hopper.segment_collect(internal, bigint, integer, boolean, integer, integer,
    integer, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_collect' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_collect(internal, bigint, integer, boolean, integer, integer,
    integer, bytea) IS
    'internal: takes one part of a model in';

CREATE FUNCTION hopper.segment_train(internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_train' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_train(internal) IS
    'internal: trains the models that were collected';

CREATE AGGREGATE hopper.segment_visit(run bigint, milliseconds integer, halts boolean,
    mst_key integer, part integer, n_parts integer, body bytea) (
    SFUNC = hopper.segment_collect, STYPE = internal, FINALFUNC = hopper.segment_train);
COMMENT ON AGGREGATE hopper.segment_visit(bigint, integer, boolean, integer, integer, integer,
    bytea) IS
    'internal: the models that visit a segment, trained';

CREATE FUNCTION hopper.segment_emit(trained integer, key integer) RETURNS SETOF hopper.segment_row
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_emit' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_emit(integer, integer) IS
    'internal: the parts of the models that leave a segment';

CREATE FUNCTION hopper.segment_release(run bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_release' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_release(bigint) IS
    'internal: gives up the memory of a run on a segment';

CREATE FUNCTION hopper.segment_gpus() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'MODULE_PATHNAME', 'hopper_sql_gpu_configuration' LANGUAGE C VOLATILE
    EXECUTE ON ALL SEGMENTS;
COMMENT ON FUNCTION hopper.segment_gpus() IS
    'internal: the GPUs that each segment sees';

CREATE OR REPLACE FUNCTION hopper.gpu_configuration() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'SELECT DISTINCT * FROM hopper.segment_gpus() ORDER BY hostname, gpu_index'
    LANGUAGE sql VOLATILE;
COMMENT ON FUNCTION hopper.gpu_configuration() IS
    'the GPUs of all hosts with segments, a row each; no rows where there is none; loads libtorch';
