-- Evaluation on the segments: what evaluate() calls there; not for users.
CREATE FUNCTION hopper.segment_evaluation_row(internal, bytea, integer, integer, integer, integer,
    bytea, bytea, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_row' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_evaluation_row(internal, bytea, integer, integer, integer,
    integer, bytea, bytea, bytea) IS
    'internal: takes one buffer of packed data into an evaluation';

CREATE FUNCTION hopper.segment_evaluation_end(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_end' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_evaluation_end(internal) IS
    'internal: the sums of the partitions of one segment';

CREATE AGGREGATE hopper.segment_evaluation(description bytea, key integer, partition_id integer,
    buffer_id integer, n integer, x bytea, y bytea, checksum bytea) (
    SFUNC = hopper.segment_evaluation_row, STYPE = internal,
    FINALFUNC = hopper.segment_evaluation_end);
COMMENT ON AGGREGATE hopper.segment_evaluation(bytea, integer, integer, integer, integer, bytea,
    bytea, bytea) IS
    'internal: evaluates one segment''s partitions of packed data';

CREATE FUNCTION hopper.segment_evaluation_total(description bytea, sums bytea)
    RETURNS TABLE (event bytea, confusion bytea)
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_total' LANGUAGE C VOLATILE
    EXECUTE ON ALL SEGMENTS;
COMMENT ON FUNCTION hopper.segment_evaluation_total(bytea, bytea) IS
    'internal: loss and metrics from the sums of all segments';
