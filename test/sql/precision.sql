-- Training in bf16: what the outputs say, and what stays the same.
CREATE SCHEMA hopper_precision;
SET search_path = hopper_precision;
-- Processors without bfloat16 instructions give a NOTICE.
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 64, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 64, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_3", "units": 2, "activation": "softmax"}}]}}'
\set adam 'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.005)'', metrics=[''accuracy'']'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('models', :'mlp');
SELECT models_trained FROM hopper.fit('packed', 'plain', 'models', 1, :'adam', 'batch_size=16', 4);
SELECT models_trained FROM hopper.fit('packed', 'half', 'models', 1, :'adam', 'batch_size=16', 4,
    validation_table => 'packed_validation', dtype => 'bf16', threads => 1);
SELECT dtype, numerics_class LIKE '%, bf16%, planned, %' AS numerics FROM half_summary;
-- Almost the same model, but not the same
SELECT pm.model_weights <> hm.model_weights AS other, h.training_metrics_final > 0.9 AS good,
    abs(p.training_metrics_final - h.training_metrics_final) < 0.05 AS near
FROM plain_info p, half_info h, plain pm, half hm;
-- Equal bits with other threads, with another model beside, and in two runs
SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[1],
    ARRAY[:'adam', 'loss=''categorical_crossentropy'', optimizer=''SGD()'''], ARRAY['batch_size=16']);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'two', 'configs', 3, threads => 2,
    dtype => 'bf16');
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'two', 'configs', 1, threads => 2,
    warm_start => true, dtype => 'bf16');
SELECT t.state_digest = h.state_digest AS same FROM two_info t, half_info h WHERE t.mst_key = 1;
-- Evaluation is in fp32, in a run and after it
SELECT e.loss = h.validation_loss_final AS same_loss
FROM half_info h, hopper.evaluate('half', 'packed_validation', mst_key => 1) e;
-- A run does not go on in another precision
\set VERBOSITY terse
SELECT models_trained FROM hopper.fit('packed', 'half', 'models', 1, :'adam', 'batch_size=16', 1,
    warm_start => true);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
DO $$
DECLARE
    hint text;
BEGIN
    PERFORM hopper.fit('packed', 'half', 'models', 1, 'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.005)''',
        'batch_size=16', 1, warm_start => true);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RAISE INFO '%', hint;
END $$;
-- unless one says so, which its results say, too, whatever runs they go through
\set VERBOSITY terse
SET hopper.mix_numerics = on;
SELECT models_trained FROM hopper.fit('packed', 'half', 'models', 1, :'adam', 'batch_size=16', 1,
    warm_start => true);
SELECT dtype, numerics_class LIKE '%, fp32, %, mixed' AS is_mixed FROM half_summary;
RESET hopper.mix_numerics;
SELECT models_trained FROM hopper.fit('packed', 'half', 'models', 1, :'adam', 'batch_size=16', 1,
    warm_start => true);
SELECT dtype, numerics_class LIKE '%, fp32, %, mixed' AS is_mixed, i.iterations FROM half_summary, half_info i;
SELECT numerics_class LIKE '%, mixed' AS is_mixed FROM two_summary;
-- It is said once, of all models
SET hopper.mix_numerics = on;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'two', 'configs', 1, warm_start => true);
DROP SCHEMA hopper_precision CASCADE;
