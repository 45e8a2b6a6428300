-- Predictions beside the rows: predict_rows(), predict_row() with LATERAL; rows that lack features;
-- bytea of every type.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_rows;
SET search_path = hopper_rows;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, ((i * 37 % 101 - 50) / 64.0)::real AS a, ((i * 61 % 101 - 50) / 64.0)::real AS b, 0 AS gone, 'note ' || i AS note,
    CASE WHEN i * 37 % 101 > 50 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
ALTER TABLE points ADD PRIMARY KEY (id), DROP gone;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b');
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 8, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
SELECT models_trained FROM hopper.fit('packed', 'm', 'networks', 1,
    'loss=categorical_crossentropy, optimizer=Adam(lr=0.05), metrics=[accuracy]', 'batch_size=16', 5);
SELECT hopper.predict('m', 'points', 'id', NULL, 'p', 'response');

-- All columns beside the prediction, the same as predict() writes
SELECT * FROM hopper.predict_rows('m', NULL::points) LIMIT 0;
SELECT (source).*, class_value, rank FROM hopper.predict_rows('m', NULL::points) ORDER BY id LIMIT 3;
SELECT count(*), bool_and(r.class_value = p.class_value AND r.prob = p.prob) AS same, bool_and((r.source).note = 'note ' || p.id) AS whole
FROM hopper.predict_rows('m', NULL::points) AS r JOIN p ON p.id = (r.source).id;
SELECT rank, count(*), count(DISTINCT class_value) FROM hopper.predict_rows('m', NULL::points, 'prob') GROUP BY rank ORDER BY rank;
SELECT count(*), max(rank) FROM hopper.predict_rows('m', NULL::points, '1');
SELECT count(*) > 190 AS most, min(prob) > 0.5 AS above FROM hopper.predict_rows('m', NULL::points, '0.5');
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, NULL);
-- in a view, of a view, CREATE TABLE AS, a query, and where nothing can be written
CREATE VIEW upper AS SELECT b, upper(note) AS note, id, a FROM points WHERE id <= 20;
CREATE VIEW predicted AS SELECT (source).*, class_value FROM hopper.predict_rows(
    model_table => 'm', source_rows => NULL::upper, mst_key => 1);
SELECT * FROM predicted ORDER BY id LIMIT 2;
CREATE TABLE kept AS SELECT * FROM hopper.predict_rows('m', NULL::points);
SELECT count(*), bool_and((source).id > 0) AS ids FROM kept;
-- without a dropped column, rows are read where they lie: columns in another order, the place as the row's name
CREATE TABLE plain AS SELECT note, b, id, a FROM points;
SELECT count(*), bool_and(r.prob = p.prob) AS same, bool_and((r.source).note = 'note ' || p.id) AS whole
FROM hopper.predict_rows('m', NULL::plain) AS r JOIN p ON p.id = (r.source).id;
UPDATE plain SET a = NULL WHERE id = 7;
SELECT count(*) FROM hopper.predict_rows('m', NULL::plain);
SELECT (source).id, class_value FROM hopper.predict_rows('m', NULL::points,
    source_query => $$ SELECT * FROM points WHERE note LIKE '%7' AND id < 30; $$) ORDER BY 1;
SELECT source, class_value FROM hopper.predict_rows('m', NULL::points,
    source_query => 'SELECT y, note, b, a, id, true AS more FROM points WHERE id < 3') ORDER BY 1;
BEGIN;
SET TRANSACTION READ ONLY;
SELECT count(*) FROM predicted;
SELECT count(*) FROM points, LATERAL (SELECT * FROM hopper.predict_row('m', ARRAY[a, b]) LIMIT 1) AS best;
ROLLBACK;
-- Arrays of statistics are of type anyarray; what their elements are they say themselves.
CREATE TABLE coins AS SELECT i % 2 AS side FROM generate_series(1, 100) i;
ANALYZE coins;
SELECT count(*) FROM pg_stats, LATERAL (SELECT * FROM hopper.predict_row('m', most_common_vals) LIMIT 1) AS best
WHERE schemaname = 'hopper_rows' AND tablename = 'coins';
-- a view names the model's table with its schema, or works where the search_path finds it
CREATE VIEW named AS SELECT (source).id, class_value FROM hopper.predict_rows('hopper_rows.m', NULL::points, mst_key => 1);
SET search_path = pg_catalog;
SELECT count(*) FROM hopper_rows.named;
SELECT count(*) FROM hopper_rows.predicted;
SET search_path = hopper_rows;
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, source_query => 'SELECT * FROM points WHERE false');

-- What a view or a query computes is computed once a row, also where it is a feature
CREATE SEQUENCE calls;
CREATE FUNCTION counted(number real) RETURNS real STABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('calls'); RETURN number; END $$;
CREATE VIEW costly AS SELECT id, counted(a) AS a, b FROM points;
SELECT count(*) FROM hopper.predict_rows('m', NULL::costly);
SELECT last_value FROM calls;
SELECT count(*) FROM hopper.predict_rows('m', NULL::costly, source_query => 'SELECT id, counted(a) AS a, b FROM points');
SELECT last_value FROM calls;
SELECT hopper.predict('m', 'costly', 'id', output_table => 'costly_predicted', pred_type => 'response');
SELECT last_value FROM calls;

-- Refused
SELECT * FROM hopper.predict_rows('m', 'points'::text);
SELECT * FROM hopper.predict_rows('m', 1);
CREATE TYPE pair AS (a real, b real);
SELECT * FROM hopper.predict_rows('m', NULL::pair);
SELECT * FROM hopper.predict_rows('m', NULL::packed);
SELECT * FROM hopper.predict_rows('m', NULL::p);
SELECT * FROM hopper.predict_rows('m', NULL::points, 'best');
SELECT * FROM hopper.predict_rows('m', NULL::points, on_null => 'skip');
SELECT * FROM hopper.predict_rows('m', NULL::points, mst_key => 7);
SELECT * FROM hopper.predict_rows('m', NULL::points, independent_varname => 'a, note');
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, source_query => 'SELECT id FROM points');
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, source_query => 'SELECT * FROM points; SELECT 1');
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, source_query => 'SELECT id, note::bytea AS a, b, a AS note FROM points');
SELECT count(*) FROM points p, hopper.predict_rows('m', p);

-- Rows that lack features
SET client_min_messages = notice;
INSERT INTO points VALUES (1001, NULL, 0.5, 'no a'), (1002, 0.5, 'NaN', 'b is NaN'), (1003, '-Infinity', 0, 'endless');
CREATE VIEW late AS SELECT * FROM points WHERE id > 198;
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, mst_key => 1);
SELECT count(*) FROM hopper.predict_rows('m', NULL::late, mst_key => 1);
SELECT (source).id, class_value, prob IS NULL AS none, rank FROM hopper.predict_rows('m', NULL::late, mst_key => 1, on_null => 'null') ORDER BY 1;
SELECT (source).id, class_value, rank FROM hopper.predict_rows('m', NULL::late, 'prob', 1, 'null') ORDER BY 1, 3;
SELECT hopper.predict('m', 'late', 'id', NULL, 'n', mst_key => 1);
SELECT hopper.predict('m', 'late', 'id', NULL, 'n', mst_key => 1, on_null => 'null');
SELECT id, class_name, class_value, prob IS NULL AS none, rank, predicted_y FROM n ORDER BY id, rank;
SELECT hopper.predict('m', 'late', 'id', NULL, 'n', 'response', mst_key => 1, on_null => 'null', replace => true);
SELECT id, class_value, predicted_y FROM n ORDER BY id;
SELECT hopper.predict('m', 'late', 'id', NULL, 'n1', 1, on_null => 'nul');
SELECT id, class_value FROM late, LATERAL (SELECT * FROM hopper.predict_row('m', 1, ARRAY[a, b], 'null') LIMIT 1) AS best ORDER BY id;
SELECT * FROM hopper.predict_row('m', 1, NULL::real[], on_null => 'null');
SELECT * FROM hopper.predict_row('m', ARRAY[1, NULL], on_null => 'null');
SELECT * FROM hopper.predict_row('m', ARRAY[1, NULL]);
SELECT * FROM hopper.predict_row('m', ARRAY[1, 2, 3], on_null => 'null');
SELECT * FROM hopper.predict_row('m', ARRAY[1, 2], on_null => 'zero');
SET client_min_messages = warning;

-- Numbers, and several at once
CREATE TABLE sums AS SELECT i AS id, sin(i)::real AS a, ARRAY[sin(i), 2 * sin(i)]::real[] AS two, (3 * sin(i))::real AS one
FROM generate_series(1, 100) i;
SELECT hopper.training_preprocessor('sums', 'one_packed', 'one', 'a'), hopper.training_preprocessor('sums', 'two_packed', 'two', 'a');
SELECT hopper.mlp('networks', 'one_packed', 4) AS one, hopper.mlp('networks', 'two_packed', 4) AS two \gset
SELECT models_trained FROM hopper.fit('one_packed', 'm1', 'networks', :one, 'loss=mse, optimizer=Adam(lr=0.05)', 'batch_size=16', 5);
SELECT models_trained FROM hopper.fit('two_packed', 'm2', 'networks', :two, 'loss=mse, optimizer=Adam(lr=0.05)', 'batch_size=16', 5);
INSERT INTO sums VALUES (101);
SELECT count(*), count(value), count(class_value), max(rank) FROM hopper.predict_rows('m1', NULL::sums, on_null => 'null');
SELECT count(*), count(value), count(DISTINCT (source).id), max(rank) FROM hopper.predict_rows('m2', NULL::sums, on_null => 'null');
SELECT hopper.predict('m2', 'sums', 'id', output_table => 'p2', on_null => 'null');
SELECT count(*), bool_and(predicted_two[rank] = value) AS same
FROM hopper.predict_rows('m2', NULL::sums, on_null => 'null') AS r JOIN p2 ON p2.id = (r.source).id;

-- bytea of every type: packed, predicted from, and validated with
CREATE FUNCTION little(number bigint, size int) RETURNS bytea LANGUAGE sql AS
    'SELECT string_agg(set_byte(''\x00'', 0, ((number >> (8 * i)) & 255)::int), '''' ORDER BY i) FROM generate_series(0, size - 1) i';
CREATE TABLE pictures AS SELECT i AS id, i % 2 AS y, ARRAY[i % 2, (i * 7) % 100, i % 5, i % 3] AS n FROM generate_series(1, 64) i;
CREATE TABLE bytes AS SELECT id, y, n,
    (SELECT string_agg(little(v, 1), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS uint8,
    (SELECT string_agg(little(v, 2), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS int16,
    (SELECT string_agg(little(v, 4), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS int32,
    (SELECT string_agg(little(v, 8), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS int64,
    (SELECT string_agg(little(('x' || encode(float4send(v::real), 'hex'))::bit(32)::int::bigint, 4), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS float32,
    (SELECT string_agg(little(('x' || encode(float8send(v::float8), 'hex'))::bit(64)::bigint, 8), '' ORDER BY o) FROM unnest(n) WITH ORDINALITY u (v, o)) AS float64
FROM pictures;
CREATE TABLE arrays AS SELECT id, y, n::real[] AS x FROM pictures;
SELECT hopper.training_preprocessor('arrays', 'arrays_packed', 'y', 'x', normalizing_const => 100);
SELECT hopper.mlp('networks', 'arrays_packed', 8) AS net \gset
SELECT models_trained FROM hopper.fit('arrays_packed', 'reals', 'networks', :net, 'loss=binary_crossentropy, optimizer=Adam', 'batch_size=16', 2);
CREATE TABLE seen (type text, packed text, as_arrays boolean, validated boolean, from_bytes boolean, row_of_one boolean);
CREATE FUNCTION try(type text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kind text; alike boolean; from_bytes boolean; one boolean; valid boolean;
BEGIN
    PERFORM hopper.training_preprocessor('bytes', 'b_packed', 'y', type, image_shape => ARRAY[4], normalizing_const => 100,
        bytea_type => type, replace => true);
    SELECT independent_type INTO kind FROM b_packed_summary;
    PERFORM hopper.validation_preprocessor('bytes', 'b_valid', independent_varname => 'uint8', packed_table => 'b_packed', replace => true);
    PERFORM hopper.fit('b_packed', 'b_model', 'networks', current_setting('test.net')::int, 'loss=binary_crossentropy, optimizer=Adam',
        'batch_size=16', 2, validation_table => 'b_valid', replace => true);
    SELECT training_loss_final = validation_loss_final INTO valid FROM b_model_info;
    PERFORM hopper.predict('b_model', 'bytes', 'id', type, 'b_from_type', replace => true);
    PERFORM hopper.predict('b_model', 'bytes', 'id', 'uint8', 'b_from_bytes', replace => true);
    PERFORM hopper.predict('b_model', 'arrays', 'id', 'x', 'b_from_arrays', replace => true);
    SELECT bool_and(t = a), bool_and(t = b) INTO alike, from_bytes
    FROM b_from_type t JOIN b_from_arrays a USING (id, rank) JOIN b_from_bytes b USING (id, rank);
    EXECUTE format('SELECT bool_and(r.prob = t.prob) FROM b_from_type t JOIN bytes USING (id),
        LATERAL (SELECT prob FROM hopper.predict_row(''b_model'', %I) LIMIT 1) r WHERE rank = 1', type) INTO one;
    INSERT INTO seen VALUES (type, kind, alike, valid, from_bytes, one);
END $$;
SELECT set_config('test.net', :'net', false) IS NOT NULL AS net;
SET client_min_messages = error;
SELECT count(*) FROM (SELECT try(type) FROM unnest(ARRAY['uint8', 'int16', 'int32', 'int64', 'float32', 'float64']) AS type) AS tried;
SET client_min_messages = warning;
SELECT type, packed, as_arrays, validated, from_bytes, row_of_one FROM seen;
SELECT hopper.predict('reals', 'bytes', 'id', 'float32', 'r1'), hopper.predict('reals', 'bytes', 'id', 'uint8', 'r2');
SELECT bool_and(r1 = r2) AS same FROM r1 JOIN r2 USING (id, rank);
SELECT hopper.predict('reals', 'bytes', 'id', 'int64', 'r3');
SELECT * FROM hopper.predict_row('reals', (SELECT int64 FROM bytes LIMIT 1));
SELECT hopper.training_preprocessor('bytes', 'b', 'y', 'int64', image_shape => ARRAY[4], bytea_type => 'float32');
SELECT hopper.training_preprocessor('bytes', 'b', 'y', 'uint8', image_shape => ARRAY[4], bytea_type => 'float32');
SELECT hopper.training_preprocessor('bytes', 'b', 'y', 'float32', image_shape => ARRAY[4], bytea_type => 'float16');
SELECT hopper.training_preprocessor('bytes', 'b', 'y', 'id', bytea_type => 'float32');
UPDATE bytes SET float32 = '\x0000000000000000000000000000c07f' WHERE id = 5;
SELECT hopper.training_preprocessor('bytes', 'b', 'y', 'float32', image_shape => ARRAY[4], bytea_type => 'float32');
SELECT hopper.predict('reals', 'bytes', 'id', 'float32', 'r4');
SELECT hopper.predict('reals', 'bytes', 'id', 'float32', 'r4', on_null => 'null');
SELECT count(*), count(prob) FROM r4;
DROP SCHEMA hopper_rows CASCADE;
