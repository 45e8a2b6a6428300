-- Tables of model architectures: load_model(), describe_model(), delete_model().
\set mlp '{"class_name": "Sequential", "keras_version": "2.1.6", "backend": "tensorflow", "config": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 4], "dtype": "float32", "units": 10, "activation": "relu", "use_bias": true, "trainable": true}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 3, "activation": "softmax", "use_bias": true, "trainable": true}}]}'
\set linear '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "linear", "layers": [{"class_name": "Dense", "config": {"name": "only", "batch_input_shape": [null, 2], "units": 1, "activation": "linear", "use_bias": true}}]}}'
CREATE SCHEMA hopper_models;
SET search_path = hopper_models;

-- The first model makes the table
SELECT hopper.load_model('library', :'mlp');
\d library
SELECT attname, attstorage FROM pg_attribute
WHERE attrelid = 'library'::regclass AND attname = 'model_weights';
SELECT obj_description('library'::regclass);

-- The next ones are added
SELECT hopper.load_model('library', :'mlp'::json, NULL, 'second', 'the same again');
SELECT hopper.load_model(
    model_arch_table => 'library',
    model_arch => :'linear',
    -- 0.5, -1.5 and the bias 2, little-endian float32
    model_weights => '\x0000003f0000c0bf00000040',
    name => 'third');
SELECT model_id, model_arch ->> 'keras_version' AS keras, length(model_weights) AS bytes, name, description
FROM library ORDER BY model_id;

-- Layers, shapes and parameters
SELECT layer_index, layer, class_name, output_shape, parameters, trainable, flops FROM hopper.describe_model('library', 1);
-- Numbers come as bigints from some clients
SELECT count(*) FROM hopper.describe_model('library', 1::bigint);
SELECT count(*) FROM hopper.describe_model('library', 2147483648);
\echo :LAST_ERROR_SQLSTATE
-- Names where numbers are wanted, and several numbers
SELECT count(*) FROM hopper.describe_model('library', 'small');
SELECT hopper.fit('packed', 'run', 'library', 'small', 'loss=mse');
SELECT hopper.delete_model('library', '{1,2}');
SELECT layer, parameters FROM hopper.describe_model(:'linear');
SELECT layer, parameters FROM hopper.describe_model(:'linear'::json);
SELECT d.layer FROM library, hopper.describe_model(model_arch) AS d WHERE model_id = 3 ORDER BY d.layer_index;

-- Wrong models are refused before anything is written
SELECT hopper.load_model('other', '{"class_name": "Sequential", "config": ');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('other', '{"class_name": "Sequential", "keras_version": "2.4.0", "config": {"name": "s", "layers": [{"class_name": "Lambda", "config": {"name": "lambda_1", "batch_input_shape": [null, 4], "function": ["4wEAAAABAAAA", null, null]}}]}}');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('other', '{"class_name": "Sequential", "keras_version": "2.4.0", "config": {"name": "s", "layers": [{"class_name": "MyPackage>Attn", "config": {"name": "attn", "batch_input_shape": [null, 4]}}]}}');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('other', :'linear', '\x0000003f0000c0bf');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('other', :'linear', '\x0000003f0000c0bf000000');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('other', :'linear', '');
SELECT hopper.load_model('other', '{"class_name": "Sequential", "keras_version": "2.4.0", "config": {"name": "cnn", "layers": [{"class_name": "Conv2D", "config": {"name": "conv2d", "batch_input_shape": [null, 28, 28, 1], "filters": 32, "kernel_size": [3, 3], "activation": "relu"}}, {"class_name": "Conv2D", "config": {"name": "conv2d_1", "filters": 64, "kernel_size": [3, 3], "activation": "relu", "use_bias": false}}, {"class_name": "MaxPooling2D", "config": {"name": "max_pooling2d", "pool_size": [2, 2]}}, {"class_name": "Flatten", "config": {"name": "flatten"}}, {"class_name": "Dense", "config": {"name": "dense", "units": 128, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_1", "units": 10, "activation": "softmax"}}]}}',
    decode(repeat('00', 4 * 1199882), 'hex'));
SELECT hopper.describe_model('{}');
SELECT hopper.describe_model('not JSON');
SELECT to_regclass('other');

-- NULL and wrong arguments
SELECT hopper.load_model(NULL, :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('', :'mlp');
SELECT hopper.load_model('  ', :'mlp');
SELECT hopper.load_model('a.b.c', :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('"unfinished', :'mlp');
SELECT hopper.load_model('library', NULL);
SELECT hopper.load_model('no_such_schema.library', :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.describe_model('library', NULL);
SELECT hopper.describe_model(NULL::text, 1);
SELECT hopper.describe_model(NULL::text);
SELECT hopper.describe_model('libary', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.describe_model('hopper_models.libary', 1);
SELECT hopper.describe_model('nothing_like_it', 1);
SELECT hopper.describe_model('library', 99);
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE unrelated (model_id integer, model_arch json);
SELECT hopper.load_model('unrelated', :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.delete_model('unrelated', 1);

-- Deleting; the table goes with its last model
SELECT hopper.delete_model('library', 7);
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.delete_model('library', NULL);
SELECT hopper.delete_model(NULL, 1);
SELECT hopper.delete_model('library', 2);
SELECT hopper.load_model('library', :'mlp');
SELECT hopper.delete_model('library', 1);
SELECT hopper.delete_model('library', 3);
SELECT hopper.delete_model(model_arch_table => 'library', model_id => 4);
SELECT to_regclass('library');
SELECT hopper.delete_model('library', 4);

-- What a call writes goes with its transaction
BEGIN;
SELECT hopper.load_model('library', :'mlp');
ROLLBACK;
SELECT to_regclass('library');

-- An error of the server keeps its code, detail and hint
CREATE TABLE guarded (model_id serial PRIMARY KEY, model_arch json, model_weights bytea, name text, description text);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'no models on Sundays' USING ERRCODE = 'P4711', DETAIL = 'It is Sunday.', HINT = 'Come tomorrow.';
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION refuse();
\set SHOW_CONTEXT never
SELECT hopper.load_model('guarded', :'mlp');
\echo :LAST_ERROR_SQLSTATE

CREATE TABLE unnumbered (model_id integer, model_arch json, model_weights bytea, name text, description text);
SELECT hopper.load_model('unnumbered', :'mlp');
SELECT count(*) FROM unnumbered;

-- What is read as something else is told, and what is encoded twice is stored once
SET client_min_messages = notice;
SELECT hopper.load_model('read', '{"class_name": "Sequential", "config": {"layers": [
  {"class_name": "CuDNNGRU", "config": {"name": "g", "units": 2, "batch_input_shape": [null, 4, 1]}},
  {"class_name": "Dense", "config": {"name": "d", "units": 2, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}}}]}}');
SELECT hopper.load_model('read', to_json('{"class_name": "Sequential", "keras_version": "2.4.0", "config": {"layers": [
  {"class_name": "Dense", "config": {"units": 2, "batch_input_shape": [null, 3]}}]}}'::text));
SELECT model_arch ->> 'class_name' AS class_name FROM read ORDER BY model_id;
SELECT layer, class_name, parameters FROM hopper.describe_model('read', 1);
SELECT hopper.load_model('read', '{"architecture": {"class_name": "Sequential", "config": {"layers": []}}}');

DROP SCHEMA hopper_models CASCADE;
