-- What users have at hand as arguments: bigints of count(*), lists of other numbers, JSON, names, texts
-- where a list is meant. Literals without a type stay what they were.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_types;
SET search_path = hopper_types;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, ((i * 37 % 101 - 50) / 64.0)::real AS a, ((i * 61 % 101 - 50) / 64.0)::real AS "B",
    i * 37 % 101 > 50 AS up, (i % 2)::smallint AS y FROM generate_series(1, 64) i;

-- columns: a list, of exact names; name and varchar; JSON
SELECT hopper.training_preprocessor('points', 'packed', 'y', ARRAY['a', 'B']);
SELECT independent_varname FROM packed_summary;
SELECT hopper.training_preprocessor('points', 'packed', 'y'::name, (SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = 'points'::regclass AND attname IN ('a', 'B')), replace => true);
SELECT independent_varname FROM packed_summary;
SELECT hopper.training_preprocessor('points', 'packed', jsonb_build_object('answer', 'y'), '{"numbers": ["a"], "more": "B"}'::json, replace => true);
SELECT inputs::text LIKE '%"more"%' AS inputs, outputs::text LIKE '%"answer"%' AS outputs FROM packed_summary;
SELECT hopper.training_preprocessor('points', 'packed', 'y', ARRAY(SELECT column_name FROM information_schema.columns
    WHERE table_schema = 'hopper_types' AND table_name = 'points' AND data_type = 'real' ORDER BY ordinal_position), replace => true);
SELECT independent_varname FROM packed_summary;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, *', replace => true);
SELECT hopper.training_preprocessor('points', 'packed', 'y > 0', 'a', replace => true);
SELECT hopper.training_preprocessor('points', 'packed', 'y', ARRAY['a', NULL], replace => true);
SELECT hopper.training_preprocessor('points', 'packed', 'y', '{}'::text[], replace => true);
SELECT hopper.training_preprocessor('points', 'packed', 'y', ARRAY['a', 'b'], replace => true);
CREATE VIEW arrays AS SELECT id, ARRAY[a, "B"] AS x, y FROM points;
SELECT hopper.training_preprocessor('arrays'::name, 'packed'::varchar, 'y'::varchar, 'x'::varchar, replace => true,
    partitions => (SELECT count(*) / 32 FROM points), buffer_size => 10::bigint, pad_to => 'longest'::varchar);
SELECT hopper.training_preprocessor('arrays', 'packed', 'y', 'x', replace => true,
    partitions => (SELECT count(*) / 32 FROM points), buffer_size => 10::bigint, starts => ARRAY[0, 1]::bigint[], image_shape => ARRAY[2]::smallint[]);
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, "B"', replace => true, partitions => 3000000000);
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, "B"', replace => true, partitions => -3000000000);
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'a, "B"', replace => true);

-- architectures, grids and parameters: text, json, jsonb
SELECT '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid",
    "batch_input_shape": [null, 2]}}]}}' AS arch \gset
SELECT hopper.load_model('networks', :'arch', name => 'one'), hopper.load_model('networks', :'arch'::text, name => 'two'),
    hopper.load_model('networks', :'arch'::json, '\x0000803f0000803f00000000'::bytea, 'three'), hopper.load_model('networks', :'arch'::jsonb), hopper.load_model('networks', :'arch'::varchar);
SELECT hopper.load_model('networks', NULL);
SELECT (SELECT count(*) FROM hopper.describe_model(:'arch')) AS literal, (SELECT count(*) FROM hopper.describe_model(:'arch'::text)) AS text,
    (SELECT count(*) FROM hopper.describe_model(:'arch'::json)) AS json, (SELECT count(*) FROM hopper.describe_model(:'arch'::jsonb)) AS jsonb;
CREATE FUNCTION alike(call text) RETURNS TABLE (form text, same boolean) LANGUAGE plpgsql AS $$
DECLARE
    arch text := (SELECT model_arch FROM networks WHERE model_id = 1);
    first text;
    this text;
BEGIN
    FOREACH form IN ARRAY ARRAY['json', 'jsonb', 'text', 'varchar', ''] LOOP
        EXECUTE format('SELECT md5((' || call || ')::text)', quote_literal(arch) || CASE WHEN form <> '' THEN '::' || form ELSE '' END) INTO this;
        first := coalesce(first, this);
        same := this = first;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT string_agg(form, ', ') FROM alike('hopper.to_onnx(%s, ''\x0000803f0000803f00000000''::bytea, ARRAY[2]::bigint[])');
SELECT string_agg(form || ' ' || same, ', ') FROM alike('hopper.to_pytorch(model_arch => %s)');
SELECT string_agg(form || ' ' || same, ', ') FROM alike('hopper.to_pytorch(model_arch => %s, input_shape => 2)');
SELECT string_agg(form, ', ') FROM alike('hopper.to_safetensors(%s, ''\x0000803f0000803f00000000'')');
SELECT string_agg(form || ' ' || same, ', ') FROM alike('hopper.from_safetensors(%1$s, hopper.to_safetensors(%1$s, ''\x0000803f0000803f00000000''), ARRAY[2]::smallint[])');
SELECT hopper.to_pytorch(:'arch');
SELECT hopper.to_onnx(:'arch'::text);
SELECT hopper.to_onnx('{not json'::text, '\x'::bytea);
SELECT hopper.model_ids('networks', 'one', 'two'), hopper.model_ids('networks', ARRAY['two', 'one']), hopper.model_ids('networks', names => ARRAY['two']),
    hopper.model_ids('networks', VARIADIC ARRAY['three']), hopper.model_ids('networks', (SELECT array_agg(name ORDER BY model_id) FROM networks WHERE model_id < 3)),
    hopper.model_ids('networks', 'one'::text), hopper.model_ids('networks', ARRAY['one']::varchar[]), hopper.model_ids('networks', ARRAY['one']::name[]);
SELECT hopper.model_ids('networks', ARRAY['one', 'four']);
SELECT hopper.generate_model_configs('networks', 'configs', ARRAY[1, 2]::numeric[],
    jsonb_build_object('loss', jsonb_build_array('binary_crossentropy'), 'optimizer_params_list', jsonb_build_array(jsonb_build_object('optimizer', jsonb_build_array('SGD')))),
    json_build_object('batch_size', json_build_array(16)), search_type => 'random', num_configs => 2::bigint, seed => 1);
SELECT hopper.generate_model_configs('networks', 'configs', 'one', $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT hopper.generate_model_configs('networks', 'configs', ARRAY['one', 'two'], $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT hopper.generate_model_configs('networks', 'configs', ARRAY['1', NULL], $${'loss': ['mse'], 'optimizer': ['SGD']}$$);
SELECT hopper.load_model_selection_table('networks', 'configs2', 1, 'loss=binary_crossentropy, optimizer=SGD', 'batch_size=16');
SELECT hopper.load_model_selection_table('networks', 'configs3', 1, ARRAY[jsonb_build_object('loss', 'binary_crossentropy', 'optimizer', 'SGD')],
    ARRAY['batch_size=16'::varchar, 'batch_size=32']);
SELECT hopper.load_model_selection_table('networks', 'configs4', 1, '{"loss=binary_crossentropy, optimizer=SGD"}', '{batch_size=16,batch_size=32}'),
    hopper.load_model_selection_table('networks', 'configs5', 1, '{"loss": "binary_crossentropy", "optimizer": "SGD"}'::text, '{"batch_size": 16}'::text);
SELECT fit_params FROM configs5;
SELECT best_metric FROM hopper.fit('packed', 'm', 'networks', 1, jsonb_build_object('loss', 'binary_crossentropy', 'optimizer', 'SGD'),
    json_build_object('batch_size', 16), num_iterations => (SELECT count(*) / 32 FROM points), threads => 1::bigint);
SELECT iterations FROM hopper.leaderboard('m', 1::bigint);
SELECT best_metric FROM hopper.fit('packed', 'm2', 'networks', 1, 'loss=binary_crossentropy, optimizer=SGD', NULL, 3000000000);
SELECT best_metric FROM hopper.fit('packed', 'm2', 'networks', 1, 'loss=binary_crossentropy, optimizer=SGD', NULL, -3000000000);
SELECT configurations FROM hopper.automl('packed', 'found', 'networks', 'found_configs', 1, automl_method => 'random', seed => 1,
    automl_params => 'num_configs=2, num_iterations=1', parallel => 2::bigint, keep => 1::bigint, space => jsonb_build_object('parameters',
        jsonb_build_object('lr', jsonb_build_object('type', 'float', 'low', 0.01, 'high', 0.1)), 'compile_params', jsonb_build_object('loss',
        'binary_crossentropy', 'optimizer', jsonb_build_object('class_name', 'SGD', 'config', jsonb_build_object('learning_rate', jsonb_build_object('hopper', 'lr')))),
        'fit_params', '{}'::jsonb));

-- class_values: what classes are called where they are numbers or truth values
CREATE FUNCTION called(given text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    names text;
BEGIN
    EXECUTE format('SELECT hopper.predict_byom(%L, 3, %L, %L, %L, %L, class_values => %s, replace => true)', 'networks', 'points', 'id', 'a, "B"', 'p', given);
    SELECT string_agg(DISTINCT class_value, ' ' ORDER BY class_value) INTO names FROM p;
    RETURN names;
END $$;
SELECT given, called(given) FROM unnest(ARRAY['ARRAY[0, 1]', 'ARRAY[0, 1]::smallint[]', 'ARRAY[0, 1]::bigint[]', 'ARRAY[0, 1]::numeric[]', 'ARRAY[false, true]',
    'ARRAY[''no'', ''yes'']', 'ARRAY[''no'', ''yes'']::varchar[]', '''{no,yes}''', '(SELECT y_class_values FROM packed_summary)']) AS given;

-- predict: which rows
SELECT hopper.predict('m', 'points', output_table => 'predicted');
SELECT hopper.predict('m', 'networks', 'model_id', output_table => 'predicted');

-- quotes that are missing, and such that are too many
SELECT hopper.training_preprocessor('"Points"', 'packed3', 'y', 'a');
SELECT hopper.training_preprocessor('points', 'packed3', 'y', 'B');
SELECT hopper.training_preprocessor('points', 'packed3', '"Y"', 'a');

-- predict_rows: whose rows
SELECT * FROM hopper.predict_rows('m', NULL);
SELECT (source).*, class_value FROM hopper.predict_rows('m', NULL, mst_key => 1);
SELECT (source).id FROM hopper.predict_rows('m', 'points');
SELECT source FROM hopper.predict_rows('m', 'points'::text);
SELECT count(*) FROM hopper.predict_rows('m', NULL::points, independent_varname => ARRAY['B', 'a']);

\set VERBOSITY terse
SET client_min_messages = error;
DROP SCHEMA hopper_types CASCADE;
