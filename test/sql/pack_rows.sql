-- Packing: what the packed table holds, for every type of features and labels.
SET client_min_messages = warning;
SET search_path = public;

-- Bytes of a number as the packed table holds it: little-endian.
CREATE FUNCTION reversed(value bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(substring(value FROM i FOR 1), ''::bytea ORDER BY i DESC)
    FROM generate_series(1, length(value)) AS i
$$;

-- 17 rows of 2 x 3 numbers, as in MADlib's tests.
CREATE TABLE image_data (id int PRIMARY KEY, x real[], y text);
INSERT INTO image_data
SELECT i, ARRAY[ARRAY[i, i + 1, -i], ARRAY[i / 4.0, 255, 0]], (ARRAY['dog', 'cat', 'bird'])[1 + i % 3]
FROM generate_series(1, 17) AS i;

SELECT hopper.training_preprocessor('image_data', 'packed', 'y', 'x', 5, 5);

SELECT attname, atttypid::regtype, attstorage FROM pg_attribute
WHERE attrelid = 'packed'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname, atttypid::regtype FROM pg_attribute
WHERE attrelid = 'packed_summary'::regclass AND attnum > 0 ORDER BY attnum;

SELECT partition_id, buffer_id, n, x_shape, y_shape, length(x) AS x_bytes, length(y) AS y_bytes,
       length(checksum) AS checksum_bytes
FROM packed ORDER BY buffer_id;

-- All rows are there, with their own label, features unscaled.
CREATE VIEW packed_examples AS
SELECT substring(x FROM 1 + i * 24 FOR 24) AS x, get_byte(y, i) AS y
FROM packed, generate_series(0, n - 1) AS i;
SELECT count(*) AS same FROM packed_examples p JOIN (
    SELECT (SELECT string_agg(reversed(float4send(v)), ''::bytea ORDER BY i)
            FROM unnest(d.x) WITH ORDINALITY AS u(v, i)) AS x,
           array_position(ARRAY['bird', 'cat', 'dog'], d.y) - 1 AS y
    FROM image_data d) s USING (x, y);
SELECT source_table, output_table, dependent_varname, independent_varname, dependent_vartype,
       y_class_values, buffer_size, normalizing_const, num_classes, distribution_rules,
       __internal_gpu_config__
FROM packed_summary;
SELECT independent_vartype, independent_type, independent_shape, label_kind, label_type, label_shape,
       n_rows, partitions, starts, seed, packed_bytes, length(checksum) AS checksum, training_table,
       format_version
FROM packed_summary;

-- More partitions than buffer_size would need, fewer, one; the rows are spread evenly.
SELECT hopper.training_preprocessor('image_data', 'packed_7', 'y', 'x', partitions => 7);
SELECT partition_id, sum(n) AS rows, count(*) AS buffers FROM packed_7 GROUP BY 1 ORDER BY 1;
SELECT hopper.training_preprocessor('image_data', 'packed_1', 'y', 'x', 4, partitions => 1);
SELECT partition_id, buffer_id, n FROM packed_1 ORDER BY buffer_id;
SELECT hopper.training_preprocessor('image_data', 'packed_17', 'y', 'x', 1, partitions => 17,
                                    starts => ARRAY[0, 5, 16]);
SELECT count(*), min(n), max(n) FROM packed_17;
SELECT buffer_size, partitions, starts FROM packed_17_summary;

-- Every type of features keeps its own type, but for numeric.
CREATE TABLE typed AS SELECT i AS id, i::smallint AS y,
    ARRAY[i, -i]::smallint[] AS x_smallint, ARRAY[i, -i]::int[] AS x_int, ARRAY[i, -i]::bigint[] AS x_bigint,
    ARRAY[i, 0.5]::real[] AS x_real, ARRAY[i, 0.5]::float8[] AS x_double, ARRAY[i, 0.5]::numeric[] AS x_numeric,
    ARRAY[i > 1, true] AS x_boolean, decode(lpad(to_hex(i), 2, '0') || 'ff0a0b', 'hex') AS x_bytea,
    i AS scalar_int, (i / 2.0)::real AS scalar_real, i > 1 AS scalar_boolean, i::float8 AS scalar_double,
    i::numeric AS scalar_numeric, i::smallint AS scalar_smallint
FROM generate_series(1, 3) AS i;
CREATE FUNCTION pack_typed(columns text, name text, shape int[] DEFAULT NULL)
RETURNS TABLE (independent_varname text[], independent_type text, independent_shape int[], packed text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hopper.training_preprocessor('typed', 'typed_packed', 'y', columns, image_shape => shape);
    RETURN QUERY EXECUTE format(
        'SELECT s.independent_varname, s.independent_type, s.independent_shape,
                (SELECT string_agg(encode(%1$I, ''hex''), '' '' ORDER BY y) FROM typed_packed)
         FROM typed_packed_summary s', name);
    DROP TABLE typed_packed, typed_packed_summary;
END $$;
SELECT p.* FROM unnest(ARRAY['smallint', 'int', 'bigint', 'real', 'double', 'numeric', 'boolean']) AS t(name),
    pack_typed('x_' || name, 'x_' || name) AS p;
SELECT * FROM pack_typed('x_bytea', 'x_bytea', ARRAY[2, 2, 1]);
SELECT * FROM pack_typed('x_bytea', 'x_bytea', ARRAY[4]);
SELECT * FROM pack_typed('x_int', 'x_int', ARRAY[1, 2, 1]);
SELECT * FROM pack_typed('scalar_int', 'scalar_int');
SELECT * FROM pack_typed('scalar_boolean, scalar_smallint', 'features');
SELECT * FROM pack_typed('scalar_int, scalar_real,scalar_boolean', 'features');
SELECT * FROM pack_typed('scalar_int, scalar_double', 'features');
SELECT * FROM pack_typed('scalar_boolean, scalar_numeric', 'features');

-- Every type of labels; NULL is a class and comes first, text is in byte order.
CREATE TYPE size AS ENUM ('small', 'large', 'huge');
CREATE DOMAIN score AS real;
CREATE TABLE labelled AS SELECT ARRAY[i] AS x,
    CASE i % 3 WHEN 1 THEN true WHEN 2 THEN false END AS y_boolean, i % 2 = 0 AS y_two,
    (ARRAY[100, -5, NULL, 20])[i] AS y_int, (ARRAY[-1, 9000000000, 9000000000, 0])[i] AS y_bigint,
    (ARRAY['b', 'a', 'B', ''])[i] AS y_text, (ARRAY['b', 'a', NULL, 'b'])[i]::varchar(9) AS y_varchar,
    (ARRAY['b', 'a ', 'a', 'c'])[i]::char(3) AS y_char, (ARRAY['huge', 'small', NULL, 'large'])[i]::size AS y_enum,
    NULL::text AS y_null, (i / 4.0)::real AS y_real, (i / 4.0)::float8 AS y_double, i / 4.0 AS y_numeric,
    (i / 4.0)::score AS y_score,
    ARRAY[i % 2, 1 - i % 2] AS y_ints, ARRAY[i / 4.0, 1]::float8[] AS y_doubles, ARRAY[i / 4.0, 1]::real[] AS y_reals,
    ARRAY[ARRAY[i], ARRAY[1]]::smallint[] AS y_matrix
FROM generate_series(1, 4) AS i;
CREATE FUNCTION pack_labelled(name text, classes int[] DEFAULT NULL)
RETURNS TABLE (vartype text[], class_values text, values_type text, num_classes int[], label_kind text,
               label_type text, label_shape int[], packed text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hopper.training_preprocessor('labelled', 'labelled_packed', name, 'x', 1, num_classes => classes, null_labels => 'class');
    RETURN QUERY EXECUTE format(
        'SELECT s.dependent_vartype, s.%1$I::text, pg_typeof(s.%1$I)::text, s.num_classes, s.label_kind,
                s.label_type, s.label_shape,
                (SELECT string_agg(encode(p.%2$I, ''hex''), '' '' ORDER BY p.x) FROM labelled_packed p)
         FROM labelled_packed_summary s', name || '_class_values', name);
    DROP TABLE labelled_packed, labelled_packed_summary;
END $$;
SELECT p.* FROM unnest(ARRAY['boolean', 'two', 'int', 'bigint', 'text', 'varchar', 'char', 'enum', 'null'])
    AS t(name), pack_labelled('y_' || name) AS p;
SELECT p.* FROM unnest(ARRAY['real', 'double', 'numeric', 'score', 'ints', 'doubles', 'reals', 'matrix'])
    AS t(name), pack_labelled('y_' || name) AS p;

-- num_classes pads the classes with NULLs, and decides on the type of the index.
SELECT p.* FROM pack_labelled('y_varchar', ARRAY[6]) AS p;
SELECT class_values, num_classes, packed FROM pack_labelled('y_null', ARRAY[3]);
SELECT n, label_type, cardinality(class_values::text[]), packed
FROM unnest(ARRAY[256, 257, 32768, 32769]) AS n, pack_labelled('y_text', ARRAY[n]);

DROP TABLE image_data, packed, packed_summary, packed_7, packed_7_summary, packed_1, packed_1_summary,
    packed_17, packed_17_summary, typed, labelled CASCADE;
DROP FUNCTION reversed(bytea);
DROP FUNCTION pack_typed(text, text, int[]);
DROP FUNCTION pack_labelled(text, int[]);
DROP TYPE size;
DROP DOMAIN score;
