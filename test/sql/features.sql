-- Features are found by their names: the order in which they are written changes nothing, other columns are refused.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_features;
SET search_path = hopper_features;
CREATE TABLE points AS SELECT i AS id, sin(i)::real AS a, (100 + cos(i))::real AS "B b", ARRAY[sin(i), cos(i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, "B b"', partitions => 1);
SELECT hopper.training_preprocessor('points', 'swapped', 'y', '"B b", a', partitions => 1);
SELECT hopper.training_preprocessor('points', 'array_packed', 'y', 'x', partitions => 1);
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 8, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}');
\set bce 'loss=bce, optimizer=Adam(lr=0.05), metrics=[accuracy]'
SELECT models_trained FROM hopper.fit('packed', 'm', 'models', 1, :'bce', 'batch_size=16', 10);
SELECT models_trained FROM hopper.fit('array_packed', 'm_array', 'models', 1, :'bce', 'batch_size=16', 5);
RESET client_min_messages;

-- By themselves, in order, in another order: the same predictions
SELECT hopper.predict('m', 'points', 'id', output_table => 'p_left_out');
SELECT hopper.predict('m', 'points', 'id', NULL, 'p_null', 'response');
SELECT hopper.predict('m', 'points', 'id', 'a, "B b"', 'p_ordered');
SELECT hopper.predict('m', 'points', 'id', '"B b", a', 'p_swapped');
SELECT count(*) AS rows, count(*) FILTER (WHERE l.prob = o.prob AND o.prob = s.prob) AS equal
FROM p_left_out l JOIN p_ordered o USING (id, rank) JOIN p_swapped s USING (id, rank);

-- Other columns
SELECT hopper.predict('m', 'points', 'id', 'a, id', 'q');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', 'id', 'a, "B b", id', 'q');
SELECT hopper.predict('m', 'points', 'id', 'a, a', 'q');
SELECT hopper.predict('m', 'points', 'id');
CREATE VIEW lacking AS SELECT id, a, "B b" AS b FROM points;
SELECT hopper.predict('m', 'lacking', 'id', output_table => 'q');
-- One array has its own order, and any name.
SELECT hopper.predict('m', 'points', 'id', 'x', 'p_of_array');
CREATE VIEW renamed AS SELECT id, x AS z, a, "B b" FROM points;
SELECT hopper.predict('m_array', 'points', 'id', output_table => 'p_array');
SELECT hopper.predict('m_array', 'renamed', 'id', 'z', 'p_renamed');
SELECT count(*) AS equal FROM p_array p JOIN p_renamed r USING (id, rank) WHERE p.prob = r.prob;
SELECT hopper.predict('m_array', 'renamed', 'id', 'a, "B b"', 'p_columns');

-- Numbers as text, where features are left out
SELECT hopper.predict('m', 'points', 'id', output_table => 'p_top', pred_type => '1');
SELECT hopper.predict('m', 'points', 'id', output_table => 'p_likely', pred_type => '0.5');
SELECT count(*) AS rows, max(rank) AS rank, (SELECT min(prob) > 0.5 FROM p_likely) AS likely FROM p_top;
SELECT hopper.predict('m', 'points', 'id', output_table => 'q', pred_type => '0');
SELECT hopper.predict('m', 'points', 'id', output_table => 'q', pred_type => '1.5');

-- Validation
SET client_min_messages = warning;
SELECT hopper.validation_preprocessor('points', 'v_ordered', 'y', 'a, "B b"', 'packed');
SELECT hopper.validation_preprocessor('points', 'v_null', NULL, NULL, 'packed');
SELECT hopper.validation_preprocessor('points', 'v_swapped', 'y', '"B b", a', 'packed');
SELECT count(DISTINCT checksum) AS checksums FROM (SELECT checksum FROM v_ordered_summary
    UNION ALL SELECT checksum FROM v_null_summary UNION ALL SELECT checksum FROM v_swapped_summary) s;
SELECT hopper.validation_preprocessor('points', 'q', 'y', 'a, id', 'packed');
SELECT hopper.validation_preprocessor('points', 'q', 'y', 'a, "B b"');
-- What is packed in another order
SELECT (hopper.evaluate('m', 'v_null')).metric = (hopper.evaluate('m', 'packed')).metric AS equal;
SELECT hopper.evaluate('m', 'swapped');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.fit('packed', 'm2', 'models', 1, :'bce', 'batch_size=16', 1, validation_table => 'swapped');
SELECT hopper.fit('swapped', 'm', 'models', 1, :'bce', 'batch_size=16', 1, warm_start => true);

DROP SCHEMA hopper_features CASCADE;
