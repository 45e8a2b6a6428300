-- Where a list often has one element: num_classes := 3 as well as ARRAY[3]. Every number and list of
-- numbers is written and read anew as text, so a list of any integer type will do.
CREATE TYPE hopper.integers;

CREATE FUNCTION hopper.integers_in(value cstring) RETURNS hopper.integers
    AS 'MODULE_PATHNAME', 'hopper_sql_integers_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.integers_in(cstring) IS
    'internal: input of type integers';

CREATE FUNCTION hopper.integers_out(value hopper.integers) RETURNS cstring
    AS 'MODULE_PATHNAME', 'hopper_sql_integers_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.integers_out(hopper.integers) IS
    'internal: output of type integers';

CREATE TYPE hopper.integers (
    INPUT = hopper.integers_in,
    OUTPUT = hopper.integers_out,
    LIKE = integer[]);
COMMENT ON TYPE hopper.integers IS
    'an integer or a list of integers: 3, ARRAY[3, 4] or ''{3,4}''';

CREATE CAST (smallint AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (smallint[] AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (integer[] AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint[] AS hopper.integers) WITH INOUT AS IMPLICIT;
