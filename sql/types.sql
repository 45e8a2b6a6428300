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
CREATE CAST (numeric[] AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS hopper.integers) WITH INOUT AS IMPLICIT;
CREATE CAST (text[] AS hopper.integers) WITH INOUT AS IMPLICIT;

-- Lists of texts: class_values := ARRAY[0, 1] as well as ARRAY['no', 'yes']. A literal that begins with a
-- brace is a list, a value of type text never is; truth values are written as the classes of a boolean label.
CREATE TYPE hopper.texts;

CREATE FUNCTION hopper.texts_in(value cstring) RETURNS hopper.texts
    AS 'MODULE_PATHNAME', 'hopper_sql_texts_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.texts_in(cstring) IS
    'internal: input of type texts';

CREATE FUNCTION hopper.texts_out(value hopper.texts) RETURNS cstring
    AS 'MODULE_PATHNAME', 'hopper_sql_texts_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.texts_out(hopper.texts) IS
    'internal: output of type texts';

CREATE TYPE hopper.texts (
    INPUT = hopper.texts_in,
    OUTPUT = hopper.texts_out,
    LIKE = text[]);
COMMENT ON TYPE hopper.texts IS
    'a text or a list of texts, or of what can be written as text: ''a'', ARRAY[''a'', ''b''], ARRAY[0, 1]';

CREATE FUNCTION hopper.texts_of(value text) RETURNS hopper.texts
    AS 'MODULE_PATHNAME', 'hopper_sql_texts_of_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.texts_of(text) IS
    'internal: a text as texts';

CREATE FUNCTION hopper.texts_of(value boolean[]) RETURNS hopper.texts
    AS 'MODULE_PATHNAME', 'hopper_sql_texts_of_booleans' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.texts_of(boolean[]) IS
    'internal: truth values as texts';

CREATE CAST (text AS hopper.texts) WITH FUNCTION hopper.texts_of(text) AS IMPLICIT;
CREATE CAST (character varying AS hopper.texts) WITH FUNCTION hopper.texts_of(text) AS IMPLICIT;
CREATE CAST (boolean[] AS hopper.texts) WITH FUNCTION hopper.texts_of(boolean[]) AS IMPLICIT;
CREATE CAST (text[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (character varying[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (character[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (name[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (smallint[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (integer[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (json[] AS hopper.texts) WITH INOUT AS IMPLICIT;
CREATE CAST (jsonb[] AS hopper.texts) WITH INOUT AS IMPLICIT;

-- An architecture, parameters or a search space: what is written as text may come as JSON as well, so that
-- jsonb_build_object() and columns of type json need no cast. It is kept as text.
CREATE TYPE hopper.text_or_json;

CREATE FUNCTION hopper.text_or_json_in(value cstring) RETURNS hopper.text_or_json
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.text_or_json_in(cstring) IS
    'internal: input of type text_or_json';

CREATE FUNCTION hopper.text_or_json_out(value hopper.text_or_json) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.text_or_json_out(hopper.text_or_json) IS
    'internal: output of type text_or_json';

CREATE TYPE hopper.text_or_json (
    INPUT = hopper.text_or_json_in,
    OUTPUT = hopper.text_or_json_out,
    LIKE = text);
COMMENT ON TYPE hopper.text_or_json IS
    'an architecture, parameters or a search space, as text, json or jsonb';

CREATE CAST (text AS hopper.text_or_json) WITH INOUT AS IMPLICIT;
CREATE CAST (character varying AS hopper.text_or_json) WITH INOUT AS IMPLICIT;
CREATE CAST (json AS hopper.text_or_json) WITH INOUT AS IMPLICIT;
CREATE CAST (jsonb AS hopper.text_or_json) WITH INOUT AS IMPLICIT;

-- Columns: 'age, income' as well as ARRAY['age', 'income'], and, by inputs or outputs, JSON. It is kept as
-- text; names in a list are written with the quotes that they need.
CREATE TYPE hopper.columns;

CREATE FUNCTION hopper.columns_in(value cstring) RETURNS hopper.columns
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_in(cstring) IS
    'internal: input of type columns';

CREATE FUNCTION hopper.columns_out(value hopper.columns) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_out(hopper.columns) IS
    'internal: output of type columns';

CREATE TYPE hopper.columns (
    INPUT = hopper.columns_in,
    OUTPUT = hopper.columns_out,
    LIKE = text);
COMMENT ON TYPE hopper.columns IS
    'columns: ''age, income'', ARRAY[''age'', ''income''], or by inputs or outputs ''{"image": "pixels"}''';

CREATE FUNCTION hopper.columns_of(value name) RETURNS hopper.columns
    AS 'MODULE_PATHNAME', 'hopper_sql_columns_of_name' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_of(name) IS
    'internal: a name as columns';

CREATE FUNCTION hopper.columns_of(value text[]) RETURNS hopper.columns
    AS 'MODULE_PATHNAME', 'hopper_sql_columns_of_names' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_of(text[]) IS
    'internal: a list of names as columns';

CREATE FUNCTION hopper.columns_of(value name[]) RETURNS hopper.columns
    AS 'MODULE_PATHNAME', 'hopper_sql_columns_of_names' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_of(name[]) IS
    'internal: a list of names as columns';

CREATE CAST (text AS hopper.columns) WITH INOUT AS IMPLICIT;
CREATE CAST (character varying AS hopper.columns) WITH INOUT AS IMPLICIT;
CREATE CAST (name AS hopper.columns) WITH FUNCTION hopper.columns_of(name) AS IMPLICIT;
CREATE CAST (text[] AS hopper.columns) WITH FUNCTION hopper.columns_of(text[]) AS IMPLICIT;
CREATE CAST (name[] AS hopper.columns) WITH FUNCTION hopper.columns_of(name[]) AS IMPLICIT;
-- What information_schema.columns has; each in one line, because Greenplum goes without.
CREATE FUNCTION hopper.columns_of(value information_schema.sql_identifier[]) RETURNS hopper.columns AS 'MODULE_PATHNAME', 'hopper_sql_columns_of_names' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.columns_of(information_schema.sql_identifier[]) IS 'internal: a list of names as columns';
CREATE CAST (information_schema.sql_identifier[] AS hopper.columns) WITH FUNCTION hopper.columns_of(information_schema.sql_identifier[]) AS IMPLICIT;
CREATE CAST (json AS hopper.columns) WITH INOUT AS IMPLICIT;
CREATE CAST (jsonb AS hopper.columns) WITH INOUT AS IMPLICIT;

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
CREATE CAST (character varying AS hopper.pad_length) WITH INOUT AS IMPLICIT;
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

-- What becomes of a table that is there: replace := true as well as 'rows'. It is kept as text, and read
-- where it is an argument.
CREATE TYPE hopper.replacement;

CREATE FUNCTION hopper.replacement_in(value cstring) RETURNS hopper.replacement
    AS 'textin' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.replacement_in(cstring) IS
    'internal: input of type replacement';

CREATE FUNCTION hopper.replacement_out(value hopper.replacement) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.replacement_out(hopper.replacement) IS
    'internal: output of type replacement';

CREATE TYPE hopper.replacement (
    INPUT = hopper.replacement_in,
    OUTPUT = hopper.replacement_out,
    LIKE = text);
COMMENT ON TYPE hopper.replacement IS
    'what becomes of a table that is there: false, true, or ''rows'', whose place new rows take';

CREATE CAST (boolean AS hopper.replacement) WITH INOUT AS IMPLICIT;
CREATE CAST (text AS hopper.replacement) WITH INOUT AS IMPLICIT;
CREATE CAST (character varying AS hopper.replacement) WITH INOUT AS IMPLICIT;

-- A literal without a type where rows are named by theirs: predict_rows('models', NULL). The server would
-- say that it cannot determine a polymorphic type; input says what to write.
CREATE TYPE hopper.untyped;

CREATE FUNCTION hopper.untyped_in(value cstring) RETURNS hopper.untyped
    AS 'MODULE_PATHNAME', 'hopper_sql_untyped_in' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION hopper.untyped_in(cstring) IS
    'internal: input of type untyped';

CREATE FUNCTION hopper.untyped_out(value hopper.untyped) RETURNS cstring
    AS 'textout' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.untyped_out(hopper.untyped) IS
    'internal: output of type untyped';

-- The category of strings, which literals go to first.
CREATE TYPE hopper.untyped (
    INPUT = hopper.untyped_in,
    OUTPUT = hopper.untyped_out,
    LIKE = text,
    CATEGORY = 'S');
COMMENT ON TYPE hopper.untyped IS
    'a literal without a type in the place of rows; there are no values of it';
