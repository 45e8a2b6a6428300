-- predict_row() keeps models, but never answers with one that is not the table's any more.
SET client_min_messages = warning;
CREATE TABLE few AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y
FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('few', 'few_packed', 'y', 'x');
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "m", "layers": [
  {"class_name": "Dense", "config": {"name": "out", "batch_input_shape": [null, 2], "units": 2,
   "activation": "softmax"}}]}}');
-- What predict() says, which keeps nothing.
CREATE FUNCTION is_current() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  kept double precision;
  read_anew double precision;
BEGIN
  SELECT prob INTO STRICT kept FROM hopper.predict_row('one', 1, ARRAY[1, 2]::real[])
    WHERE class_value = '1';
  PERFORM hopper.predict('one', 'asked', 'id', 'x', 'said', 'prob');
  SELECT prob INTO STRICT read_anew FROM said WHERE class_value = '1';
  DROP TABLE said;
  RETURN kept = read_anew;
END $$;
CREATE TABLE asked AS SELECT 1 AS id, ARRAY[1, 2]::real[] AS x;
CREATE FUNCTION train(again boolean) RETURNS integer LANGUAGE sql AS $$
  SELECT models_trained FROM hopper.fit('few_packed', 'one', 'models', 1,
    'loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.5)''', 'batch_size=8', 3,
    warm_start => again) $$;

-- A transaction that trains, predicts and trains again writes its rows to the same places.
BEGIN;
SELECT train(false), is_current();
SELECT train(true), is_current();
SAVEPOINT before;
SELECT train(true), is_current();
ROLLBACK TO before;
SELECT is_current();
SELECT train(true), is_current();
COMMIT;
SELECT is_current();
-- After ROLLBACK the rows of before are there again.
BEGIN;
SELECT train(true), is_current();
ROLLBACK;
SELECT is_current();
-- The summary decides too.
BEGIN;
UPDATE one_summary SET normalizing_const = 2;
SELECT is_current();
UPDATE one_summary SET normalizing_const = 4;
SELECT is_current();
ROLLBACK;
SELECT is_current();

-- Among many models, too
INSERT INTO one SELECT 100 + i, model_weights, model_arch FROM one, generate_series(1, 600) i;
DO $$
DECLARE
  columns text;
BEGIN
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO columns FROM pg_attribute
    WHERE attrelid = 'one_info'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'mst_key';
  EXECUTE format('INSERT INTO one_info (mst_key, %1$s) SELECT 100 + i, %1$s FROM one_info, generate_series(1, 600) i', columns);
END $$;
SELECT is_current();
UPDATE one SET model_weights = decode(repeat('0000803f', octet_length(model_weights) / 4), 'hex') WHERE mst_key = 1;
SELECT is_current();
UPDATE one SET model_weights = decode(repeat('00000000', octet_length(model_weights) / 4), 'hex') WHERE mst_key = 700;
SELECT is_current();
ALTER TABLE one DROP CONSTRAINT one_pkey;
UPDATE one SET model_weights = decode('0000803f' || repeat('00000000', octet_length(model_weights) / 4 - 1), 'hex') WHERE mst_key = 1;
SELECT is_current();
-- As a function over the columns, which looks the model up once a statement
SELECT hopper.create_predict_function('one', 'guess', 1);
SELECT prosrc FROM pg_proc WHERE proname = 'guess';
SELECT guess(ARRAY[1, 2]::real[]), guess(ARRAY[1, 2]::real[]) = (SELECT class_value::int FROM hopper.predict_row('one', 1, ARRAY[1, 2]::real[]) LIMIT 1) AS same;
-- Bytes in the place of the numbers have a model of their own.
SELECT count(*) AS classes FROM hopper.predict_row('one', 1, '\x0102'::bytea);
SELECT guess(ARRAY[1, 2]::real[]) = (SELECT class_value::int FROM hopper.predict_row('one', 1, ARRAY[1, 2]::real[]) LIMIT 1) AS same;
SELECT guess(NULL);
SELECT hopper.create_predict_function('one', 'guess', 1, on_null => 'null', replace => true);
SELECT guess(NULL) IS NULL AS none;
DROP FUNCTION guess(real[]);

-- What a session keeps is bounded, and goes with DISCARD ALL.
SET hopper.keep_memory = 0;
SELECT is_current(), is_current();
RESET hopper.keep_memory;
SELECT is_current();
DISCARD ALL;
SET client_min_messages = warning;
SELECT is_current();
DROP TABLE few, few_packed, few_packed_summary, models, one, one_info, one_state, one_summary, asked;
DROP FUNCTION is_current(), train(boolean);
