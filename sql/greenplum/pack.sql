-- Packing on the segments: what training_preprocessor() and validation_preprocessor() call there;
-- not for users.
CREATE TYPE hopper.packed_buffer AS (
    partition_id integer,
    buffer_id integer,
    n integer,
    x bytea,
    y bytea,
    x_shape integer[],
    y_shape integer[],
    checksum bytea);
COMMENT ON TYPE hopper.packed_buffer IS
    'one buffer of a packed table';

CREATE FUNCTION hopper.segment_encode(rows anytable, job bytea) RETURNS TABLE (
    key bytea,
    stratum integer,
    body bytea)
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_encode' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_encode(anytable, bytea) IS
    'internal: rows of the source as packed bytes with their rank keys';

CREATE FUNCTION hopper.segment_slot(plan bytea, key bytea, stratum integer, segment integer,
    place tid) RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot(bytea, bytea, integer, integer, tid) IS
    'internal: distribution key and buffer of a row; null where it goes to another table';

CREATE FUNCTION hopper.segment_rank_copy(key bytea, n bigint) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_rank_copy' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_rank_copy(bytea, bigint) IS
    'internal: the rank key of the n-th of equal rows';

CREATE FUNCTION hopper.segment_slot_key(slot bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot_key' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot_key(bigint) IS
    'internal: the distribution key in a slot';

CREATE FUNCTION hopper.segment_slot_buffer(slot bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot_buffer' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot_buffer(bigint) IS
    'internal: the buffer in a slot';

CREATE FUNCTION hopper.segment_buffer_row(internal, bytea, integer, bigint, bytea)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_buffer_row' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_buffer_row(internal, bytea, integer, bigint, bytea) IS
    'internal: takes a row into a buffer';

CREATE FUNCTION hopper.segment_buffer_end(internal) RETURNS hopper.packed_buffer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_buffer_end' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_buffer_end(internal) IS
    'internal: a buffer that is full';

CREATE AGGREGATE hopper.segment_buffer(plan bytea, buffer integer, rank bigint, body bytea) (
    SFUNC = hopper.segment_buffer_row, STYPE = internal,
    FINALFUNC = hopper.segment_buffer_end);
COMMENT ON AGGREGATE hopper.segment_buffer(bytea, integer, bigint, bytea) IS
    'internal: rows in rank order become a buffer';
