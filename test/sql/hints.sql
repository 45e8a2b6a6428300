-- Hints that say what would work.
CREATE SCHEMA hopper_hints;
SET search_path = hopper_hints;
SET client_min_messages = warning;
CREATE TABLE kinds AS
SELECT i AS id, (i % 7 / 7.0)::real AS a, (i % 5 / 5.0)::real AS b, (ARRAY['cow', 'dog', 'emu'])[1 + i % 3] AS kind, now() AS day
FROM generate_series(1, 300) AS i;

-- Names that differ in capitals alone
CREATE TABLE "Iris" AS SELECT id, a AS "Sepal Length", kind AS "Class" FROM kinds;
SELECT hopper.training_preprocessor('"Iris"', 'iris_packed', 'Class', '"Sepal Length"');
SELECT hopper.training_preprocessor('Iris', 'iris_packed', '"Class"', '"Sepal Length"');
SELECT hopper.training_preprocessor('"Iris"', 'iris_packed', '"class"', '"Sepal Length"');
SELECT hopper.training_preprocessor('"Iris"', 'iris_packed', '"Clas"', '"Sepal Length"');

-- A date as a label
SELECT hopper.training_preprocessor('kinds', 'days', 'day', 'a, b');

-- A feature that has become text
SELECT hopper.training_preprocessor('kinds', 'packed', 'kind', 'a, b');
SELECT hopper.mlp('networks', 'packed', ARRAY[4]) AS model \gset
SELECT count(*) FROM hopper.fit('packed', 'm', 'networks', :model, 'loss=categorical_crossentropy, optimizer=SGD(0.1)', 'batch_size=16',
    1);
CREATE VIEW texts AS SELECT id, a::text AS a, b FROM kinds;
SELECT hopper.predict('m', 'texts', 'id', NULL, 'predicted');
SELECT hopper.predict('m', 'kinds', 'id', 'a', 'predicted');
SELECT * FROM hopper.predict_row('m', 1, ARRAY['x', 'y']);

-- A model whose architecture states no input shape, away from its data
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}}') AS open \gset
SELECT count(*) FROM hopper.fit('packed', 'm_open', 'networks', :open, 'loss=categorical_crossentropy, optimizer=SGD(0.1)',
    'batch_size=16', 1);
SELECT hopper.load_model('networks', model_arch, model_weights) AS trained FROM m_open \gset
SELECT hopper.predict_byom('networks', :trained, 'kinds', 'id', 'a, b', 'predicted');
SELECT hopper.predict('m_open', 'kinds', 'id', NULL, 'predicted');
