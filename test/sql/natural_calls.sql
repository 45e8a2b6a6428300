-- Calls as people write them: numbers beside overloads and left-out arguments, literals without a
-- type, NULL, JSON; and one name for two tables.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_calls;
SET search_path = hopper_calls;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, ((i * 37 % 101 - 50) / 64.0)::real AS a, ((i * 61 % 101 - 50) / 64.0)::real AS b,
    CASE WHEN i * 37 % 101 > 50 THEN 'up' WHEN i * 37 % 101 < 20 THEN 'down' ELSE 'level' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, b');
SELECT hopper.mlp('networks', 'packed', 8) AS net \gset
SELECT models_trained FROM hopper.fit('packed', 'm', 'networks', :net,
    'loss=categorical_crossentropy, optimizer=Adam(lr=0.05)', 'batch_size=16', 5);

-- pred_type: a number where arguments are left out, of any type; as text; NULL
SELECT hopper.predict('m', 'points', 'id', output_table => 'p', pred_type => 2);
SELECT max(rank) FROM p;
CREATE FUNCTION ranks(how text) RETURNS TABLE (how_many bigint, last int) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT hopper.predict(%L, %L, %L, output_table => %L, replace => true, pred_type => %s)', 'm', 'points', 'id', 'p', how);
    RETURN QUERY SELECT count(*), max(rank) FROM p;
END $$;
SELECT how, last FROM unnest(ARRAY['1', '2::smallint', '3::bigint', '''2''', '''2''::text', '''2''::varchar', '2.0', '2.0::float8',
    '2::real', '''prob''', 'NULL']) AS how, ranks(how);
SELECT how, last BETWEEN 1 AND 3 AS some FROM unnest(ARRAY['0.25', '0.25::float8', '0.25::real', '0::float8', '0::real', '''0.25''']) AS how, ranks(how);
SELECT * FROM ranks('0');
SELECT * FROM ranks('1.5');
SELECT * FROM ranks('''NaN''::float8');
SELECT * FROM ranks('''best''');
SELECT hopper.predict('m', 'points', 'id', NULL, 'p5', 1), hopper.predict('m', 'points', 'id', NULL, 'p6', 0.5), hopper.predict('m', 'points', 'id', NULL, 'p7', 'response');
SELECT max(rank) FROM hopper.predict_rows('m', NULL::points, 2);
SELECT count(*) > 0 AS some, min(prob) > 0.25 AS above FROM hopper.predict_rows('m', NULL::points, pred_type => 0.25);
SELECT hopper.load_model('trained', model_arch, model_weights) FROM (SELECT (SELECT model_arch FROM networks) AS model_arch, model_weights FROM m) AS w;
SELECT hopper.predict_byom('trained', 1, 'points', 'id', 'a, b', 'byom', pred_type => 2);
SELECT max(rank) FROM byom;

-- predict_row: literals, NULL, JSON by names and in order
CREATE FUNCTION most(call text) RETURNS TABLE (class_value text, prob text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT class_value, to_char(prob, %L) FROM hopper.predict_row(%s) LIMIT 1', '0.000', call);
END $$;
CREATE TABLE known AS SELECT * FROM most('''m'', ARRAY[0.25, -0.5]');
SELECT call, m = known AS same FROM known, unnest(ARRAY[
    $$'m', '{0.25,-0.5}'$$, $$'m', 1, '{0.25,-0.5}'$$, $$'m', '[0.25, -0.5]'$$, $$'m', '{"b": -0.5, "a": 0.25}'$$,
    $$'m', 1, '{"b": -0.5, "a": 0.25, "note": "x", "more": [[1], {}]}'$$, $$'m', '{"b": -0.5, "a": 0.25}'::jsonb$$,
    $$'m', NULL::bigint, '[0.25, -0.5]'::jsonb$$, $$'m', features => ' [0.25, -0.5] '$$, $$'m', '{0.25,-0.5}'::text, on_null => 'null'$$,
    $$'m', to_json(ARRAY[0.25, -0.5])::jsonb$$, $$'m', source_row => (SELECT r FROM (SELECT -0.5 AS b, 0.25 AS a) r)$$]) AS call, most(call) AS m;
SELECT count(*), count(DISTINCT source), bool_and(same) FROM (
    SELECT p AS source, r.class_value = s.class_value AND r.prob = s.prob AS same FROM points p,
        LATERAL (SELECT * FROM hopper.predict_row('m', row_to_json(p)::text::jsonb) LIMIT 1) r,
        LATERAL (SELECT * FROM hopper.predict_row('m', p) LIMIT 1) s WHERE id <= 20) AS each;
SELECT bool_and(r::text = s::text) AS json_as_jsonb FROM points p, LATERAL hopper.predict_row('m', row_to_json(p)) r, LATERAL hopper.predict_row('m', 1, row_to_json(p), 'null') s WHERE r.class_value = s.class_value;
PREPARE untyped AS SELECT count(*) FROM hopper.predict_row($1, $2, $3);
EXECUTE untyped('m', '{"a": 1, "b": 1}', 'null');
EXECUTE untyped('m', '1', '{"a": 1, "b": 1}');
DEALLOCATE untyped;
SELECT * FROM hopper.predict_row('m', NULL);
SELECT * FROM hopper.predict_row('m', 1, NULL);
SELECT * FROM hopper.predict_row('m', NULL, on_null => 'null');
SELECT * FROM hopper.predict_row('m', 'null'::jsonb, 'null');
SELECT * FROM hopper.predict_row('m', 'null'::jsonb);
SELECT * FROM hopper.predict_row('m', '{"a": null, "b": 1}');
SELECT * FROM hopper.predict_row('m', '{"a": null, "b": 1}', 'null');
SELECT * FROM hopper.predict_row('m', '[null, 1]', 'null');
SELECT * FROM hopper.predict_row('m', '{"a": 1}');
SELECT * FROM hopper.predict_row('m', '{"a": "high", "b": 1}');
SELECT * FROM hopper.predict_row('m', '{"a": {}, "b": 1}');
SELECT * FROM hopper.predict_row('m', '{"a": [1, 2], "b": 1}');
SELECT * FROM hopper.predict_row('m', '["high", 1]');
SELECT * FROM hopper.predict_row('m', '[1, 2, 3]');
SELECT * FROM hopper.predict_row('m', '{}');
SELECT * FROM hopper.predict_row('m', '3');
SELECT * FROM hopper.predict_row('m', 'a, b');
SELECT * FROM hopper.predict_row('m', '{1,b}');
SELECT * FROM hopper.predict_row('m', NULL, '{1,2}');

-- arrays and bytes by their column's name
CREATE TABLE pictures AS SELECT i AS id, i % 2 AS y, ARRAY[i % 2, i % 5, i % 3, 1]::smallint[] AS pixels,
    ('\x' || lpad(to_hex(i % 2), 2, '0') || lpad(to_hex(i % 5), 2, '0') || lpad(to_hex(i % 3), 2, '0') || '01')::bytea AS bytes
FROM generate_series(1, 64) i;
SELECT hopper.training_preprocessor('pictures', 'pictures_packed', 'y', 'pixels'),
    hopper.training_preprocessor('pictures', 'bytes_packed', 'y', 'bytes', image_shape => ARRAY[4]);
SELECT hopper.mlp('networks', 'pictures_packed', 4) AS net \gset
SELECT models_trained FROM hopper.fit('pictures_packed', 'm2', 'networks', :net, 'loss=binary_crossentropy, optimizer=Adam', 'batch_size=16', 1);
SELECT models_trained FROM hopper.fit('bytes_packed', 'm3', 'networks', :net, 'loss=binary_crossentropy, optimizer=Adam', 'batch_size=16', 1);
SELECT count(DISTINCT prob) FROM (SELECT (SELECT prob FROM hopper.predict_row('m2', '{"pixels": [1, 2, 0, 1]}') LIMIT 1) AS prob
    UNION ALL SELECT (SELECT prob FROM hopper.predict_row('m2', ARRAY[1, 2, 0, 1]) LIMIT 1)
    UNION ALL SELECT (SELECT prob FROM hopper.predict_row('m2', '[1, 2, 0, 1]') LIMIT 1)) AS p;
SELECT count(DISTINCT prob) FROM (SELECT (SELECT prob FROM hopper.predict_row('m3', '{"bytes": "\\x01020001"}') LIMIT 1) AS prob
    UNION ALL SELECT (SELECT prob FROM hopper.predict_row('m3', '\x01020001'::bytea) LIMIT 1)
    UNION ALL SELECT (SELECT prob FROM hopper.predict_row('m3', '\x01020001') LIMIT 1)) AS p;
SELECT * FROM hopper.predict_row('m3', '{"bytes": null}', 'null');
SELECT * FROM hopper.predict_row('m3', '\x0102');

-- describe_model() says what check_configs() says of other data
SELECT layer, output_shape FROM hopper.describe_model('networks', 1, 'packed') LIMIT 1;
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 3, "activation": "softmax", "batch_input_shape": [null, 3]}}]}}') AS wide \gset
SELECT * FROM hopper.describe_model('networks', :wide, 'packed');
SELECT layer, output_shape FROM hopper.describe_model('networks', :wide) LIMIT 1;

-- One name for two tables
SELECT hopper.training_preprocessor('points', 'points', 'y', 'a, b');
SELECT hopper.validation_preprocessor('points', 'packed', packed_table => 'packed');
SELECT hopper.validation_preprocessor('points', 'points', packed_table => 'packed');
SELECT hopper.generate_model_configs('networks', 'networks', 1, $${'loss': ['mse'], 'optimizer': ['SGD']}$$, NULL);
SELECT hopper.load_model_selection_table('networks', 'networks', 1, ARRAY['loss=mse, optimizer=SGD'], ARRAY['batch_size=16']);
SELECT hopper.load_model_selection_table('networks', 'configs', 1, ARRAY['loss=categorical_crossentropy, optimizer=SGD'], ARRAY['batch_size=16']);
SELECT * FROM hopper.fit_multiple_model('packed', 'packed', 'configs', 1);
SELECT * FROM hopper.fit_multiple_model('packed', 'configs', 'configs', 1, replace => true);
SELECT * FROM hopper.fit_multiple_model('packed', 'hopper_calls.packed', 'configs', 1);
-- what was left out is named
SELECT * FROM hopper.fit('packed', 'left_out', 'networks', 1);
SELECT * FROM hopper.fit('packed', 'left_out', 'networks', 1, 'loss=binary_crossentropy, optimizer=SGD');
SELECT * FROM hopper.fit_multiple_model('packed', 'left_out', 'configs');
SELECT * FROM hopper.fit('packed', 'networks', 'networks', 1, 'loss=mse, optimizer=SGD', NULL, 1);
SELECT * FROM hopper.fit('packed', 'packed', 'networks', 1, 'loss=mse, optimizer=SGD', NULL, 1);
SELECT * FROM hopper.automl('packed', 'found', 'networks', 'found', 1, $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT * FROM hopper.automl('packed', 'found', 'networks', 'found_info', 1, $${'loss': ['categorical_crossentropy'], 'optimizer': ['SGD']}$$);
SELECT * FROM hopper.automl('packed', 'found', 'networks', 'packed', 1, $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT * FROM hopper.automl('packed', 'networks', 'networks', 'best', 1, $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT hopper.predict('m', 'points', 'id', output_table => 'm');
SELECT hopper.predict('m', 'points', 'id', output_table => 'points', replace => true);
SELECT hopper.predict_byom('trained', 1, 'points', 'id', 'a, b', 'trained');
SELECT * FROM hopper.evaluate('m', 'packed', output_table => 'm');
SELECT * FROM hopper.evaluate('m', 'packed', output_table => 'e', confusion_table => 'e');
SELECT * FROM hopper.evaluate('m', 'packed', confusion_table => 'packed');
SELECT hopper.mlp('packed', 'packed', 4);
SELECT hopper.copy_model('m', 'm');
SELECT hopper.rename_model('m', 'm');

\set VERBOSITY terse
SET client_min_messages = error;
DROP SCHEMA hopper_calls CASCADE;
