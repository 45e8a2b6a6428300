-- Packing: what is refused, with the row, the column and what to do.
SET client_min_messages = warning;
SET search_path = public;
\set VERBOSITY default

CREATE TABLE images (id int, part text, x real[], y text, fold boolean, PRIMARY KEY (id, part));
INSERT INTO images SELECT i, 'p', ARRAY[ARRAY[i, 1.5, 2], ARRAY[3, 4, 5]], 'c' || i % 3, i = 1
FROM generate_series(1, 5) AS i;
CREATE TABLE empty (x real[], y int);

-- arguments
SELECT hopper.training_preprocessor(NULL, 'out', 'y', 'x');
SELECT hopper.training_preprocessor('images', '', 'y', 'x');
SELECT hopper.training_preprocessor('images', 'a.b.c', 'y', 'x');
SELECT hopper.training_preprocessor('images', 'out', NULL, 'x');
SELECT hopper.training_preprocessor('images', 'out', 'y', '');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x,,x');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x, x');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', 0);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', -5);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', normalizing_const => 0);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', normalizing_const => -1.5);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', normalizing_const => 'NaN');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', normalizing_const => 1e300);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', normalizing_const => -(SELECT count(*)::float8 FROM images));
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => ARRAY[0]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => 0);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => 2.5);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => ARRAY[3, 3]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => ARRAY[NULL]::int[]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', distribution_rules => 'gpu_segments');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', partitions => 0);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', partitions => 6);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 0);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 1);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 'NaN');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 0.01);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 0.5, fold_column => 'fold');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'part');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => ARRAY[2, 0]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'id', image_shape => ARRAY[1]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => ARRAY[100000, 100000]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => ARRAY[10000, 10000]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => array_fill(1, ARRAY[9]));
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => '{{1,2},{3,4}}');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', starts => ARRAY[1]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', starts => ARRAY[0, 2, 2]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', starts => ARRAY[0, 4]);

-- tables and columns
SELECT hopper.training_preprocessor('image', 'out', 'y', 'x');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'xx');
SELECT hopper.training_preprocessor('images', 'out', 'Fold_', 'x');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'folt');
SELECT hopper.training_preprocessor('empty', 'out', 'y', 'x');
SELECT hopper.training_preprocessor('images', 'images', 'y', 'x');
CREATE TABLE out_summary ();
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x');
DROP TABLE out_summary;
CREATE TABLE out_validation ();
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'fold');
DROP TABLE out_validation;
CREATE VIEW out_validation_summary AS SELECT 1;
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', validation_fraction => 0.5);
DROP VIEW out_validation_summary;
SELECT hopper.training_preprocessor('images', 'a_name_of_exactly_sixty_three_bytes_that_leaves_no_room_for_more_', 'y', 'x');

-- types
CREATE TABLE types AS SELECT 1 AS id, '\x0102'::bytea AS b, inet '10.0.0.1' AS t, ARRAY['a'] AS s, 1.5 AS v, '{}'::json AS j;
SELECT hopper.training_preprocessor('types', 'out', 'id', 't');
SELECT hopper.training_preprocessor('types', 'out', 'id', 's');
SELECT hopper.training_preprocessor('types', 'out', 'id', 'b');
SELECT hopper.training_preprocessor('types', 'out', 'id', 'v, b');
SELECT hopper.training_preprocessor('types', 'out', 'b', 'v');
SELECT hopper.training_preprocessor('types', 'out', 'j', 'v');
SELECT hopper.training_preprocessor('types', 'out', 's', 'v');
SELECT hopper.training_preprocessor('types', 'out', 'v', 'id', num_classes => ARRAY[2]);
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', num_classes => ARRAY[2]);

-- all problems at once: of the arguments, the columns, the types, and where there are NULLs
SELECT hopper.training_preprocessor('images', 'out', 'yy', 'x, xx', 0, -1, 0, 'gpu_segments', 0, validation_fraction => 20, fold_column => 'part',
    image_shape => ARRAY[0], starts => ARRAY[1, 1], label_kind => 'klass', null_labels => 'drop', bytea_type => 'text');
SELECT hopper.training_preprocessor('image', 'out', 'y', 'x', 0, partitions => -1);
CREATE TABLE churn AS SELECT i AS id, inet '10.0.0.1' AS signed, '{}'::json AS plan, '10'::bit(2) AS country, nullif(i % 3, 0) AS age,
    nullif(i % 5, 0)::real AS fee, i % 2 = 0 AS has_app, i % 2 AS y FROM generate_series(1, 30) i;
SELECT hopper.training_preprocessor('churn', 'out', 'y', 'signed, plan, age, country, fee, has_app');
SELECT hopper.training_preprocessor('churn', 'out', 'y', 'signed, plan, age, fe', fold_column => 'plan', buffer_size => 0);
SELECT hopper.training_preprocessor('churn', 'out', 'y', 'age, fee, has_app');
SELECT hopper.validation_preprocessor('churn', 'out', buffer_size => 0, null_labels => 'drop', packed_table => 'nothing');

-- rows: named by primary key, by ctid, by number
CREATE FUNCTION with_row(row_x real[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM images WHERE id = 17;
    INSERT INTO images VALUES (17, 'it''s', row_x, 'c0', false);
    PERFORM hopper.training_preprocessor('images', 'out', 'y', 'x');
END $$;
\set SHOW_CONTEXT never
SELECT with_row(NULL);
SELECT with_row('{}');
SELECT with_row('{1,2,3}');
SELECT with_row('{{1,2},{3,4},{5,6}}');
SELECT with_row('{{1,2,3},{4,NULL,6}}');
SELECT with_row('{{1,2,3},{4,5,NaN}}');
SELECT with_row('{{1,Infinity,3},{4,5,6}}');
SELECT with_row('{{1,2,3},{-Infinity,5,6}}');
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', image_shape => ARRAY[3, 2]);
DELETE FROM images WHERE id = 17;
UPDATE images SET fold = NULL WHERE id = 4;
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'fold');
UPDATE images SET fold = false;
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'fold');
UPDATE images SET fold = true;
SELECT hopper.training_preprocessor('images', 'out', 'y', 'x', fold_column => 'fold');

CREATE TABLE no_key WITH (autovacuum_enabled = false) AS SELECT decode(repeat('ff', 12 - i / 3), 'hex') AS x, i AS y, i::float8 AS v
FROM generate_series(1, 3) AS i;
CREATE VIEW numbered AS SELECT * FROM no_key;
SELECT hopper.training_preprocessor('no_key', 'out', 'y', 'x', image_shape => ARRAY[2, 2, 3]);
SELECT hopper.training_preprocessor('numbered', 'out', 'y', 'x', image_shape => ARRAY[2, 2, 3]);
UPDATE no_key SET v = CASE y WHEN 2 THEN 'NaN' WHEN 3 THEN 1e300 ELSE 1 END;
SELECT hopper.training_preprocessor('no_key', 'out', 'y', 'y, v');
SELECT hopper.training_preprocessor('no_key', 'out', 'v', 'y');
UPDATE no_key SET v = 1e300 WHERE y = 2;
SELECT hopper.training_preprocessor('no_key', 'out', 'v', 'y');
UPDATE no_key SET v = NULL WHERE y = 2;
SELECT hopper.training_preprocessor('no_key', 'out', 'v', 'y');
CREATE TABLE parted (x numeric[], y int) PARTITION BY LIST (y);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1) WITH (autovacuum_enabled = false);
INSERT INTO parted VALUES ('{1,2}', 1), ('{1,NaN}', 1);
SELECT hopper.training_preprocessor('parted', 'out', 'y', 'x');
UPDATE parted SET x = ARRAY[1, 1e60] WHERE x[2] = 'NaN';
SELECT hopper.training_preprocessor('parted', 'out', 'y', 'x');
CREATE TABLE mother (x numeric[], y int);
CREATE TABLE daughter () INHERITS (mother);
INSERT INTO daughter VALUES ('{1,2}', 1), ('{1,NaN}', 1);
SELECT hopper.training_preprocessor('mother', 'out', 'y', 'x');
DROP TABLE mother CASCADE;
-- labels of any length
CREATE TABLE long_labels AS SELECT ARRAY[i, i]::real[] AS x, repeat('ö', 1000000) || i AS y FROM generate_series(1, 3) i;
SELECT hopper.training_preprocessor('long_labels', 'out', 'y', 'x', num_classes => 2);
SELECT hopper.training_preprocessor('long_labels', 'long_train', 'y', 'x');
UPDATE long_labels SET y = y || '!';
SELECT hopper.validation_preprocessor('long_labels', 'out', 'y', 'x', 'long_train');
DROP TABLE long_labels, long_train, long_train_summary;
CREATE SEQUENCE changing;
CREATE VIEW volatile_labels AS SELECT nextval('changing') AS y, x FROM images;
SELECT hopper.training_preprocessor('volatile_labels', 'out', 'y', 'x');

-- validation data
SELECT hopper.training_preprocessor('images', 'train', 'y', 'x');
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'images');
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'trains');
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', NULL);
SELECT hopper.validation_preprocessor('images', 'train', 'y', 'x', 'train');
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'train', 0);
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'train', distribution_rules => 'gpu_segments');
SELECT hopper.validation_preprocessor('images', 'out', 'id', 'x', 'train');
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'id', 'train');
UPDATE images SET y = 'zebra' WHERE id = 3;
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'train');
UPDATE images SET y = NULL WHERE id = 3;
SELECT hopper.validation_preprocessor('images', 'out', 'y', 'x', 'train');
CREATE VIEW doubles AS SELECT id, x::float8[] AS x, 'c1' AS y FROM images;
SELECT hopper.validation_preprocessor('doubles', 'out', 'y', 'x', 'train');
CREATE VIEW flat AS SELECT id, '{1,2,3,4,5,6}'::real[] AS x, 'c1' AS y FROM images;
SELECT hopper.validation_preprocessor('flat', 'out', 'y', 'x', 'train');
CREATE VIEW short AS SELECT id, '{1,2,3,4,5}'::real[] AS x, 'c1' AS y FROM images;
SELECT hopper.validation_preprocessor('short', 'out2', 'y', 'x', 'train');
CREATE TABLE other (y int);
CREATE TABLE other_summary (mst_key int);
SELECT hopper.validation_preprocessor('images', 'out2', 'y', 'x', 'other');
UPDATE train_summary SET format_version = 2;
SELECT hopper.validation_preprocessor('images', 'out2', 'y', 'x', 'train');
UPDATE train_summary SET format_version = 1, independent_type = 'int4';
SELECT hopper.validation_preprocessor('images', 'out2', 'y', 'x', 'train');
DELETE FROM train_summary;
SELECT hopper.validation_preprocessor('images', 'out2', 'y', 'x', 'train');

-- what a role may not read it cannot pack
CREATE ROLE hopper_packer;
GRANT USAGE ON SCHEMA hopper TO hopper_packer;
GRANT CREATE ON SCHEMA public TO hopper_packer;
SET ROLE hopper_packer;
SELECT hopper.training_preprocessor('images', 'out3', 'y', 'x');
RESET ROLE;
REVOKE ALL ON SCHEMA public, hopper FROM hopper_packer;
DROP ROLE hopper_packer;

-- the codes that go with the messages
CREATE FUNCTION code_of(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT ' || call;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
UPDATE images SET x = NULL WHERE id = 2;
CREATE TABLE nan AS SELECT '{NaN}'::real[] AS x, 1 AS y;
SELECT call, code_of('hopper.' || call) FROM unnest(ARRAY[
    $$training_preprocessor('images', NULL, 'y', 'x')$$,
    $$training_preprocessor('images', 'o', 'y', 'x', 0)$$,
    $$training_preprocessor('images', 'o', 'y', 'x', distribution_rules => 'gpu_segments')$$,
    $$training_preprocessor('imagos', 'o', 'y', 'x')$$,
    $$training_preprocessor('images', 'o', 'y', 'xx')$$,
    $$training_preprocessor('images', 'nan', 'y', 'x')$$,
    $$training_preprocessor('images', 'o', 'y', 'x')$$,
    $$training_preprocessor('images', 'o', 'y', 'part')$$,
    $$training_preprocessor('images', 'o', 'y', 'id', num_classes => ARRAY[1])$$,
    $$training_preprocessor('images', 'o', 'id, y', 'x')$$,
    $$training_preprocessor('nan', 'o', 'y', 'x')$$,
    $$training_preprocessor('empty', 'o', 'y', 'x')$$,
    $$validation_preprocessor('images', 'o', 'y', 'x', 'images')$$]) AS call;
DROP FUNCTION code_of(text);
DROP TABLE nan;

-- nothing was left behind
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname ~ '^o(ut.*)?$' ORDER BY 1;
DROP TABLE images, empty, types, no_key, parted, train, train_summary, other, other_summary, out, out_summary CASCADE;
DROP SEQUENCE changing;
DROP FUNCTION with_row(real[]);
