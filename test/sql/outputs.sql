-- Labels of several outputs: what is wrong with one is told by its column, before rows are read.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_several;
SET search_path = hopper_several;
SET client_min_messages = warning;
CREATE TABLE shops AS SELECT i AS id, (i % 7)::real AS a, (i % 3)::real AS b, i * 1.5 AS price, (ARRAY['good', 'poor'])[1 + i % 2] AS grade,
    i % 5 < 2 AS closed, ARRAY[i % 2 = 0, i % 3 = 0] AS tags, 1::real AS weight FROM generate_series(1, 60) i;
ALTER TABLE shops ADD PRIMARY KEY (id);
\set labels '{"price": "price", "grade": "grade", "tags": "tags"}'
SELECT hopper.training_preprocessor('shops', 'packed', :'labels', 'a, b');
SELECT label_shape, outputs FROM packed_summary;
CREATE TABLE wrong AS SELECT * FROM shops;
ALTER TABLE wrong ADD PRIMARY KEY (id);
-- Training: a number, an array.
UPDATE wrong SET price = NULL WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b', null_labels := 'class');
SELECT hopper.training_preprocessor('wrong', 'skipped', :'labels', 'a, b', null_labels := 'skip');
UPDATE wrong SET price = 'NaN' WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
UPDATE wrong SET price = 1e39 WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
UPDATE wrong SET price = 1, tags = '{t,t,t}' WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
UPDATE wrong SET tags = '{}' WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
UPDATE wrong SET tags = '{t,NULL}' WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b');
UPDATE wrong SET tags = NULL WHERE id = 7;
SELECT hopper.training_preprocessor('wrong', 'no', :'labels', 'a, b', null_labels := 'class');
-- Validation: a class that there was not.
UPDATE wrong SET tags = '{t,f}', grade = 'so-so' WHERE id = 7;
SELECT hopper.validation_preprocessor('wrong', 'no', packed_table := 'packed');
UPDATE wrong SET grade = NULL WHERE id = 7;
SELECT hopper.validation_preprocessor('wrong', 'no', packed_table := 'packed');
SELECT hopper.validation_preprocessor('wrong', 'seen', packed_table := 'packed', null_labels := 'skip');
-- A class of its own for NULL, numbers of boolean, weights beside one label.
SELECT hopper.training_preprocessor('wrong', 'with_null', '{"grade": "grade", "closed": "closed"}', 'a, b', null_labels := 'class');
SELECT outputs FROM with_null_summary;
SELECT hopper.training_preprocessor('wrong', 'as_numbers', '{"price": "price", "closed": "closed"}', 'a, b', label_kind := 'value');
SELECT outputs FROM as_numbers_summary;
SELECT hopper.training_preprocessor('shops', 'weighed', 'grade', 'a, b', weight_varname := 'weight');
SELECT hopper.validation_preprocessor('wrong', 'no', packed_table := 'weighed');

-- num_classes: one for each.
SELECT hopper.training_preprocessor('shops', 'no', :'labels', 'a, b', num_classes := 5);
SELECT hopper.training_preprocessor('shops', 'no', :'labels', 'a, b', num_classes := ARRAY[0, -1, 0]);
SELECT hopper.training_preprocessor('shops', 'no', :'labels', 'a, b', num_classes := ARRAY[4, 0, 0]);
SELECT hopper.training_preprocessor('shops', 'no', :'labels', 'a, b', num_classes := ARRAY[0, 1, 0]);
SELECT hopper.training_preprocessor('shops', 'more', :'labels', 'a, b', num_classes := ARRAY[0, 4, 0]);
SELECT (outputs::json->1->>'num_classes')::int AS classes FROM more_summary;
SELECT hopper.training_preprocessor('shops', 'more_weighed', 'grade', 'a, b', num_classes := 4, weight_varname := 'weight');
SELECT (outputs::json->0->>'num_classes')::int AS classes FROM more_weighed_summary;

-- A label among the features, whichever it is.
SELECT hopper.training_preprocessor('shops', 'known', '{"price": "price", "closed": "b"}', 'a, b', label_kind := 'value');

-- Names of outputs as messages have them.
SELECT hopper.training_preprocessor('shops', 'no', '{"price": "price"', 'a, b');
SELECT hopper.training_preprocessor('shops', 'no', '{"price": "price", "price": "grade"}', 'a, b');
SELECT hopper.training_preprocessor('shops', 'no', '{"price": []}', 'a, b');
SELECT hopper.training_preprocessor('shops', 'no', '{}', 'a, b');

-- One output with a name: its predictions have it.
SELECT hopper.training_preprocessor('shops', 'named', '{"worth": "price"}', 'a, b');
SELECT dependent_varname, outputs FROM named_summary;
SELECT hopper.training_preprocessor('shops', 'plain', '{"price": "price"}', 'a, b');
SELECT dependent_varname, outputs FROM plain_summary;
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"name": "worth", "units": 1}}]}}');
SELECT models_trained FROM hopper.fit('named', 'm', 'nets', 1, 'loss={worth: mse}, optimizer=Adam()', NULL, 1);
SELECT models_trained FROM hopper.fit('named', 'm', 'nets', 1, $$loss={'worth': 'mse'}, metrics={'worth': ['mae']}, optimizer='Adam()'$$, NULL, 1,
    replace := true);
SELECT metrics_type FROM m_info;
SELECT hopper.predict('m', 'shops', 'id', output_table := 'foreseen');
SELECT count(predicted_worth) FROM foreseen;
SELECT hopper.validation_preprocessor('shops', 'named_again', packed_table := 'named');
SELECT hopper.validation_preprocessor('shops', 'named_again', '{"value": "price"}', packed_table := 'named', replace := true);

-- Classes of rows with weights, and with a name, are classes as others are: their type, the confusion matrix.
SELECT hopper.training_preprocessor('shops', 'by_weight', 'grade', 'a, b', num_classes := 4, weight_varname := 'weight', replace := true) > 0 AS packed;
SELECT hopper.mlp('nets', 'by_weight', 4) AS graded \gset
SELECT models_trained FROM hopper.fit('by_weight', 'g', 'nets', :graded, $$loss='categorical_crossentropy', optimizer='Adam(lr=0.05)'$$, NULL, 5);
SELECT hopper.predict('g', 'shops', 'id', output_table := 'graded', pred_type := 'response') AS predicted;
SELECT loss > 0 AS evaluated FROM hopper.evaluate('g', 'by_weight', confusion_table := 'grades_told');
SELECT pg_typeof(predicted_grade) FROM graded LIMIT 1;
SELECT class, confusion_arr = ARRAY(
    SELECT count(*) FILTER (WHERE s.grade::text = t.class AND p.predicted_grade::text = other.class)
    FROM grades_told other, graded p JOIN shops s USING (id) GROUP BY other.row_id ORDER BY other.row_id) AS counted
FROM grades_told t ORDER BY row_id;
SELECT hopper.training_preprocessor('shops', 'by_name', '{"shut": "closed"}', 'a, b') > 0 AS packed;
SELECT hopper.mlp('nets', 'by_name', 4, name := 'shut') AS shut \gset
SELECT models_trained FROM hopper.fit('by_name', 's', 'nets', :shut, $$loss='binary_crossentropy', optimizer='Adam(lr=0.05)'$$, NULL, 5);
SELECT hopper.predict('s', 'shops', 'id', output_table := 'shut', pred_type := 'response') AS predicted;
SELECT pg_typeof(predicted_shut), count(*) > 0 AS some FROM shut GROUP BY 1;
SELECT loss > 0 AS evaluated FROM hopper.evaluate('s', 'by_name', confusion_table := 'shut_told');
SELECT class, examples > 0 AS some FROM shut_told ORDER BY row_id;

-- Thousands of classes.
CREATE TABLE many AS SELECT i AS id, i % 2500 AS shop, ('shop "' || i % 2500 || '"') AS name, (i % 3)::real AS a, (i % 7)::real AS b
FROM generate_series(1, 5000) i;
SELECT hopper.training_preprocessor('many', 'many_packed', '{"shop": "shop", "name": "name"}', 'a, b');
SELECT (o->>'num_classes')::int AS classes FROM many_packed_summary, json_array_elements(outputs::json) o;
DROP SCHEMA hopper_several CASCADE;
