-- Models that predict a class at each step or pixel, or numbers in several axes: arrays in the shape of the labels.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_places;
SET search_path = hopper_places;
SET client_min_messages = warning;
SET hopper.threads = 1;
-- The places of the largest of each n neighbours, and whether each is above a half: what Keras' users write as argmax(axis=-1).
CREATE FUNCTION largest(x real[], n int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg(best ORDER BY place) FROM (SELECT DISTINCT ON (place) place, k AS best FROM (
        SELECT (i - 1) / n AS place, (i - 1) % n AS k, v FROM unnest(x) WITH ORDINALITY AS u(v, i)) cells
        ORDER BY place, v DESC, k) best $$;
CREATE FUNCTION halves(x real[]) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$
    SELECT array_agg((v > 0.5)::int ORDER BY i) FROM unnest(x) WITH ORDINALITY AS u(v, i) $$;
CREATE FUNCTION flat(x anyarray) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$ SELECT v::text FROM unnest(x) AS v $$;
CREATE TABLE texts AS SELECT i AS id, ARRAY[1 + i % 5, 1 + i % 7, 1 + i % 3, 1, 2]::int[] AS words,
    ARRAY[i % 2, i % 3, i % 2, 0, 1]::smallint[] AS tags FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('texts', 'packed', 'tags', 'words');
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"input_dim": 10, "output_dim": 4, "batch_input_shape": [null, 5]}},
    {"class_name": "LSTM", "config": {"units": 4, "return_sequences": true}},
    {"class_name": "Dense", "config": {"name": "last", "units": 3, "activation": "softmax"}}]}}', name => 'tagger');
SELECT models_trained FROM hopper.fit('packed', 'taggers', 'networks', 1,
    'loss=sparse_categorical_crossentropy, optimizer=Adam(lr=0.05), metrics=[accuracy]', 'batch_size=8', 10);

-- A class for each word, of the labels' type, and its probability; with 'prob' those of all classes
SELECT hopper.predict('taggers', 'texts', 'id', output_table => 'tagged', pred_type => 'response');
SELECT hopper.predict('taggers', 'texts', 'id', output_table => 'probable');
SELECT hopper.predict('taggers', 'texts', 'id', output_table => 'given', layer => 'last');
\d tagged
\d probable
SELECT count(*), bool_and(predicted_tags::int[] = largest(last, 3)) AS largest,
    bool_and(predicted_tags = (SELECT p.predicted_tags FROM probable p WHERE p.id = texts.id)) AS same
FROM tagged JOIN given USING (id) JOIN texts USING (id);
SELECT array_dims(prob_tags), count(*), bool_and((SELECT max(abs(a - b)) FROM unnest(prob_tags, last) AS u(a, b)) < 1e-6) AS same FROM probable JOIN given USING (id) GROUP BY 1;
SELECT array_dims(prob_tags), bool_and(prob_tags[2] = (SELECT p.prob_tags[2][1 + predicted_tags[2]] FROM probable p WHERE p.id = tagged.id)) FROM tagged GROUP BY 1;
SET client_min_messages = notice;
SELECT hopper.predict('taggers', 'texts', 'id', output_table => 'tagged', pred_type => 2, replace => true);
SET client_min_messages = warning;
-- Rows of them in rank's place the step's number
SELECT count(*), count(DISTINCT rank), bool_and(class_value = t.predicted_tags[rank]::text AND prob = t.prob_tags[rank]) AS same
FROM hopper.predict_rows('taggers', NULL::texts) r JOIN tagged t ON t.id = (r.source).id;
SELECT count(*) FROM hopper.predict_rows('taggers', NULL::texts, 'prob');
SELECT count(*) = (SELECT count(*) FROM probable, unnest(prob_tags) p WHERE p > 0.4) AS same, bool_and(prob > 0.4) AS above FROM hopper.predict_rows('taggers', NULL::texts, '0.4');
SELECT array_agg(class_value::int) = (SELECT predicted_tags::int[] FROM tagged WHERE id = 7) AS same, count(prob), count(value)
FROM hopper.predict_row('taggers', (SELECT words FROM texts WHERE id = 7));
CREATE TABLE gaps AS SELECT id, CASE WHEN id > 1 THEN words END AS words FROM texts WHERE id < 3;
SELECT hopper.predict('taggers', 'gaps', 'id', output_table => 'gaps_tagged', on_null => 'null');
SELECT id, predicted_tags IS NULL AS gap, prob_tags IS NULL AS no_prob FROM gaps_tagged ORDER BY id;
SELECT (source).id, class_value IS NULL AS gap, count(*) FROM hopper.predict_rows('taggers', NULL::gaps, on_null => 'null') GROUP BY 1, 2 ORDER BY 1;
-- Confusion of tags, which counts steps
SELECT (hopper.evaluate('taggers', 'packed', confusion_table => 'confusion')).metric > 0.5 AS learnt;
SELECT row_id, class, examples = (SELECT count(*) FROM texts, unnest(tags) t WHERE t = row_id - 1) AS examples,
    predicted = (SELECT count(*) FROM tagged, unnest(predicted_tags) t WHERE t = row_id - 1) AS predicted FROM confusion ORDER BY row_id;

-- Predictions without training: by the architecture, with and without names
SELECT hopper.load_model('networks', (SELECT model_arch FROM taggers)::text, (SELECT model_weights FROM taggers), name => 'brought');
SELECT hopper.predict_byom('networks', 2, 'texts', 'id', 'words', 'byom', 'response', class_values => ARRAY['noun', 'verb', NULL]);
SELECT pg_typeof(predicted_dependent_var), bool_and(predicted_dependent_var = ARRAY(SELECT (ARRAY['noun', 'verb', NULL])[t + 1] FROM unnest(predicted_tags) t)) AS same
FROM byom JOIN tagged USING (id) GROUP BY 1;
SELECT hopper.predict_byom('networks', 2, 'texts', 'id', 'words', 'byom', replace => true);
SELECT pg_typeof(predicted_dependent_var), array_dims(prob_dependent_var), bool_and(predicted_dependent_var = predicted_tags::int[]) AS same
FROM byom JOIN tagged USING (id) GROUP BY 1, 2;
SELECT hopper.predict_byom('networks', 2, 'texts', 'id', 'words', 'byom', class_values => ARRAY['noun', 'verb'], replace => true);

-- One-hot labels say the same
CREATE TABLE hot AS SELECT id, words, (SELECT array_agg(ARRAY[(t = 0)::int, (t = 1)::int, (t = 2)::int]::real[]) FROM unnest(tags) t) AS tags FROM texts;
SELECT hopper.training_preprocessor('hot', 'hot_packed', 'tags', 'words');
SELECT models_trained FROM hopper.fit('hot_packed', 'hots', 'networks', 1, 'loss=categorical_crossentropy, optimizer=Adam(lr=0.05)', 'batch_size=8', 2);
SELECT hopper.predict('hots', 'hot', 'id', output_table => 'hot_tagged', pred_type => 'response');
SELECT hopper.predict('hots', 'hot', 'id', output_table => 'hot_given', layer => 'last');
SELECT pg_typeof(predicted_tags), bool_and(predicted_tags = largest(last, 3)) AS largest FROM hot_tagged JOIN hot_given USING (id) GROUP BY 1;

-- Images: a mask of whole numbers is of classes 0 and 1, one of other numbers is an image of numbers, whatever the loss
CREATE FUNCTION image_of(i int) RETURNS real[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY[ARRAY[i % 2, i % 3 / 2.0, i % 5 / 4.0], ARRAY[i % 7 / 6.0, i % 2, i % 3 / 2.0]]::real[] $$;
CREATE TABLE images AS SELECT i AS id, image_of(i) AS image, image_of(i) AS twin,
    ARRAY[ARRAY[i % 2, (i % 3 > 1)::int, (i % 5 > 2)::int], ARRAY[(i % 7 > 3)::int, i % 2, (i % 3 > 1)::int]] AS mask FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('images', 'masks', 'mask', 'image');
SELECT hopper.training_preprocessor('images', 'twins', 'twin', 'image');
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Reshape", "config": {"target_shape": [2, 3, 1], "batch_input_shape": [null, 2, 3]}},
    {"class_name": "Conv2D", "config": {"filters": 6, "kernel_size": 3, "padding": "same", "activation": "relu"}},
    {"class_name": "Conv2D", "config": {"name": "last", "filters": 1, "kernel_size": 1, "activation": "sigmoid"}}]}}', name => 'images');
SELECT models_trained FROM hopper.fit('masks', 'm', 'networks', 3, 'loss=binary_crossentropy, optimizer=Adam(lr=0.05), metrics=[accuracy]', 'batch_size=8', 10);
SELECT hopper.predict('m', 'images', 'id', output_table => 'm_classes', pred_type => 'response');
SELECT hopper.predict('m', 'images', 'id', output_table => 'm_all');
SELECT hopper.predict('m', 'images', 'id', output_table => 'm_given', layer => 'last');
SELECT pg_typeof(predicted_mask), array_dims(predicted_mask), bool_and(ARRAY(SELECT flat(predicted_mask)::int) = halves(last)) AS halves,
    avg((predicted_mask = mask)::int) > 0.3 AS learnt FROM m_classes JOIN m_given USING (id) JOIN images USING (id) GROUP BY 1, 2;
SELECT array_dims(prob_mask), bool_and((SELECT max(abs(a - b)) FROM unnest(prob_mask, last) AS u(a, b)) < 1e-6) AS same FROM m_all JOIN m_given USING (id) GROUP BY 1;
SELECT count(*), bool_and(class_value = (predicted_mask[1 + (rank - 1) / 3][1 + (rank - 1) % 3])::text AND prob >= 0.5) AS same
FROM hopper.predict_rows('m', NULL::images) r JOIN m_classes p ON p.id = (r.source).id;
SELECT (hopper.evaluate('m', 'masks', confusion_table => 'mask_confusion')).loss < 0.7 AS learnt;
SELECT row_id, class, examples = (SELECT count(*) FROM images, unnest(mask) t WHERE t = row_id - 1) AS examples FROM mask_confusion ORDER BY row_id;
SELECT models_trained FROM hopper.fit('twins', 'by_crossentropy', 'networks', 3, 'loss=binary_crossentropy, optimizer=Adam(lr=0.05)', 'batch_size=8', 1);
SELECT models_trained FROM hopper.fit('twins', 'by_squares', 'networks', 3, 'loss=mse, optimizer=Adam(lr=0.05)', 'batch_size=8', 1);
SELECT hopper.predict('by_crossentropy', 'images', 'id', output_table => 'c');
SELECT hopper.predict('by_squares', 'images', 'id', output_table => 's');
SELECT hopper.predict('by_squares', 'images', 'id', output_table => 's_given', layer => 'last');
SELECT pg_typeof(c.predicted_twin), array_dims(c.predicted_twin), array_dims(s.predicted_twin),
    bool_and((SELECT max(abs(a - b)) FROM unnest(s.predicted_twin, last) AS u(a, b)) < 1e-6) AS same
FROM c JOIN s USING (id) JOIN s_given USING (id) GROUP BY 1, 2, 3;
SELECT count(*), max(rank), count(value) FROM hopper.predict_rows('by_crossentropy', NULL::images);
SELECT hopper.evaluate('by_squares', 'twins', confusion_table => 'refused');

-- An autoencoder of one axis: numbers, too. Labels of integers, as many as there are features, are classes.
CREATE TABLE lines AS SELECT id, ARRAY(SELECT unnest(image)) AS line, ARRAY(SELECT (v > 0.5)::int FROM unnest(image) v) AS signs FROM images;
SELECT hopper.training_preprocessor('lines', 'lines_packed', 'line', 'line');
SELECT hopper.training_preprocessor('lines', 'signs_packed', 'signs', 'line');
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 4, "batch_input_shape": [null, 6]}},
    {"class_name": "Dense", "config": {"name": "last", "units": 6, "activation": "sigmoid"}}]}}', name => 'lines') AS lines \gset
SELECT models_trained FROM hopper.fit('lines_packed', 'l', 'networks', :lines, 'loss=binary_crossentropy, optimizer=Adam(lr=0.05)', 'batch_size=8', 1);
SELECT models_trained FROM hopper.fit('signs_packed', 'g', 'networks', :lines, 'loss=binary_crossentropy, optimizer=Adam(lr=0.05)', 'batch_size=8', 1);
SELECT hopper.predict('l', 'lines', 'id', output_table => 'l_values');
SELECT hopper.predict('l', 'lines', 'id', output_table => 'l_given', layer => 'last');
SELECT hopper.predict('g', 'lines', 'id', output_table => 'g_classes');
SELECT pg_typeof(predicted_line), array_dims(predicted_line),
    bool_and((SELECT max(abs(a - b)) FROM unnest(predicted_line, last) AS u(a, b)) < 1e-6) AS same
FROM l_values JOIN l_given USING (id) GROUP BY 1, 2;
SELECT count(*), count(DISTINCT class_value) AS classes, max(rank) FROM g_classes;
SELECT count(*), count(value) FROM hopper.predict_row('l', 1, ARRAY[1, 0, 1, 0, 1, 0]::real[]);
SELECT hopper.evaluate('l', 'lines_packed', confusion_table => 'refused');

-- Layers that move values keep their meaning: softmax and sigmoid with a Reshape behind them warn of nothing
SET client_min_messages = notice;
SELECT hopper.load_model('moved', '{"class_name": "Sequential", "config": {"name": "moved", "layers": [
    {"class_name": "Conv2D", "config": {"filters": 3, "kernel_size": [2, 3], "activation": "softmax", "batch_input_shape": [null, 2, 3, 1]}},
    {"class_name": "Reshape", "config": {"target_shape": [3]}}]}}', name => 'softmax');
SELECT hopper.load_model('moved', '{"class_name": "Sequential", "config": {"name": "moved", "layers": [
    {"class_name": "Dense", "config": {"units": 3, "activation": "sigmoid", "batch_input_shape": [null, 2, 3]}},
    {"class_name": "Permute", "config": {"dims": [2, 1]}}, {"class_name": "Flatten", "config": {}}, {"class_name": "Activation", "config": {"activation": "linear"}}]}}', name => 'sigmoid');
SELECT hopper.load_model('moved', '{"class_name": "Sequential", "config": {"name": "moved", "layers": [
    {"class_name": "Flatten", "config": {"batch_input_shape": [null, 2, 3]}},
    {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}, {"class_name": "Dense", "config": {"units": 3}}]}}', name => 'computed');
CREATE TABLE kinds AS SELECT id, image, id % 3 AS kind, ARRAY[id % 2, id % 3 % 2, 0, 0, 1, 1] AS several FROM images;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('kinds', 'kinds_packed', 'kind', 'image');
SELECT hopper.training_preprocessor('kinds', 'several_packed', 'several', 'image');
SELECT models_trained FROM hopper.fit('kinds_packed', 'moved_softmax', 'moved', 1, 'loss=categorical_crossentropy, optimizer=SGD', 'batch_size=8', 1);
SELECT models_trained FROM hopper.fit('several_packed', 'moved_sigmoid', 'moved', 2, 'loss=binary_crossentropy, optimizer=SGD', 'batch_size=8', 1);
SELECT models_trained FROM hopper.fit('kinds_packed', 'moved_computed', 'moved', 3, 'loss=categorical_crossentropy, optimizer=SGD', 'batch_size=8', 1);
SELECT hopper.load_model('moved', (SELECT model_arch FROM moved_softmax)::text, (SELECT model_weights FROM moved_softmax), name => 'brought');
SELECT hopper.predict_byom('moved', 4, 'kinds', 'id', 'image', 'moved_byom', 'response');
SELECT count(*), bool_and(class_value IN ('0', '1', '2')) AS classes, bool_and(prob BETWEEN 0.3 AND 1) AS probable FROM moved_byom;
