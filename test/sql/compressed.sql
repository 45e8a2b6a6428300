-- Values that the server stores compressed are read as those that it stores plainly.
SET client_min_messages = warning;
SET default_toast_compression = 'pglz';
CREATE TABLE plain (id integer, y integer, x real[], image bytea);
ALTER TABLE plain ALTER x SET STORAGE EXTERNAL, ALTER image SET STORAGE EXTERNAL;
CREATE TABLE small (LIKE plain);
ALTER TABLE small ALTER x SET STORAGE MAIN, ALTER image SET STORAGE MAIN;
-- Zeros, numbers that repeat at every distance, few different ones, many different ones
CREATE FUNCTION number(kind integer, i integer) RETURNS integer IMMUTABLE LANGUAGE sql AS $$
  SELECT CASE kind WHEN 0 THEN 0 WHEN 1 THEN i % 3 WHEN 2 THEN i % 5 * 50
    WHEN 3 THEN i / 40 % 256 WHEN 4 THEN hashint4(i) & 3 WHEN 5 THEN hashint4(i) & 255
    WHEN 6 THEN CASE WHEN i % 97 = 0 THEN i % 256 ELSE 0 END
    ELSE i % (kind * 7) % 256 END $$;
INSERT INTO plain
  SELECT kind, kind % 2, array_agg(number(kind, i)::real ORDER BY i),
    decode(string_agg(lpad(to_hex(number(kind, i)), 2, '0'), '' ORDER BY i), 'hex')
  FROM generate_series(0, 39) kind, generate_series(1, 2500) i GROUP BY kind;
INSERT INTO small SELECT * FROM plain;
-- What is not repeated enough stays as it is.
SELECT count(*) FILTER (WHERE pg_column_size(x) < 10000) > 35 AS most,
  count(*) FILTER (WHERE pg_column_size(image) < 2500) > 35 AS most_images FROM small;
SELECT count(*) FILTER (WHERE pg_column_size(x) < 10000) AS none FROM plain;
SELECT hopper.training_preprocessor('plain', 'plain_x', 'y', 'x', partitions => 2);
SELECT hopper.training_preprocessor('small', 'small_x', 'y', 'x', partitions => 2);
SELECT hopper.training_preprocessor('plain', 'plain_image', 'y', 'image', partitions => 2,
  image_shape => '{50,50}');
SELECT hopper.training_preprocessor('small', 'small_image', 'y', 'image', partitions => 2,
  image_shape => '{50,50}');
SELECT p.checksum = s.checksum AS x FROM plain_x_summary p, small_x_summary s;
SELECT p.checksum = s.checksum AS image FROM plain_image_summary p, small_image_summary s;
SELECT count(*), count(DISTINCT p.x) > 1 AS differ, bool_and(p.x = s.x AND p.y = s.y) AS same
  FROM plain_x p JOIN small_x s USING (partition_id, buffer_id);
-- Integers in between are converted: they take another path.
CREATE TABLE wide AS SELECT id, y, x::numeric[] AS x FROM small;
SELECT hopper.training_preprocessor('wide', 'wide_x', 'y', 'x', partitions => 2);
SELECT p.checksum = w.checksum AS numeric FROM plain_x_summary p, wide_x_summary w;
-- Damage of the values is told as elsewhere.
UPDATE small SET x[2500] = 'NaN' WHERE id = 3;
SELECT hopper.training_preprocessor('small', 'damaged', 'y', 'x');
UPDATE small SET x = x[1:2400] WHERE id = 3;
SELECT hopper.training_preprocessor('small', 'damaged', 'y', 'x');
DROP TABLE plain, small, wide, plain_x, plain_x_summary, small_x, small_x_summary, plain_image,
  plain_image_summary, small_image, small_image_summary, wide_x, wide_x_summary;
DROP FUNCTION number(integer, integer);
