-- Prediction: shapes of the output, and what is refused. test/e2e compares the numbers.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_predict;
SET search_path = hopper_predict;
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 2, "activation": "softmax"}}]}}'
\set adam 'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.05)'', metrics=[''accuracy'']'
CREATE TYPE direction AS ENUM ('up', 'down');
CREATE TABLE points AS SELECT i AS "Id", ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    (CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END)::direction AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x');
SELECT hopper.load_model('models', :'mlp');
SELECT hopper.load_model_selection_table('models', 'configs', ARRAY[1], ARRAY[:'adam'],
    ARRAY['batch_size=16', 'batch_size=64']);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', 10);

-- Which of several models
SELECT hopper.evaluate('m', 'packed') IS NOT NULL AS evaluated;
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'p', mst_key => 3);
\echo :LAST_ERROR_SQLSTATE

-- Shapes
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'p', mst_key => 1);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'p'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*), count(DISTINCT "Id"), min(rank), max(rank), array_agg(DISTINCT class_name) AS names,
    array_agg(DISTINCT class_value) AS classes, bool_and(class_value = predicted_y::text) FILTER (WHERE rank = 1) AS same FROM p;
-- predicted_y is the most probable class in all rows
SELECT count(*) > 0 AS some, bool_and(predicted_y::text = (SELECT class_value FROM p best WHERE best."Id" = p."Id" AND rank = 1)) AS best FROM p WHERE rank > 1;
SELECT "Id", round(sum(prob)::numeric, 4) AS sum FROM p GROUP BY 1 ORDER BY 1 LIMIT 2;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'r', 'response', mst_key => 1);
SELECT avg((predicted_y = y)::int) > 0.9 AS right FROM r JOIN points USING ("Id");
SELECT * FROM r LIMIT 0;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'k', 1, mst_key => 1);
SELECT count(*), max(rank) FROM k;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 't', 0.5, mst_key => 1);
SELECT count(*) > 190 AS most, min(prob) > 0.5 AS above FROM t;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'n', NULL, mst_key => 1);
SELECT count(*) FROM n;
SELECT count(*), round(sum(prob)::numeric, 4) AS sum, max(value) AS value
FROM hopper.predict_row('m', 1, ARRAY[0.5, 0.5, 0.1]);
SELECT loss_type, metrics_type, loss IS NOT NULL AS loss, metric = metrics[1] AS metric
FROM hopper.evaluate('m', 'packed', 'e', false, 1);
SELECT count(*), min(metric) > 0.9 AS good FROM e;

-- Refused
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'p', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'q', 'best', mst_key => 1);
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'q', 0, mst_key => 1);
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'q', 1.5, mst_key => 1);
SELECT hopper.predict('m', 'points', 'id', 'x', 'q', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', '"Id"', 'xx', 'q', mst_key => 1);
SELECT hopper.predict('m', 'packed', 'buffer_id', 'x', 'q', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', '"Id"', 'y', 'q', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'points', '"Id"', '"Id"', 'q', mst_key => 1);
SELECT hopper.predict('points', 'points', '"Id"', 'x', 'q');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('nothing', 'points', '"Id"', 'x', 'q');
SELECT hopper.predict('m', 'point', '"Id"', 'x', 'q', mst_key => 1);
SELECT hopper.predict(NULL, 'points', '"Id"', 'x', 'q');
SELECT hopper.predict('m', 'points', NULL, 'x', 'q', mst_key => 1);
CREATE TABLE bad AS SELECT 1 AS id, '{1,2}'::real[] AS x;
SELECT hopper.predict('m', 'bad', 'id', 'x', 'q', mst_key => 1);
UPDATE bad SET x = NULL;
SELECT hopper.predict('m', 'bad', 'id', 'x', 'q', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
UPDATE bad SET x = '{1,NaN,3}';
SELECT hopper.predict('m', 'bad', 'id', 'x', 'q', mst_key => 1);
UPDATE bad SET id = NULL;
SELECT hopper.predict('m', 'bad', 'id', 'x', 'q', mst_key => 1);
DELETE FROM bad;
SELECT hopper.predict('m', 'bad', 'id', 'x', 'q', mst_key => 1);
SELECT count(*) FROM q;
SELECT hopper.predict_row('m', 1, ARRAY[1, 2]);
SELECT hopper.predict_row('m', 1, ARRAY['a', 'b', 'c']);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict_row('m', 1, ARRAY[1, NULL, 3]);
-- without its 400 digits
SELECT hopper.predict_row('m', 1, '[1, -1e400, 1e-400]');
SELECT hopper.predict_row('m', 9, ARRAY[1, 2, 3]);
-- Without a key the best model, of those that are left
SET client_min_messages = notice;
SELECT class_value FROM hopper.predict_row('m', NULL, ARRAY[1, 2, 3]);
SELECT class_value FROM hopper.predict_row('m', features => ARRAY[1, 2, 3]);
BEGIN;
DELETE FROM m WHERE mst_key = 1;
SELECT class_value FROM hopper.predict_row('m', ARRAY[1, 2, 3]);
INSERT INTO m SELECT 3, model_weights, model_arch FROM m;
INSERT INTO m_info (mst_key, status, metrics_type, training_metrics_final, training_loss_final, compile_params)
SELECT 3, 'done', metrics_type, 0, 99, compile_params FROM m_info WHERE mst_key = 2;
SELECT class_value FROM hopper.predict_row('m', ARRAY[1, 2, 3]);
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'by_the_best');
ROLLBACK;
SET client_min_messages = warning;
SELECT hopper.predict_row('points', 1, ARRAY[1, 2, 3]);
SELECT hopper.evaluate('m', 'points', mst_key => 1);
SELECT hopper.evaluate('m', 'packed', 'e', mst_key => 1);
SELECT hopper.predict_byom('models', 1, 'points', '"Id"', 'x', 'q2');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('models', :'mlp', (SELECT model_weights FROM m WHERE mst_key = 1));
SELECT hopper.predict_byom('models', 2, 'points', '"Id"', 'x', 'q2', class_values => ARRAY['a', 'b', 'c']);
SELECT hopper.predict_byom('models', 2, 'points', '"Id"', 'x', 'q2', normalizing_const => 0);
SELECT hopper.predict_byom('models', 5, 'points', '"Id"', 'x', 'q2');
SELECT hopper.predict_byom('models', 2, 'points', '"Id"', 'x', 'q2', class_values => ARRAY[['rauf', 'runter']]);
SELECT class_name, array_agg(DISTINCT class_value) AS classes, count(*) FROM q2 GROUP BY 1;
SELECT count(*) FROM q2 JOIN p USING ("Id", rank, prob);
-- Drivers send 2 as smallint, which fits the function for thresholds best.
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'top_two', 2::smallint, mst_key => 1);
SELECT max(rank), count(*) = 2 * count(DISTINCT "Id") AS two_each FROM top_two;
-- Names that the output has anyway, and tables that would be made twice
CREATE VIEW renamed AS SELECT "Id" AS prob, "Id" AS rank, y AS predicted_y, x FROM points;
SELECT hopper.predict('m', 'renamed', 'prob', 'x', 'q3', 'response', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.predict('m', 'renamed', 'predicted_y', 'x', 'q3', mst_key => 1);
SELECT hopper.predict('m', 'renamed', 'rank', 'x', 'q3', mst_key => 1);
SELECT hopper.predict('m', 'renamed', 'rank', 'x', 'q3', 'response', mst_key => 1);
SELECT * FROM q3 LIMIT 0;
SELECT hopper.predict('m', 'points', 'ctid', 'x', 'q4', mst_key => 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.evaluate('m', 'packed', 'twice', mst_key => 1, confusion_table => 'hopper_predict.twice');
\echo :LAST_ERROR_SQLSTATE
-- Rows that are replaced leave their table as it is, with what others have made of it
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', 'response', mst_key => 1, replace => 'rows');
ALTER TABLE scores ADD PRIMARY KEY ("Id"), ADD by text DEFAULT current_user;
COMMENT ON TABLE scores IS 'for the board';
GRANT SELECT ON scores TO PUBLIC;
CREATE VIEW board AS SELECT "Id", predicted_y FROM scores WHERE "Id" > 3;
CREATE TABLE before AS SELECT * FROM scores;
UPDATE scores SET predicted_y = NULL;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', 'response', mst_key => 1, replace => 'rows') = count(*) AS all FROM points;
SELECT count(*) FILTER (WHERE board.predicted_y = before.predicted_y) = count(*) AS same, count(*) > 0 AS some FROM board JOIN before USING ("Id");
SELECT obj_description('scores'::regclass), relacl IS NOT NULL AS granted, relhasindex, (SELECT bool_and(by = current_user) FROM scores) AS own
FROM pg_class WHERE oid = 'scores'::regclass;
SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper_new%';
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', 'response', mst_key => 1, replace => true);
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', mst_key => 1, replace => 'rows');
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'board', 'response', mst_key => 1, replace => 'rows');
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', 'response', mst_key => 1, replace => 'row');
CREATE RULE nothing AS ON INSERT TO scores DO INSTEAD NOTHING;
SELECT hopper.predict('m', 'points', '"Id"', 'x', 'scores', 'response', mst_key => 1, replace => 'rows');
SELECT count(*) > 0 AS kept FROM scores;
-- A configuration that failed is told from one that never was.
INSERT INTO m_info SELECT (jsonb_populate_record(i, '{"mst_key": 7, "status": "failed", "error": "loss became NaN"}')).*
FROM m_info i WHERE mst_key = 1;
SELECT hopper.evaluate('m', 'packed', mst_key => 7);

DROP SCHEMA hopper_predict CASCADE;
