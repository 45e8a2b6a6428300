-- Text as ids and series: from packing to prediction.
CREATE SCHEMA hopper_sequences;
SET search_path = hopper_sequences;
SET client_min_messages = warning;
-- Two words decide; 0 fills up what is shorter.
CREATE TABLE texts AS
SELECT i AS id, ARRAY(SELECT CASE WHEN j <= 4 + i % 5 THEN 1 + (i * 7 + j * j * 3) % 9 + CASE WHEN j = 2 THEN 10 * (i % 2) ELSE 0 END ELSE 0 END
    FROM generate_series(1, 8) j ORDER BY j)::integer[] AS words, CASE WHEN i % 2 = 1 THEN 'good' ELSE 'bad' END AS y
FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('texts', 'packed', 'y', 'words');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"input_dim": 20, "output_dim": 6, "mask_zero": true}},
    {"class_name": "LSTM", "config": {"units": 8}},
    {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}', name := 'lstm');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"input_dim": 12, "output_dim": 6}},
    {"class_name": "Flatten"},
    {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}', name := 'too few rows');
RESET client_min_messages;
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 1, 'packed');
SET client_min_messages = warning;
SELECT count(*) FROM hopper.fit('packed', 'm', 'nets', 1, $$loss='binary_crossentropy', optimizer='Adam(lr=0.02)', metrics=['accuracy']$$,
    'batch_size=20', 15, seed := 1);
SELECT training_metrics_final > 0.95 AS learnt FROM m_info;
SELECT hopper.predict('m', 'texts', 'id', 'words', 'predictions');
SELECT count(*) AS rows, avg((p.class_value = t.y)::int) > 0.95 AS right FROM predictions p JOIN texts t USING (id) WHERE p.rank = 1;

-- An id beyond the table ends the model, and says which.
SELECT count(*) FROM hopper.fit('packed', 'm2', 'nets', 2, $$loss='binary_crossentropy', optimizer='SGD'$$, 'batch_size=20', 1);
RESET client_min_messages;
-- Nor is there a prediction: the rows are named.
UPDATE texts SET words[3] = 20 WHERE id = 77;
SELECT hopper.predict('m', 'texts', 'id', 'words', 'beyond');
SELECT count(*) FROM hopper.predict_rows('m', NULL::texts);

-- What is refused.
\set VERBOSITY terse
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"batch_input_shape": [null, 8], "input_dim": 0, "output_dim": 6}},
    {"class_name": "LSTM", "config": {"units": 8}}]}}');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"batch_input_shape": [null, 8], "input_dim": 9, "output_dim": 6, "mask_zero": true}},
    {"class_name": "BatchNormalization"}, {"class_name": "LSTM", "config": {"units": 8}}]}}');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "LSTM", "config": {"batch_input_shape": [null, 8, 2], "units": 1073741824, "stateful": true}}]}}');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Bidirectional", "config": {"batch_input_shape": [null, 8, 2], "layer": {"class_name": "Dense", "config": {"units": 2}}}}]}}');
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "TimeDistributed", "config": {"batch_input_shape": [null, 8, 2], "layer": {"class_name": "Lambda", "config": {}}}}]}}');
\set VERBOSITY default

SET client_min_messages = warning;
DROP SCHEMA hopper_sequences CASCADE;
