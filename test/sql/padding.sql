-- Sequences of unequal length: padded when packed and when predicted from, from the training's numbers.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_padding;
SET search_path = hopper_padding;
SET client_min_messages = warning;
CREATE TABLE texts AS
SELECT i AS id, ARRAY(SELECT (1 + (i * 7 + j * j * 3) % 9 + CASE WHEN j = 2 THEN 10 * (i % 2) ELSE 0 END)::smallint
    FROM generate_series(1, 2 + i % 6) j ORDER BY j) AS words, CASE WHEN i % 2 = 1 THEN 'good' ELSE 'bad' END AS y
FROM generate_series(1, 200) i;
UPDATE texts SET words = '{}' WHERE id = 30;
CREATE TABLE longer AS SELECT id, words || words AS words, y FROM texts WHERE id <= 50;
-- Padded by hand.
CREATE VIEW after AS SELECT id, words || array_fill(0::smallint, ARRAY[7 - cardinality(words)]) AS words, y FROM texts;
CREATE VIEW before AS SELECT id, array_fill(0::smallint, ARRAY[7 - cardinality(words)]) || words AS words, y FROM texts;

-- The bytes are those of padding by hand.
SELECT hopper.training_preprocessor('texts', 'ragged', 'y', 'words', pad_to := 'longest', validation_fraction := 0.2);
SELECT hopper.training_preprocessor('after', 'by_hand', 'y', 'words', validation_fraction := 0.2);
SELECT hopper.training_preprocessor('texts', 'ragged_before', 'y', 'words', pad_to := 7, pad_side := 'pre');
SELECT hopper.training_preprocessor('before', 'by_hand_before', 'y', 'words');
SELECT r.padding, r.independent_shape, r.checksum = h.checksum AS same, h.padding AS none FROM ragged_summary r, by_hand_summary h;
SELECT r.checksum = h.checksum AS same FROM ragged_validation_summary r, by_hand_validation_summary h;
SELECT r.padding, r.checksum = h.checksum AS same FROM ragged_before_summary r, by_hand_before_summary h;
-- Validation data are padded as the training data, whose rules their summary has, too.
SELECT hopper.validation_preprocessor('texts', 'seen_again', packed_table := 'ragged_before');
SELECT v.padding = t.padding AS rules, v.checksum = t.checksum AS same FROM seen_again_summary v, ragged_before_summary t;

-- A model has the same bits, and predicts the same, row by row as well.
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"input_dim": 20, "output_dim": 6, "mask_zero": true}},
    {"class_name": "LSTM", "config": {"units": 8}},
    {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}', name := 'lstm');
\set compile 'loss=binary_crossentropy, optimizer=Adam(lr=0.02), metrics=[accuracy]'
SELECT count(*) FROM hopper.fit('ragged', 'm', 'nets', 1, :'compile', 'batch_size=20', 8, validation_table := 'ragged_validation', seed := 1);
SELECT count(*) FROM hopper.fit('by_hand', 'm_hand', 'nets', 1, :'compile', 'batch_size=20', 8, validation_table := 'by_hand_validation', seed := 1);
SELECT m.state_digest = h.state_digest AS same, m.training_metrics_final > 0.9 AS learnt,
    m.validation_loss_final = h.validation_loss_final AS same_loss FROM m_info m, m_hand_info h;
SELECT s.padding = r.padding AS kept FROM m_summary s, ragged_summary r;
SELECT hopper.predict('m', 'texts', 'id', output_table := 'p');
SELECT hopper.predict('m_hand', 'after', 'id', output_table := 'p_hand');
SELECT count(*) AS differ FROM (TABLE p EXCEPT TABLE p_hand) d;
SELECT count(*) AS rows, count(*) FILTER (WHERE r.prob = p.prob AND o.prob = p.prob) AS same
FROM p JOIN hopper.predict_rows('m', NULL::texts) r ON (r.source).id = p.id AND p.rank = 1 JOIN texts t ON t.id = p.id,
    hopper.predict_row('m', t.words) o WHERE o.class_value = p.class_value;
\set VERBOSITY default
-- NULL is not an empty sequence.
CREATE TABLE gaps AS SELECT 1 AS id, NULL::smallint[] AS words UNION ALL SELECT 2, '{}' UNION ALL SELECT 3, '{4,NULL}';
SELECT (source).id, class_value IS NULL AS nothing FROM hopper.predict_rows('m', NULL::gaps, on_null := 'null') ORDER BY 1;
SELECT count(*) FROM hopper.predict_rows('m', NULL::gaps);
-- What is longer than the training's is refused, unless the training data were packed with truncate.
SELECT count(*) FROM hopper.predict_rows('m', NULL::longer);
SELECT hopper.predict('m', 'longer', 'id', output_table := 'too_long');
SELECT count(*) FROM hopper.predict_row('m', array_fill(1, ARRAY[8]));
SELECT count(*) FROM hopper.predict_row('m', '{{1,2},{3,4}}'::int[]);
SELECT hopper.validation_preprocessor('longer', 'longer_packed', packed_table := 'ragged');

-- truncate: the same as by hand, in packing, validation and prediction.
CREATE VIEW starts AS SELECT id, words[1:5] || array_fill(0::smallint, ARRAY[5 - least(cardinality(words), 5)]) AS words, y FROM texts;
CREATE VIEW ends AS SELECT id, words[greatest(cardinality(words) - 4, 1):] || array_fill(0::smallint, ARRAY[5 - least(cardinality(words), 5)]) AS words,
    y FROM texts;
CREATE VIEW longer_ends AS SELECT id, words[greatest(cardinality(words) - 4, 1):] || array_fill(0::smallint, ARRAY[5 - least(cardinality(words), 5)])
    AS words, y FROM longer;
SELECT hopper.training_preprocessor('texts', 'cut', 'y', 'words', pad_to := 5);
SELECT hopper.training_preprocessor('texts', 'cut', 'y', 'words', pad_to := 5, truncate := 'post');
SELECT hopper.training_preprocessor('starts', 'cut_by_hand', 'y', 'words');
SELECT hopper.training_preprocessor('texts', 'cut_before', 'y', 'words', pad_to := '5', truncate := 'pre');
SELECT hopper.training_preprocessor('ends', 'cut_before_by_hand', 'y', 'words');
SELECT a.checksum = b.checksum AS post, c.checksum = d.checksum AS pre, c.padding
FROM cut_summary a, cut_by_hand_summary b, cut_before_summary c, cut_before_by_hand_summary d;
SELECT hopper.validation_preprocessor('longer', 'longer_packed', packed_table := 'cut_before');
SELECT hopper.validation_preprocessor('longer_ends', 'longer_by_hand', packed_table := 'cut_before_by_hand');
SELECT a.checksum = b.checksum AS same FROM longer_packed_summary a, longer_by_hand_summary b;
SELECT count(*) FROM hopper.fit('cut_before', 'm_cut', 'nets', 1, :'compile', 'batch_size=20', 1, seed := 1);
SELECT count(*) AS rows, count(*) FILTER (WHERE a.prob = b.prob AND r.prob = a.prob) AS same FROM hopper.predict_rows('m_cut', NULL::longer) a
JOIN hopper.predict_rows('m_cut', NULL::longer_ends) b ON (a.source).id = (b.source).id JOIN longer l ON l.id = (a.source).id,
    hopper.predict_row('m_cut', l.words) r WHERE r.class_value = a.class_value;

-- Series of vectors, filled up with a number that Masking knows; one input of several.
CREATE TABLE series AS
SELECT i AS id, ARRAY(SELECT ARRAY[(i * j % 11) / 11.0, j / 5.0]::real[] FROM generate_series(1, 1 + i % 4) j ORDER BY j) AS steps,
    (i % 5)::real AS a, (i % 3)::smallint AS b, (i % 11 / 11.0)::real AS y FROM generate_series(1, 60) i;
CREATE VIEW series_by_hand AS SELECT id, a, b, y,
    CASE WHEN i.n = 4 THEN steps ELSE steps || array_fill(-1::real, ARRAY[4 - i.n, 2]) END AS steps
FROM series, LATERAL (SELECT array_length(steps, 1) AS n) i;
SELECT hopper.training_preprocessor('series', 'both', 'y', '{"series": "steps", "numbers": ["a", "b"]}',
    pad_to := '{"series": "longest"}', pad_value := -1);
SELECT hopper.training_preprocessor('series_by_hand', 'both_by_hand', 'y', '{"series": "steps", "numbers": ["a", "b"]}');
SELECT a.padding, a.inputs, a.checksum = b.checksum AS same FROM both_summary a, both_by_hand_summary b;
SELECT hopper.load_model('nets', '{"class_name": "Functional", "keras_version": "2.15.0", "config": {"layers": [
    {"class_name": "InputLayer", "name": "series", "config": {"name": "series", "batch_input_shape": [null, null, 2]}, "inbound_nodes": []},
    {"class_name": "InputLayer", "name": "numbers", "config": {"name": "numbers", "batch_input_shape": [null, 2]}, "inbound_nodes": []},
    {"class_name": "Masking", "name": "given", "config": {"name": "given", "mask_value": -1.0}, "inbound_nodes": [[["series", 0, 0, {}]]]},
    {"class_name": "GRU", "name": "gru", "config": {"name": "gru", "units": 4}, "inbound_nodes": [[["given", 0, 0, {}]]]},
    {"class_name": "Concatenate", "name": "both", "config": {"name": "both"}, "inbound_nodes": [[["gru", 0, 0, {}], ["numbers", 0, 0, {}]]]},
    {"class_name": "Dense", "name": "out", "config": {"name": "out", "units": 1}, "inbound_nodes": [[["both", 0, 0, {}]]]}],
  "input_layers": [["series", 0, 0], ["numbers", 0, 0]], "output_layers": [["out", 0, 0]]}}', name := 'series');
SELECT count(*) FROM hopper.fit('both', 'm_both', 'nets', 2, 'loss=mse, optimizer=Adam()', 'batch_size=12', 3, seed := 1);
SELECT count(*) FROM hopper.fit('both_by_hand', 'm_both_hand', 'nets', 2, 'loss=mse, optimizer=Adam()', 'batch_size=12', 3, seed := 1);
SELECT a.state_digest = b.state_digest AS same FROM m_both_info a, m_both_hand_info b;
SELECT count(*) AS rows, count(*) FILTER (WHERE a.value = b.value) AS same FROM hopper.predict_rows('m_both', NULL::series) a
JOIN hopper.predict_rows('m_both_hand', NULL::series_by_hand) b ON (a.source).id = (b.source).id;
-- Each input has its own length.
CREATE TABLE titled AS SELECT t.id, t.words AS body, t.words[1:3] AS title, ARRAY[1, 2]::smallint[] AS size, t.y FROM texts t;
SELECT hopper.training_preprocessor('titled', 'titled_packed', 'y', 'title, body, size', pad_to := '{"body": "longest", "title": 4}');
SELECT inputs, padding FROM titled_packed_summary;

-- What is refused. All arguments at once.
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 'long', pad_side := 'left', truncate := 'middle', pad_value := 'NaN');
\set VERBOSITY terse
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 0);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '2.5');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 9999999999);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 200000000);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '{"words": 7, "words": 8}');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '{"words": null}');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '{"words": ');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '{}');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_side := 'pre');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 7, pad_value := 0.5);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 7, pad_value := 40000);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := 7, image_shape := ARRAY[7]);
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'id', pad_to := 7);
\set VERBOSITY default
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words', pad_to := '{"wrods": 7}');
SELECT hopper.training_preprocessor('titled', 'no', 'y', 'title, body, size', pad_to := 7);
SELECT hopper.training_preprocessor('titled', 'no', 'y', '{"title": "title", "id": "id"}', pad_to := '{"id": 7}');
SELECT hopper.training_preprocessor('texts', 'no', 'y', 'words');
-- Of the vectors of a series all have as many numbers.
CREATE TABLE uneven (id int PRIMARY KEY, x real[], y real);
INSERT INTO uneven VALUES (1, '{}', 1), (2, '{{1,2},{3,4}}', 1), (3, '{{1,2,3}}', 1);
SELECT hopper.training_preprocessor('uneven', 'no', 'y', 'x', pad_to := 3);
DELETE FROM uneven WHERE id > 1;
SELECT hopper.training_preprocessor('uneven', 'no', 'y', 'x', pad_to := 'longest');
-- A place in a sequence is that in the row's own.
INSERT INTO uneven VALUES (2, '{1,2,3}', 1), (3, '{1,Infinity}', 1);
SELECT hopper.training_preprocessor('uneven', 'no', 'y', 'x', pad_to := 5, pad_side := 'pre');
-- What is cut off is not looked at.
SELECT hopper.training_preprocessor('uneven', 'looked_away', 'y', 'x', pad_to := 1, truncate := 'post');

DROP SCHEMA hopper_padding CASCADE;
