-- Packing: order is a function of content and seed; splits; names; sources other than tables.
SET client_min_messages = warning;
SET search_path = public;

CREATE TABLE numbers (id int PRIMARY KEY, x int[], y text, fold boolean);
INSERT INTO numbers
SELECT i, ARRAY[i, i * i % 17, i % 5], CASE WHEN i % 10 < 6 THEN 'a' WHEN i % 10 < 9 THEN 'b' END, i % 4 = 0
FROM generate_series(1, 200) AS i;
-- Equal rows in other orders, one of them with holes of dead rows.
CREATE TABLE numbers_backwards AS SELECT * FROM numbers ORDER BY id DESC;
CREATE TABLE numbers_updated AS SELECT * FROM numbers ORDER BY md5(id::text);
UPDATE numbers_updated SET fold = NOT fold WHERE id % 3 = 0;
DELETE FROM numbers_updated WHERE id % 3 = 0;
INSERT INTO numbers_updated SELECT * FROM numbers WHERE id % 3 = 0;

SELECT hopper.training_preprocessor('numbers', 'p', 'y', 'x', 7, null_labels => 'class');
SELECT hopper.training_preprocessor('numbers_backwards', 'p_backwards', 'y', 'x', 7, null_labels => 'class');
SELECT hopper.training_preprocessor('numbers_updated', 'p_updated', 'y', 'x', 7, null_labels => 'class');
SELECT hopper.training_preprocessor('numbers', 'p_seed', 'y', 'x', 7, seed => 1, null_labels => 'class');
SELECT count(*) AS equal FROM p JOIN p_backwards USING (partition_id, buffer_id, n, x, y, x_shape, y_shape, checksum);
SELECT count(*) AS equal FROM p JOIN p_updated USING (partition_id, buffer_id, n, x, y, x_shape, y_shape, checksum);
SELECT count(*) AS equal FROM p JOIN p_seed USING (partition_id, buffer_id, x);
SELECT count(*) AS buffers FROM p;
SELECT a.checksum = b.checksum AS backwards, a.checksum = c.checksum AS updated, a.checksum = d.checksum AS seed,
       d.seed AS its_seed
FROM p_summary a, p_backwards_summary b, p_updated_summary c, p_seed_summary d;

-- A sort that does not fit memory gives the same.
SET maintenance_work_mem = '1MB';
CREATE TABLE wide AS SELECT i AS id, ARRAY(SELECT (i * k % 251)::smallint FROM generate_series(1, 2000) AS k) AS x,
    i % 3 AS y FROM generate_series(1, 500) AS i;
SELECT hopper.training_preprocessor('wide', 'wide_small', 'y', 'x');
RESET maintenance_work_mem;
SELECT hopper.training_preprocessor('wide', 'wide_large', 'y', 'x');
SELECT a.checksum = b.checksum AS equal, a.packed_bytes FROM wide_small_summary a, wide_large_summary b;

-- The rows' labels as a function of the packed table, for counting.
CREATE FUNCTION labels(packed text) RETURNS TABLE (class int, rows bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT get_byte(y, i), count(*) FROM %s, generate_series(0, n - 1) AS i GROUP BY 1 ORDER BY 1', packed);
END $$;
CREATE FUNCTION ids(packed text) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT get_byte(x, 12 * i) FROM %s, generate_series(0, n - 1) AS i', packed);
END $$;

-- validation_fraction takes its share of each class: 20 NULL, 120 a, 60 b.
SELECT hopper.training_preprocessor('numbers', 'split', 'y', 'x', 7, validation_fraction => 0.15, null_labels => 'class');
SELECT * FROM labels('split');
SELECT * FROM labels('split_validation');
SELECT count(*), count(DISTINCT id) FROM (SELECT ids('split') AS id UNION ALL SELECT ids('split_validation')) AS s;
SELECT n_rows, partitions, y_class_values, training_table FROM split_summary;
SELECT n_rows, partitions, y_class_values, training_table FROM split_validation_summary;
SELECT hopper.training_preprocessor('numbers_backwards', 'split_backwards', 'y', 'x', 7, validation_fraction => 0.15, null_labels => 'class');
SELECT a.checksum = b.checksum AS training, c.checksum = d.checksum AS validation
FROM split_summary a, split_backwards_summary b, split_validation_summary c, split_backwards_validation_summary d;
-- without classes, of all rows
CREATE VIEW regression AS SELECT x, id::real AS y FROM numbers;
SELECT hopper.training_preprocessor('regression', 'split_real', 'y', 'x', validation_fraction => 0.333);
SELECT n_rows FROM split_real_validation_summary;

-- A fold column says which rows.
SELECT hopper.training_preprocessor('numbers', 'fold', 'y', 'x', fold_column => 'fold', null_labels => 'class');
SELECT count(*) FILTER (WHERE fold) AS marked, count(*) FILTER (WHERE NOT fold) AS others
FROM ids('fold_validation') AS id JOIN numbers USING (id);
SELECT count(*) FILTER (WHERE fold) AS marked, count(*) FILTER (WHERE NOT fold) AS others
FROM ids('fold') AS id JOIN numbers USING (id);
-- and packing only those rows gives the same table
CREATE VIEW unmarked AS SELECT * FROM numbers WHERE NOT fold;
CREATE VIEW marked AS SELECT id AS key, x AS features, y AS label FROM numbers WHERE fold;
SELECT hopper.training_preprocessor('unmarked', 'unmarked_packed', 'y', 'x', null_labels => 'class');
SELECT hopper.validation_preprocessor('marked', 'marked_packed', 'label', 'features', 'unmarked_packed');
SELECT a.checksum = b.checksum AS training, c.checksum = d.checksum AS validation
FROM fold_summary a, unmarked_packed_summary b, fold_validation_summary c, marked_packed_summary d;

-- validation_preprocessor takes classes, constant, seed, types and shape from the training table.
CREATE TABLE train AS SELECT ARRAY[i, 1, 2, 3]::real[] AS x, (ARRAY['ant', NULL, 'cow', 'dog'])[i] AS y
FROM generate_series(1, 4) AS i;
SELECT hopper.training_preprocessor('train', 'train_packed', 'y', 'x', normalizing_const => 2.5,
                                    num_classes => 6, seed => -3, image_shape => ARRAY[2, 2, 1], null_labels => 'class');
CREATE TABLE valid AS SELECT ARRAY[ARRAY[i, 1], ARRAY[2, 3]]::int[] AS pixels, (ARRAY['dog', 'ant'])[i]::char(5) AS label
FROM generate_series(1, 2) AS i;
SELECT hopper.validation_preprocessor('valid', 'valid_packed', 'label', 'pixels', 'train_packed');
SELECT dependent_varname, label_class_values, normalizing_const, num_classes, independent_vartype,
       independent_type, independent_shape, seed, partitions, training_table
FROM valid_packed_summary;
SELECT pixels_shape, pixels, label FROM valid_packed ORDER BY pixels;

-- Quoted, mixed-case and schema-qualified names; views, materialized views, partitions, temporary tables.
CREATE SCHEMA "My Data";
CREATE TABLE "My Data"."Some ""Images" ("Class Name" text, "Pixels, all" int[], "The ID" int PRIMARY KEY);
INSERT INTO "My Data"."Some ""Images" SELECT 'c' || i % 2, ARRAY[i], i FROM generate_series(1, 8) AS i;
SELECT hopper.training_preprocessor('"My Data"."Some ""Images"', '"My Data"."Packed It"', '"Class Name"',
                                    '"Pixels, all"', validation_fraction => 0.25);
SELECT source_table, output_table, dependent_varname, independent_varname, "Class Name_class_values", n_rows
FROM "My Data"."Packed It_summary";
SELECT hopper.validation_preprocessor('"My Data"."Some ""Images"', 'Other', '"Class Name"',
                                      '"Pixels, all"', '"My Data"."Packed It"');
SELECT sum(n), array_agg(DISTINCT "Pixels, all_shape"[2]) FROM other;
SELECT hopper.training_preprocessor('numbers', 'pg_temp.p', 'y', 'x', null_labels => 'class');
SELECT relpersistence, count(*) FROM pg_class WHERE relname IN ('p', 'p_summary') GROUP BY 1 ORDER BY 1;
DROP TABLE pg_temp.p, pg_temp.p_summary;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM numbers;
SELECT hopper.training_preprocessor('stored', 'p_stored', 'y', 'x', 7, null_labels => 'class');
CREATE TABLE parted (id int, x int[], y text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (1000);
INSERT INTO parted SELECT id, x, y FROM numbers;
SELECT hopper.training_preprocessor('parted', 'p_parted', 'y', 'x', 7, null_labels => 'class');
SELECT a.checksum = b.checksum AS stored, a.checksum = c.checksum AS parted
FROM p_summary a, p_stored_summary b, p_parted_summary c;

-- Equal rows stay apart; a row is a row.
CREATE TABLE same AS SELECT ARRAY[1.5, 2]::real[] AS x, 'a' AS y FROM generate_series(1, 9);
SELECT hopper.training_preprocessor('same', 'same_packed', 'y', 'x', partitions => 2);
SELECT partition_id, n FROM same_packed ORDER BY buffer_id;
-- Of a table of few different rows each partition holds about as many of each, in whatever order they are stored.
CREATE TABLE few AS SELECT i AS id, (ARRAY['no', 'yes'])[1 + (i % 12 = i % 5)::int] AS y, 'kind ' || i % 12 AS kind,
    (ARRAY['one', 'two', 'three', 'four', 'five'])[1 + i % 5] AS place FROM generate_series(1, 6000) AS i;
CREATE TABLE few_backwards AS SELECT * FROM few ORDER BY id DESC;
SELECT hopper.training_preprocessor('few', 'few_packed', 'y', 'kind, place', validation_fraction => 0.2);
SELECT hopper.training_preprocessor('few_backwards', 'few_backwards_packed', 'y', 'kind, place', validation_fraction => 0.2);
SELECT a.checksum = b.checksum AS training, c.checksum = d.checksum AS validation
FROM few_packed_summary a, few_backwards_packed_summary b,
     few_packed_validation_summary c, few_backwards_packed_validation_summary d;
CREATE FUNCTION rows_of(packed text) RETURNS TABLE (partition_id int, x bytea, y int) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT partition_id, substr(features, 1 + i * (length(features) / n), length(features) / n),'
        ' get_byte(y, i) FROM %s, generate_series(0, n - 1) AS i', packed);
END $$;
SELECT count(DISTINCT (x, y)) AS different, count(*) FROM rows_of('few_packed');
SELECT partition_id, count(*), count(DISTINCT (x, y)) AS different, round(avg(y), 2) AS yes
FROM rows_of('few_packed') GROUP BY 1 ORDER BY 1;
-- A key, which is no feature, tells rows apart: they are split by chance.
SELECT round(avg(y), 2) AS yes, count(DISTINCT x) AS different FROM rows_of('few_packed_validation');
SELECT count(*) > 40 AS on_both FROM (SELECT x FROM rows_of('few_packed') INTERSECT SELECT x FROM rows_of('few_packed_validation')) AS b;
-- Without one equal features are on one side, whatever their label is.
CREATE TABLE few_alone AS SELECT (id % 7 = 0)::text AS y, kind, place FROM few;
SELECT hopper.training_preprocessor('few_alone', 'few_alone_packed', 'y', 'kind, place', validation_fraction => 0.2);
SELECT count(*) AS on_both FROM (SELECT x FROM rows_of('few_alone_packed') INTERSECT SELECT x FROM rows_of('few_alone_packed_validation')) AS b;
SELECT count(*) AS different, sum((classes = 2)::int) AS of_both FROM
    (SELECT x, count(DISTINCT y) AS classes FROM rows_of('few_alone_packed_validation') GROUP BY x) AS f;
-- Nor does a label separate equal features where most rows are different, a class of few rows among them.
CREATE TABLE most_differ AS SELECT CASE WHEN id % 7 = 0 THEN 'yes' WHEN id % 100 = 1 THEN 'seldom' ELSE 'no' END AS y,
    CASE WHEN id % 5 < 3 THEN 100 + id ELSE id % 12 END AS a, id % 5 AS b FROM few;
SELECT hopper.training_preprocessor('most_differ', 'most_differ_packed', 'y', 'a, b', validation_fraction => 0.2, treatments => '{"a": "none", "b": "none"}');
SELECT count(*) AS on_both FROM (SELECT x FROM rows_of('most_differ_packed') INTERSECT SELECT x FROM rows_of('most_differ_packed_validation')) AS b;
-- Without equal features each class gives its share.
CREATE TABLE all_differ AS SELECT y, row_number() OVER (ORDER BY a, b) AS a FROM most_differ;
SELECT hopper.training_preprocessor('all_differ', 'all_differ_packed', 'y', 'a', validation_fraction => 0.2, treatments => '{}');
SELECT v.class_counts AS validation, t.class_counts AS training FROM all_differ_packed_validation_summary AS v, all_differ_packed_summary AS t;
-- Of packed numbers each row is on a side by chance: a class's share of equal features is about the same on both.
CREATE TABLE few_numbers AS SELECT id % 12 AS a, id % 5 AS b, (id % 7 = 0)::text AS y FROM few;
SELECT hopper.training_preprocessor('few_numbers', 'few_numbers_packed', 'y', 'a, b', validation_fraction => 0.2);
SELECT round(max(abs(t.yes - v.yes)), 2) < 0.3 AS alike, count(*) FROM (SELECT x, avg(y) AS yes FROM rows_of('few_numbers_packed') GROUP BY x) AS t
    JOIN (SELECT x, avg(y) AS yes FROM rows_of('few_numbers_packed_validation') GROUP BY x) AS v USING (x);
DROP FUNCTION rows_of(text);
DROP TABLE few, few_backwards, few_alone, most_differ, all_differ, few_numbers;
-- Inside a transaction that fails nothing is left.
BEGIN;
SELECT hopper.training_preprocessor('same', 'same_again', 'y', 'x');
ROLLBACK;
SELECT to_regclass('same_again'), to_regclass('same_again_summary');

DROP SCHEMA "My Data" CASCADE;
DROP FUNCTION labels(text);
DROP FUNCTION ids(text);
DROP TABLE numbers, numbers_backwards, numbers_updated, wide, train, valid, parted, same, other, other_summary CASCADE;
SELECT format('DROP TABLE %s', string_agg(oid::regclass::text, ', ')) AS statement
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \gset
:statement;
