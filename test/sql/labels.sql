-- What labels became is said when they are packed: classes or numbers, and rows without one.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_labels;
SET search_path = hopper_labels;
SET client_min_messages = warning;
CREATE TABLE prices AS SELECT i AS id, (i % 2)::real AS x, (i % 3)::real AS z, CASE i % 2 WHEN 0 THEN 100 ELSE 300 END AS price,
    i % 2 AS bit, CASE WHEN i % 10 > 0 THEN (ARRAY['ant', 'bee', 'cow'])[i % 3 + 1] END AS animal,
    CASE WHEN i % 100 > 0 THEN i END AS age, i % 5 = 0 AS fold
FROM generate_series(1, 300) i;
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1}}]}}');
\set mse 'loss=mse, optimizer=Adam(lr=0.1), metrics=[mae]'

-- An integer is a class or a number
SELECT hopper.training_preprocessor('prices', 'p_class', 'price', 'x');
SELECT hopper.fit('p_class', 'm', 'models', 1, :'mse', NULL, 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.training_preprocessor('prices', 'p_value', 'price', 'x', label_kind => 'value', partitions => 1);
SELECT label_kind, label_type, price_class_values, num_classes FROM p_value_summary;
SELECT best_value < 20 AS close FROM hopper.fit('p_value', 'm', 'models', 1, 'loss=mse, optimizer=Adam(lr=1), metrics=[mae]', NULL, 200);
SELECT hopper.predict('m', 'prices', 'id', output_table => 'predicted');
SELECT count(*) AS close FROM predicted JOIN prices USING (id) WHERE abs(predicted_price - price) < 40;
SELECT hopper.validation_preprocessor('prices', 'p_value_2', packed_table => 'p_value');
SELECT (hopper.evaluate('m', 'p_value_2')).metric < 20 AS close;
SELECT hopper.training_preprocessor('prices', 'p_animal', 'animal', 'x', null_labels => 'skip');
SELECT hopper.fit('p_animal', 'q', 'models', 1, :'mse', NULL, 1);
SELECT hopper.training_preprocessor('prices', 'p_bit', 'bit', 'x', partitions => 1);
SELECT models_trained FROM hopper.fit('p_bit', 'm_bit', 'models', 1, :'mse', NULL, 1);
SELECT models_trained FROM hopper.fit('p_value', 'm_accuracy', 'models', 1, 'loss=mse, optimizer=Adam(), metrics=[accuracy]', NULL, 1);
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}');
SELECT models_trained FROM hopper.fit('p_value', 'm_sigmoid', 'models', 2, :'mse', NULL, 1);
SELECT hopper.training_preprocessor('prices', 'p_fold', 'fold', 'x', label_kind => 'value', partitions => 1);
SELECT label_kind, label_type FROM p_fold_summary;
SELECT hopper.training_preprocessor('prices', 'q', 'animal', 'x', label_kind => 'value');
SELECT hopper.training_preprocessor('prices', 'q', 'z', 'x', label_kind => 'class');
SELECT hopper.training_preprocessor('prices', 'q', 'z', 'x', label_kind => 'number');
-- Keys
SELECT hopper.training_preprocessor('prices', 'q', 'id', 'x');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.training_preprocessor('prices', 'keys', 'id', 'x', label_kind => 'class');
SELECT hopper.training_preprocessor('prices', 'ages', 'age', 'x', null_labels => 'class');
SELECT hopper.training_preprocessor('prices', 'ids', 'id', 'x', label_kind => 'value');

-- Many integers are rather a number than classes
CREATE TABLE delays AS SELECT i AS id, (i % 7)::real AS x, i % 60 AS minutes, i % 49 AS few, 1 + i % 5 AS stars FROM generate_series(1, 600) i;
SELECT hopper.training_preprocessor('delays', 'minutes', 'minutes', 'x', partitions => 1);
SELECT hopper.training_preprocessor('delays', 'minutes_class', 'minutes', 'x', label_kind => 'class', partitions => 1);
SELECT hopper.training_preprocessor('delays', 'minutes_sixty', 'minutes', 'x', num_classes => 60, partitions => 1);
SELECT hopper.training_preprocessor('delays', 'few', 'few', 'x', partitions => 1);
SELECT hopper.training_preprocessor('delays', 'stars', 'stars', 'x', partitions => 1);
SELECT hopper.mlp('models', 'minutes', 4) AS minutes, hopper.mlp('models', 'few', 4) AS few, hopper.mlp('models', 'stars', 4) AS stars \gset
SELECT hopper.fit('minutes', 'm_minutes', 'models', :minutes, :'mse', NULL, 1);
SELECT hopper.fit('minutes', 'm_minutes', 'models', :minutes, 'loss=categorical_crossentropy, optimizer=Adam(), metrics=[accuracy, mae]', NULL, 1);
SELECT models_trained FROM hopper.fit('minutes', 'm_minutes', 'models', :minutes, 'loss=categorical_crossentropy, optimizer=Adam(), metrics=[accuracy]', NULL, 1);
-- 0, 1, ... may be classes that are measured by Brier's score; from 1 to 5 they may be stars
SELECT models_trained FROM hopper.fit('few', 'm_few', 'models', :few, :'mse', NULL, 1);
SELECT models_trained FROM hopper.fit('stars', 'm_stars', 'models', :stars, :'mse', NULL, 1);

-- Rows without a label
SELECT hopper.training_preprocessor('prices', 'q', 'animal', 'x');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.training_preprocessor('prices', 'q', 'age', 'x', label_kind => 'value');
SELECT hopper.training_preprocessor('prices', 'q', 'age', 'x', null_labels => 'ignore');
SELECT hopper.training_preprocessor('prices', 'skipped', 'animal', 'x', null_labels => 'skip', validation_fraction => 0.5);
SELECT hopper.training_preprocessor('prices', 'classed', 'animal', 'x', null_labels => 'class');
SELECT hopper.training_preprocessor('prices', 'aged', 'age', 'x', label_kind => 'value', null_labels => 'skip');
SELECT s.animal_class_values AS skipped, c.animal_class_values AS classed, s.n_rows + v.n_rows AS rows, c.n_rows AS all_rows,
    a.n_rows AS aged FROM skipped_summary s, skipped_validation_summary v, classed_summary c, aged_summary a;
SELECT hopper.validation_preprocessor('prices', 'v', packed_table => 'skipped', null_labels => 'skip');
SELECT hopper.validation_preprocessor('prices', 'v2', packed_table => 'classed');
SELECT hopper.validation_preprocessor('prices', 'q', packed_table => 'aged');

-- What a model should not be told, and what validates nothing
SELECT hopper.training_preprocessor('prices', 'q', 'price', 'x, fold', fold_column => 'fold');
SELECT hopper.training_preprocessor('prices', 'leak', 'z', 'x, z', partitions => 1);
SELECT models_trained FROM hopper.fit('p_value', 'm_same', 'models', 1, :'mse', NULL, 1, validation_table => 'p_value');

DROP SCHEMA hopper_labels CASCADE;
