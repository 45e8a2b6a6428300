-- Models as things: replaced, left over, listed, renamed, copied, thinned, shared, dropped.
CREATE SCHEMA hopper_things;
SET search_path = hopper_things;
SET client_min_messages = warning;
\set mlp '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 4, "activation": "relu"}}, {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 100) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('nets', :'mlp');
SELECT hopper.load_model_selection_table('nets', 'configs', 1,
    ARRAY['loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.0001)'', metrics=[''accuracy'']',
          'loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.1)'', metrics=[''accuracy'']',
          'loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.00001)'', metrics=[''accuracy'']'],
    ARRAY['batch_size=16']);
CREATE FUNCTION tables(VARIADIC names text[]) RETURNS TABLE (name text) LANGUAGE sql AS
$$ SELECT relname::text FROM pg_class WHERE relnamespace = 'hopper_things'::regnamespace AND relkind IN ('r', 'i')
   AND EXISTS (SELECT FROM unnest(names) n WHERE relname LIKE n || '%') ORDER BY relname::text COLLATE "C" $$;
CREATE FUNCTION train(model text, again boolean DEFAULT false, seed bigint DEFAULT 0) RETURNS integer LANGUAGE sql AS
$$ SELECT models_trained FROM hopper.fit_multiple_model('packed', model, 'configs', 3, seed => seed,
    validation_table => 'packed_validation', threads => 1, replace => again, name => model || ' of spring', description => 'a try') $$;

-- What exists is not replaced unless asked for
SELECT train('m');
SELECT train('m');
SELECT train('points', true);
CREATE TABLE m_copy AS TABLE m;
-- What depends on it is found out before the training
CREATE VIEW on_m AS SELECT mst_key FROM m;
\set SHOW_CONTEXT never
SELECT train('m', true);
DROP VIEW on_m;
CREATE TABLE old_oids AS SELECT 'm'::regclass::oid AS model;
GRANT SELECT ON m TO PUBLIC;
SELECT train('m', true, seed => 7);
SELECT relname, relacl::text ~ '=r/' AS readable FROM pg_class WHERE oid IN ('m'::regclass, 'm_state'::regclass) ORDER BY 1;
SELECT o.model <> 'm'::regclass AS another, seed, s.model, model_info FROM old_oids o, m_summary s;
SELECT * FROM tables('m', 'hopper');
SELECT count(*) FROM hopper.run_timeline('m') WHERE kind = 'training' AND iteration = 1;
SELECT hopper.fit_multiple_model('packed', 'm', 'configs', 1, replace => true, warm_start => true);
-- One that fails leaves the old ones, also where it fails in the end
SELECT hopper.fit_multiple_model('points', 'm', 'configs', 1, replace => true);
SELECT count(*) FROM m;

-- Leftovers of what was dropped stop nobody
SELECT hopper.copy_model('m', 'spare');
DROP TABLE m, m_info, m_summary, m_copy;
SELECT train('m');
DROP TABLE m;
SET client_min_messages = notice;
SELECT hopper.copy_model('spare', 'm');
DROP TABLE m, m_state;
CREATE TABLE m_state (mine text);
SELECT hopper.copy_model('spare', 'm');
DROP TABLE m_state, m_info, m_summary;
SELECT hopper.drop_model('spare');
SET client_min_messages = warning;

-- Replacing packed data, predictions, evaluations, configurations
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.5);
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.5, replace => true);
SELECT n_rows FROM packed_validation_summary;
SELECT hopper.training_preprocessor('points', 'points', 'y', 'x', replace => true);
SELECT hopper.validation_preprocessor('points', 'seen', packed_table => 'packed');
SELECT hopper.validation_preprocessor('points', 'seen', packed_table => 'packed', replace => true);
SELECT hopper.validation_preprocessor('points', 'packed', packed_table => 'packed', replace => true);
-- Rows of an earlier split would be trained on now
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', replace => true);
SELECT * FROM tables('packed');
ALTER TABLE seen RENAME TO packed_validation;
ALTER TABLE seen_summary RENAME TO packed_validation_summary;
UPDATE packed_validation_summary SET training_table = 'hopper_things.others';
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25, replace => true);
SELECT hopper.drop_packed('packed_validation');
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25, replace => true);
DROP TABLE packed;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT train('m');
SELECT hopper.predict('m', 'points', 'id', 'x', 'p', 'response', mst_key => 2);
SELECT hopper.predict('m', 'points', 'id', 'x', 'p', 'response', mst_key => 2);
SELECT hopper.predict('m', 'points', 'id', 'x', 'p', mst_key => 2, replace => true);
SELECT hopper.predict('m', 'points', 'id', 'x', 'points', mst_key => 2, replace => true);
SELECT hopper.predict('m', 'points', 'id', 'x', 'm', mst_key => 2, replace => true);
SELECT metrics_type FROM hopper.evaluate('m', 'packed', 'e', mst_key => 2, confusion_table => 'c');
SELECT metrics_type FROM hopper.evaluate('m', 'packed', 'e', mst_key => 2, confusion_table => 'c', replace => true);
SELECT hopper.load_model_selection_table('nets', 'configs', 1, ARRAY['loss=''mse'', optimizer=''SGD()'''], ARRAY['']);
SELECT hopper.load_model_selection_table('nets', 'configs', 1, ARRAY['loss=''mse'', optimizer=''SGD()'''], ARRAY[''],
    replace => true);
SELECT hopper.generate_model_configs('nets', 'configs', 1, $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list':
    [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]} $$, $$ {'batch_size': [16]} $$, replace => true);
SELECT mst_key FROM configs ORDER BY 1;

-- What is named after a table that has another name now is not left over: without it the table is of no use
ALTER TABLE m RENAME TO kept;
SELECT count(*) FROM hopper.leaderboard('kept');
SELECT train('m');
ALTER TABLE kept RENAME TO m;
CREATE ROLE hopper_regress_things;
BEGIN;
ALTER TABLE m RENAME TO kept;
ALTER TABLE kept OWNER TO hopper_regress_things;
SELECT train('m');
ROLLBACK;
DROP ROLE hopper_regress_things;
-- A table of one's own with the columns of one of ours
CREATE TABLE alike_state AS SELECT 1 AS mst_key, 2 AS part, 'precious'::text AS state, 'mine'::text AS note;
SELECT train('alike');
DROP TABLE alike_state;
CREATE TABLE alike_state AS SELECT 1 AS mst_key, 2 AS part, 'precious'::bytea AS state;
SELECT train('alike');
DROP TABLE alike_state;
SELECT hopper.rename_model('m', 'kept');
SELECT hopper.rename_model('kept', 'm');
CREATE SCHEMA hopper_archive;
ALTER TABLE m SET SCHEMA hopper_archive;
SELECT train('m');
ALTER TABLE hopper_archive.m SET SCHEMA hopper_things;
DROP SCHEMA hopper_archive;
ALTER TABLE packed RENAME TO kept;
SELECT hopper.mlp('networks', 'kept');
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x');
ALTER TABLE kept RENAME TO packed;
ALTER TABLE configs RENAME TO kept;
SELECT hopper.load_model_selection_table('nets', 'configs', 1, ARRAY['loss=''mse'', optimizer=''SGD()'''], ARRAY['']);
ALTER TABLE kept RENAME TO configs;
SELECT * FROM tables('m') UNION ALL SELECT * FROM tables('packed') UNION ALL SELECT * FROM tables('configs') ORDER BY 1;

-- Listed
CREATE TABLE looks_like AS TABLE m;
CREATE TABLE looks_like_summary AS SELECT model_info, source_table, best_value::text FROM m_summary;
CREATE VIEW seen_m AS TABLE m;
CREATE VIEW seen_m_summary AS TABLE m_summary;
SELECT schema, model_table, trained > now() - interval '1 hour' AS trained, packed_table, validation_table, models, best_mst_key,
    best_metric, best_value > 0.5 AS good, bytes > 8192 * 4 AS bytes, owner = current_user AS mine,
    name, description, seconds > 0 AS seconds
FROM hopper.models() WHERE schema = 'hopper_things';
DROP VIEW seen_m, seen_m_summary;
DROP TABLE looks_like, looks_like_summary;

-- Copied
SELECT hopper.copy_model('m', 'copy');
SELECT hopper.copy_model('m', 'copy');
SELECT hopper.copy_model('m', 'm', replace => true);
SELECT hopper.copy_model('m', 'copy', ARRAY[1, 3], replace => true);
SELECT array_agg(c.mst_key), bool_and(c.model_weights = m.model_weights) FROM copy c JOIN m USING (mst_key);
SELECT best_mst_key IN (1, 3) AS best, models_trained, model, model_info FROM copy_summary;
SELECT hopper.copy_model('m', 'none', 9);
SELECT hopper.copy_model('m', 'none', '{}');
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'copy', 'configs', 1, warm_start => true, threads => 1);
SELECT obj_description('copy'::regclass) = obj_description('m'::regclass) AS same_comment;

-- Renamed
SELECT hopper.rename_model('copy', 'Renamed Model');
SELECT hopper.rename_model('copy', '"Renamed Model"');
SELECT hopper.rename_model('"Renamed Model"', 'm');
SELECT hopper.rename_model('"Renamed Model"', 'm', replace => NULL);
BEGIN;
SELECT hopper.rename_model('"Renamed Model"', 'm', replace => true);
SELECT array_agg(mst_key) FROM m;
ROLLBACK;
SELECT hopper.rename_model('m', 'm', replace => true);
SELECT hopper.rename_model('"Renamed Model"', 'public.other');
SELECT model, model_info FROM "Renamed Model_summary";
SELECT * FROM tables('Renamed', 'copy');
SELECT count(*) > 0 AS timeline FROM hopper.run_timeline('"Renamed Model"');
SELECT hopper.rename_model('points', 'other');

-- Only the best
SET client_min_messages = notice;
SELECT hopper.keep_best('m', 2);
SELECT hopper.keep_best('m');
SELECT array_agg(mst_key) FROM m;
SELECT count(*) FROM m_state;
SELECT count(*) FROM hopper.leaderboard('m');
SELECT hopper.keep_best('m', 0);

-- Shared
CREATE ROLE regress_hopper_reader;
SET ROLE regress_hopper_reader;
SELECT count(*) FROM hopper.models() WHERE schema = 'hopper_things';
RESET ROLE;
SELECT hopper.grant_model('m', 'regress_hopper_reader');
GRANT USAGE ON SCHEMA hopper_things TO regress_hopper_reader;
SET ROLE regress_hopper_reader;
SELECT model_table FROM hopper.models() WHERE schema = 'hopper_things';
SELECT class_value IS NOT NULL AS predicted FROM hopper.predict_row('m', ARRAY[0.5, 0.5]) LIMIT 1;
SELECT count(*) FROM hopper.leaderboard('m');
SELECT count(*) FROM m_state;
SELECT hopper.drop_model('m');
SELECT hopper.rename_model('m', 'mine');
SELECT hopper.keep_best('m');
RESET ROLE;
SELECT hopper.grant_model('m', 'regress_hopper_reader', 'train');
GRANT SELECT ON packed, packed_summary, configs, configs_summary, nets TO regress_hopper_reader;
SET client_min_messages = error;
SET ROLE regress_hopper_reader;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', 1, warm_start => true, threads => 1);
RESET ROLE;
SET client_min_messages = notice;
SELECT hopper.revoke_model('m', 'regress_hopper_reader', 'train');
SELECT has_table_privilege('regress_hopper_reader', 'm', 'SELECT') AS reads,
    has_table_privilege('regress_hopper_reader', 'm', 'DELETE') AS writes,
    has_table_privilege('regress_hopper_reader', 'm_state', 'SELECT') AS states;
SELECT hopper.revoke_model('m', 'regress_hopper_reader');
SELECT has_table_privilege('regress_hopper_reader', 'm', 'SELECT') AS reads;
SELECT hopper.grant_model('m', 'nobody_has_this_name');
SELECT hopper.grant_model('m', 'public', 'everything');

-- What others may do they may do with the tables that take the place
SET client_min_messages = error;
SELECT hopper.copy_model('m', 'copied');
GRANT SELECT ON packed_validation, packed_validation_summary, p, e, c, copied, copied_info TO regress_hopper_reader;
GRANT INSERT ON packed TO regress_hopper_reader WITH GRANT OPTION;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25, replace => true);
SELECT hopper.predict('m', 'points', 'id', 'x', 'p', mst_key => 2, replace => true);
SELECT loss > 0 AS loss FROM hopper.evaluate('m', 'packed', 'e', mst_key => 2, confusion_table => 'c', replace => true);
SELECT hopper.generate_model_configs('nets', 'configs', 1, $$ {'loss': ['categorical_crossentropy'], 'optimizer_params_list':
    [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]} $$, $$ {'batch_size': [16]} $$, replace => true);
SELECT hopper.copy_model('m', 'copied', replace => true);
SELECT relname, relacl::text LIKE '%regress_hopper_reader=%r%/%' AS read, relacl::text LIKE '%regress_hopper_reader=a*r/%' AS granted
FROM pg_class WHERE relnamespace = 'hopper_things'::regnamespace AND relkind = 'r' AND relacl::text LIKE '%regress_hopper_reader%'
ORDER BY relname;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', replace => true);
SELECT relname FROM pg_class WHERE relnamespace = 'hopper_things'::regnamespace AND relname LIKE 'packed%' ORDER BY 1;
SELECT hopper.drop_model('copied');
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25, replace => true);
SET client_min_messages = notice;

-- Dropped
SELECT hopper.drop_model('m');
SELECT hopper.drop_model('m');
SELECT hopper.drop_model('packed');
SELECT hopper.drop_model('points');
SELECT hopper.drop_packed('"Renamed Model"');
SELECT hopper.drop_packed('packed');
SELECT hopper.drop_packed('packed');
DROP TABLE "Renamed Model", "Renamed Model_info";
SELECT hopper.drop_model('"Renamed Model"');
SELECT * FROM tables('m', 'packed', 'Renamed');

SET client_min_messages = warning;
DROP SCHEMA hopper_things CASCADE;
DROP ROLE regress_hopper_reader;
