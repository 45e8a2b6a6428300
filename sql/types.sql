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

-- A length, or what stands for one: pad_to := 40 as well as 'longest' and '{"words": 40}'. It is kept as
-- text, and read where it is an argument.
CREATE TYPE hopper.pad_length;

CREATE FUNCTION hopper.pad_length_in(value cstring) RETURNS hopper.pad_length
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pad_length_in(cstring) IS
    'internal: input of type pad_length';

CREATE FUNCTION hopper.pad_length_out(value hopper.pad_length) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pad_length_out(hopper.pad_length) IS
    'internal: output of type pad_length';

CREATE TYPE hopper.pad_length (
    INPUT = hopper.pad_length_in,
    OUTPUT = hopper.pad_length_out,
    LIKE = text);
COMMENT ON TYPE hopper.pad_length IS
    'steps that sequences are padded to: 40, ''longest'', or by input ''{"words": 40, "prices": "longest"}''';

CREATE CAST (smallint AS hopper.pad_length) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS hopper.pad_length) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint AS hopper.pad_length) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS hopper.pad_length) WITH INOUT AS IMPLICIT;
CREATE CAST (json AS hopper.pad_length) WITH INOUT AS IMPLICIT;
CREATE CAST (jsonb AS hopper.pad_length) WITH INOUT AS IMPLICIT;

-- What predict() returns: pred_type := 3 as well as 'response' and 0.5. It is kept as text, and read
-- where it is an argument; a floating-point number is written with a point, an integer without.
CREATE TYPE hopper.pred_type;

CREATE FUNCTION hopper.pred_type_in(value cstring) RETURNS hopper.pred_type
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pred_type_in(cstring) IS
    'internal: input of type pred_type';

CREATE FUNCTION hopper.pred_type_out(value hopper.pred_type) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pred_type_out(hopper.pred_type) IS
    'internal: output of type pred_type';

CREATE TYPE hopper.pred_type (
    INPUT = hopper.pred_type_in,
    OUTPUT = hopper.pred_type_out,
    LIKE = text);
COMMENT ON TYPE hopper.pred_type IS
    'classes that predict() returns: ''prob'', ''response'', a number of them, or a probability';

CREATE FUNCTION hopper.pred_type_of(value real) RETURNS hopper.pred_type
    AS 'MODULE_PATHNAME', 'hopper_sql_pred_type_of_real' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pred_type_of(real) IS
    'internal: a real as pred_type';

CREATE FUNCTION hopper.pred_type_of(value double precision) RETURNS hopper.pred_type
    AS 'MODULE_PATHNAME', 'hopper_sql_pred_type_of_double' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.pred_type_of(double precision) IS
    'internal: a double precision as pred_type';

CREATE CAST (smallint AS hopper.pred_type) WITH INOUT AS IMPLICIT;
CREATE CAST (integer AS hopper.pred_type) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint AS hopper.pred_type) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric AS hopper.pred_type) WITH INOUT AS IMPLICIT;
CREATE CAST (real AS hopper.pred_type) WITH FUNCTION hopper.pred_type_of(real) AS IMPLICIT;
CREATE CAST (double precision AS hopper.pred_type) WITH FUNCTION hopper.pred_type_of(double precision) AS IMPLICIT;
CREATE CAST (text AS hopper.pred_type) WITH INOUT AS IMPLICIT;
CREATE CAST (character varying AS hopper.pred_type) WITH INOUT AS IMPLICIT;
