-- What functions make says in psql what it is: tables and each of their columns.
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION model_hopper;
SET client_min_messages = warning;

CREATE SCHEMA made;
CREATE SCHEMA source;
SET search_path = made, source, public;
CREATE TABLE source.points AS
SELECT i AS id, sin(i)::real AS n, cos(i)::real AS state, CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS name
FROM generate_series(1, 200) AS i;
\o /dev/null
SELECT hopper.training_preprocessor('points', 'packed', 'name', 'n, state', validation_fraction := 0.2);
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
SELECT hopper.generate_model_configs('networks', 'configs', ARRAY[1],
    $$ {'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [{'optimizer': ['SGD']}]} $$,
    $$ {'batch_size': [32]} $$);
SELECT * FROM hopper.fit_multiple_model('packed', 'models', 'configs', 1, validation_table := 'packed_validation');
SELECT hopper.evaluate('models', 'packed_validation', 'evaluated', mst_key := 1, confusion_table := 'confusion');
SELECT hopper.predict('models', 'points', 'id', 'n, state', 'predicted', mst_key := 1);
\o

BEGIN;
SELECT plan(4);
SELECT is_empty(
    $$ SELECT relname FROM pg_class WHERE relnamespace = 'made'::regnamespace AND relkind = 'r'
         AND obj_description(oid, 'pg_class') IS NULL $$,
    'each table that a function made has a comment');
SELECT is_empty(
    $$ SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'made'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
         AND col_description(c.oid, a.attnum) IS NULL $$,
    'and so has each of their columns');
SELECT cmp_ok((SELECT count(*) FROM pg_class WHERE relnamespace = 'made'::regnamespace AND relkind = 'r'), '>=', 14::bigint,
    'the tables are there');
SELECT is(col_description('packed'::regclass, attnum), 'labels, one example after the other',
    'a column of a user''s name is what it holds')
FROM pg_attribute WHERE attrelid = 'packed'::regclass AND attname = 'name';
SELECT * FROM finish();
ROLLBACK;
