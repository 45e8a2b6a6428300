-- Columns that are packed: their types under another search_path, and rights on these columns alone.
SET client_min_messages = warning;
CREATE SCHEMA hopper_columns;
SET search_path = hopper_columns;
CREATE DOMAIN pos AS integer CHECK (VALUE >= 0);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE points (id integer PRIMARY KEY, x real[], y pos, m mood);
INSERT INTO points SELECT i, ARRAY[i % 2, i % 3]::real[], i % 2,
  (CASE i % 2 WHEN 0 THEN 'sad' ELSE 'glad' END)::mood FROM generate_series(1, 40) i;

-- The training table's labels are of the same type, whatever its name means to the caller.
SELECT hopper.training_preprocessor('points', 'by_y', 'y', 'x');
SELECT hopper.training_preprocessor('points', 'by_m', 'm', 'x');
RESET search_path;
SELECT hopper.validation_preprocessor('hopper_columns.points', 'hopper_columns.by_y_again', 'y', 'x',
  'hopper_columns.by_y');
CREATE DOMAIN pg_temp.pos AS text;
CREATE TYPE pg_temp.mood AS (a integer);
SELECT hopper.validation_preprocessor('hopper_columns.points', 'hopper_columns.by_y_more', 'y', 'x',
  'hopper_columns.by_y');
SELECT hopper.validation_preprocessor('hopper_columns.points', 'hopper_columns.by_m_more', 'm', 'x',
  'hopper_columns.by_m');
SELECT hopper.validation_preprocessor('hopper_columns.points', 'hopper_columns.wrong', 'm', 'x',
  'hopper_columns.by_y');
DROP DOMAIN pg_temp.pos;
DROP TYPE pg_temp.mood;
SET search_path = hopper_columns;

-- Rights on the columns suffice; what names a row in messages may then be its number.
CREATE TABLE unkeyed AS SELECT id, x, y::integer FROM points;
INSERT INTO points VALUES (41, '{NULL,1}', 0, 'sad');
INSERT INTO unkeyed VALUES (41, '{NULL,1}', 0);
CREATE ROLE hopper_columns_reader;
GRANT USAGE, CREATE ON SCHEMA hopper_columns TO hopper_columns_reader;
GRANT SELECT (x, y) ON points, unkeyed TO hopper_columns_reader;
SET ROLE hopper_columns_reader;
SELECT hopper.training_preprocessor('points', 'read', 'y', 'x');
SELECT hopper.training_preprocessor('unkeyed', 'read', 'y', 'x');
SELECT hopper.training_preprocessor('unkeyed', 'read', 'y', 'id');
RESET ROLE;
SELECT hopper.training_preprocessor('points', 'seen', 'y', 'x');
DELETE FROM points WHERE id > 40;
DELETE FROM unkeyed WHERE id > 40;
SET ROLE hopper_columns_reader;
SELECT hopper.training_preprocessor('points', 'read', 'y', 'x');
SELECT hopper.training_preprocessor('unkeyed', 'read_too', 'y', 'x');
RESET ROLE;

-- A role that may insert architectures and read their keys needs no more to add some.
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}');
GRANT INSERT, SELECT ON models TO hopper_columns_reader;
SET ROLE hopper_columns_reader;
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}');
RESET ROLE;

-- A partition takes memory in every run: there are not any number of them.
SELECT hopper.training_preprocessor('points', 'many', 'y', 'x', partitions => 100001);

-- Integers beside reals: those that reals do not hold are told once, by the first row
CREATE TABLE wide (id bigint PRIMARY KEY, x real, n bigint, y int);
INSERT INTO wide SELECT i, i, 16777214 + i, i % 2 FROM generate_series(1, 6) AS i;
SELECT hopper.training_preprocessor('wide', 'wide_2', 'y', 'x, n', partitions => 1, normalizing_const => 1e7);
SELECT hopper.training_preprocessor('wide', 'wide_1', 'y', 'id', partitions => 1, normalizing_const => 1e7);
-- A JSON object that is none
SELECT hopper.training_preprocessor('wide', 'wide_3', 'y', '{"a": "x", "b": n}');

-- A numeric becomes the number that the server's cast makes of it, whatever its digits
CREATE TABLE exact AS SELECT i AS id, i % 2 AS y, CASE i % 5
    WHEN 0 THEN (hashint4(i)::numeric / 1000) WHEN 1 THEN hashint8(i)::numeric * hashint8(i + 1)
    WHEN 2 THEN hashint4(i)::numeric / (10::numeric ^ (i % 37)) WHEN 3 THEN hashint4(i) % 100
    ELSE (hashint4(i)::numeric * 10000) * (10::numeric ^ (i % 20)) END AS n
  FROM generate_series(1, 4000) AS i;
INSERT INTO exact SELECT 4000 + i, i % 2, n FROM unnest(ARRAY[0, 0.00, -0.5, 1e-30, 9007199254740992,
    9007199254740993, -9007199254740993, 0.1, 1e22, 1e23, 123456789012345678, 0.00012345678901234567, 12345.6789]) WITH ORDINALITY AS u(n, i);
INSERT INTO exact SELECT 5000 + i, i % 2, (9007199254740993 + 7919::bigint * i) * 0.0000000000000001 FROM generate_series(1, 1000) AS i;
CREATE TABLE inexact AS SELECT id, y, n::float8 AS n, 1::float8 AS f FROM exact;
CREATE VIEW exact_and_wide AS SELECT id, y, n, 1::float8 AS f FROM exact;
SELECT hopper.training_preprocessor('exact_and_wide', 'exact_packed', 'y', 'n, f', partitions => 1);
SELECT hopper.training_preprocessor('inexact', 'inexact_packed', 'y', 'n, f', partitions => 1);
SELECT sum(a.n), bool_and(octet_length(a.features) = 16 * a.n) AS wide, bool_and(a.checksum = b.checksum) AS same
  FROM exact_packed a JOIN inexact_packed b USING (buffer_id);

-- Features and label in one column, as of an autoencoder
CREATE TABLE pictures (id int PRIMARY KEY, img real[]);
INSERT INTO pictures SELECT i, ARRAY[i % 2, i % 3, 1 - i % 2] FROM generate_series(1, 60) AS i;
SELECT hopper.training_preprocessor('pictures', 'pictures_packed', 'img', 'img', validation_fraction => 0.2);
SELECT attname FROM pg_attribute WHERE attrelid = 'pictures_packed'::regclass AND attnum > 0 ORDER BY attnum;
SELECT hopper.load_model('coders', '{"class_name": "Sequential", "config": {"layers": [
  {"class_name": "Dense", "config": {"units": 2}}, {"class_name": "Dense", "config": {"units": 3}}]}}');
SELECT models_trained FROM hopper.fit('pictures_packed', 'coder', 'coders', 1, 'loss=mse, optimizer=Adam(lr=0.05)', 'batch_size=8', 30,
  validation_table => 'pictures_packed_validation');
SELECT independent_varname, dependent_varname FROM coder_summary;
SELECT loss < 0.3 AS learned FROM hopper.evaluate('coder', 'pictures_packed_validation');
SELECT hopper.predict('coder', 'pictures', 'id', 'img', 'coded');
SELECT count(*), avg(abs(predicted_img[1] - img[1])) < 0.5 AS near FROM coded JOIN pictures USING (id);

DROP OWNED BY hopper_columns_reader;
DROP ROLE hopper_columns_reader;
DROP SCHEMA hopper_columns CASCADE;
