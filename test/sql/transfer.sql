-- Transfer learning: frozen layers keep the weights that came, what they compute is computed once,
-- and nothing of it is to be seen but the time.
CREATE SCHEMA hopper_transfer;
SET search_path = hopper_transfer;
SET client_min_messages = warning;
\set whole '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "base", "batch_input_shape": [null, 3], "units": 32, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "head", "units": 2, "activation": "softmax"}}]}}'
\set adam 'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.05)'', metrics=[''accuracy'']'
\set sgd 'loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.1)'', metrics=[''accuracy'']'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 2000) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('models', :'whole');
SELECT models_trained FROM hopper.fit('packed', 'base', 'models', 1, :'adam', 'batch_size=64', 1);
-- This model with a frozen base, from its weights; and another head
SELECT hopper.load_model('models', replace(:'whole', '"name": "base"', '"name": "base", "trainable": false'),
    (SELECT model_weights FROM base));
SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[2],
    ARRAY[:'adam', :'sgd'], ARRAY['batch_size=64', 'batch_size=100']);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'heads', 'configs', 3,
    validation_table => 'packed_validation', threads => 2);
SELECT mst_key, training_metrics_final > 0.9 AS good FROM heads_info ORDER BY 1;
-- 3 * 32 weights and 32 biases are the base's, the others are not
SELECT DISTINCT substring(h.model_weights FROM 1 FOR 512) = substring(b.model_weights FROM 1 FOR 512) AS kept,
    h.model_weights = b.model_weights AS untrained FROM heads h, base b;
-- Where there is no memory to keep anything; in two runs; on one thread
SET hopper.memory_limit = '1MB';
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'tight', 'configs', 3,
    validation_table => 'packed_validation', threads => 2);
RESET hopper.memory_limit;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'two', 'configs', 1,
    validation_table => 'packed_validation', threads => 1);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'two', 'configs', 2,
    validation_table => 'packed_validation', threads => 1, warm_start => true);
SELECT mst_key, h.state_digest = t.state_digest AS tight, h.state_digest = w.state_digest AS two,
    h.validation_loss_final = t.validation_loss_final AS tight_loss
FROM heads_info h JOIN tight_info t USING (mst_key) JOIN two_info w USING (mst_key) ORDER BY 1;
-- Evaluations and predictions know nothing of it
SELECT e.loss = h.validation_loss_final AS same_loss
FROM heads_info h, hopper.evaluate('heads', 'packed_validation', mst_key => 1) e WHERE h.mst_key = 1;
SELECT hopper.predict('heads', 'points', 'id', 'x', 'predicted', 'response', mst_key => 1);
SELECT avg((predicted_y = y)::int) > 0.9 AS good FROM predicted JOIN points USING (id);
DROP SCHEMA hopper_transfer CASCADE;
