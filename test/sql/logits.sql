-- Models that end in logits: prediction makes probabilities of them, and cuts at a probability of one half.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_logits;
SET search_path = hopper_logits;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 400) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b', partitions => 1);
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1}}]}}');
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 2}}]}}');
-- Equal weights with the activation, for comparison
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}');
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
-- Not for long, so that there are logits between 0 and one half
CREATE FUNCTION train(name text, model_id integer, loss text, iterations integer DEFAULT 3) RETURNS integer LANGUAGE sql AS $$
    SELECT models_trained FROM hopper.fit('packed', name, 'models', model_id, 'loss=' || loss || ', optimizer=Adam(lr=0.05)', NULL,
        iterations, seed => 5)
$$;
SELECT train('one_logit', 1, 'BinaryCrossentropy(from_logits=True)'), train('one_probability', 3, 'binary_crossentropy'),
    train('two_logits', 2, 'CategoricalCrossentropy(from_logits=True)'), train('two_probabilities', 4, 'categorical_crossentropy');
-- Linear ends
SET client_min_messages = error;
SELECT train('linear', 1, 'binary_crossentropy', 60);
SET client_min_messages = warning;
SELECT hopper.predict(m, 'points', 'id', output_table => 'p_' || m) AS predicted
FROM unnest(ARRAY['one_logit', 'one_probability', 'two_logits', 'two_probabilities', 'linear']) m;
SELECT count(*) AS rows, max(abs(l.prob - p.prob)) < 1e-5 AS equal, bool_and(l.class_value = p.class_value) AS same
FROM p_one_logit l JOIN p_one_probability p USING (id, rank);
SELECT count(*) AS rows, max(abs(l.prob - p.prob)) < 1e-5 AS equal, bool_and(l.class_value = p.class_value) AS same
FROM p_two_logits l JOIN p_two_probabilities p USING (id, rank);
SELECT min(prob) >= 0 AND max(prob) <= 1 AS within, min(prob) = 0 AND max(prob) = 1 AS reached FROM p_linear;
SELECT count(*) > 20 AS between FROM p_one_probability WHERE class_value = 'up' AND prob BETWEEN 0.5 AND 0.62;
SELECT count(*) AS rows FROM (SELECT id FROM p_one_logit GROUP BY id HAVING abs(sum(prob) - 1) > 1e-9) wrong;
-- A threshold, one row, the confusion matrix
SELECT hopper.predict('one_logit', 'points', 'id', output_table => 'p_likely', pred_type => '0.5') = count(*) AS all_of_them FROM points;
SELECT count(*) AS rows, sum(prob) BETWEEN 0.999999 AND 1.000001 AS one FROM hopper.predict_row('one_logit', 1, ARRAY[0.1, 0.9]);
SELECT (hopper.evaluate('one_logit', 'packed', confusion_table => 'confusion')).loss > 0 AS evaluated;
SELECT hopper.predict('one_logit', 'points', 'id', NULL, 'p_response', 'response') AS predicted;
SELECT c.class, c.predicted = (SELECT count(*) FROM p_response p WHERE p.class_value = c.class) AS as_predicted FROM confusion c ORDER BY 1;

-- Metrics are Keras' own.
SELECT models_trained FROM hopper.fit('packed', 'measured', 'models', 1,
    'loss=BinaryCrossentropy(from_logits=True), optimizer=Adam(), metrics=[accuracy, BinaryAccuracy(threshold=0), auc]', NULL, 1);

DROP SCHEMA hopper_logits CASCADE;
