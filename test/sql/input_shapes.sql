-- The input's shape counts wherever people write it.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_shapes;
SET search_path = hopper_shapes;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, i::real AS a, i::real AS b, i % 2 AS y FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b', partitions => 1);
SELECT hopper.load_model('models', model_arch) FROM (VALUES (1,
    '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid", "input_shape": [4]}}]}}'),
    (2, '{"class_name": "Sequential", "config": {"layers": [{"class_name": "InputLayer", "config": {"shape": [4]}}, {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}'),
    (3, '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid", "input_shape": [2]}}]}}'))
    m (n, model_arch) ORDER BY n;
SELECT d.parameters FROM generate_series(1, 3) n, hopper.describe_model('models', n) d WHERE d.layer = 'total' ORDER BY n;
\set bce 'loss=bce, optimizer=Adam()'
SELECT hopper.fit('packed', 'm', 'models', 1, :'bce', NULL, 1);
SELECT hopper.fit('packed', 'm', 'models', 2, :'bce', NULL, 1);
SELECT models_trained FROM hopper.fit('packed', 'm', 'models', 3, :'bce', NULL, 1);
DROP SCHEMA hopper_shapes CASCADE;
