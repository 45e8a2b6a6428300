-- What an administrator sets up for all tables of a database: publications, event triggers that change
-- new tables. Training and prediction make tables, and go on making them.
SET client_min_messages = error;
CREATE TABLE points AS
  SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x, i % 2 AS y FROM generate_series(1, 40) i;
SELECT hopper.training_preprocessor('points', 'points_packed', 'y', 'x');
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}');
SELECT hopper.load_model_selection_table('models', 'configs', '{1}',
  ARRAY[$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$],
  ARRAY['batch_size=8']);
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1);

-- Every table of ours from which rows are deleted has what a publication tells rows by.
BEGIN;
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'published', 'configs', 1);
SELECT models_trained
  FROM hopper.fit_multiple_model('points_packed', 'published', 'configs', 1, warm_start => true);
-- trained before there was the publication
SELECT models_trained
  FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
SELECT models_trained
  FROM hopper.fit('points_packed', 'one', 'models', 1, $$loss='mse', optimizer='SGD()'$$, '', 1);
SELECT hopper.load_model('models', (SELECT model_arch::text FROM models WHERE model_id = 1));
SELECT hopper.delete_model('models', 2);
DELETE FROM configs;
ROLLBACK;
-- A subscriber of the journal gets another server's runs, and no news of the sequence.
CREATE FUNCTION replicate() RETURNS void LANGUAGE sql AS $$
  INSERT INTO hopper.journal_runs SELECT last_value + i, 0, 'elsewhere', 0, now(), 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0
    FROM hopper.journal_run_seq, generate_series(1, 3) i;
  INSERT INTO hopper.journal_visits SELECT last_value + 4, 0, 1, 1, -1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0
    FROM hopper.journal_run_seq $$;
SELECT replicate();
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'run', 'configs', 1, warm_start => true);
SELECT max(run) FROM hopper.run_timeline('run');
DROP FUNCTION replicate();

-- The extension's schema by another name
BEGIN;
ALTER SCHEMA hopper RENAME TO renamed;
SELECT rank, mst_key, curve IS NOT NULL AS curve FROM renamed.leaderboard('run');
SELECT count(*) > 50 AS many FROM renamed.help();
SELECT * FROM renamed.help('renamed.leaderboard') LIMIT 1;
ROLLBACK;

-- Columns that each new table gets, with defaults and numbers
CREATE FUNCTION audit() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE made record;
BEGIN
  FOR made IN SELECT objid::regclass AS name FROM pg_event_trigger_ddl_commands()
    WHERE command_tag = 'CREATE TABLE' AND object_type = 'table' AND schema_name = 'public' LOOP
    EXECUTE format('ALTER TABLE %s ADD made_by text NOT NULL DEFAULT current_setting(''is_superuser''),'
                   ' ADD audit_number bigint GENERATED ALWAYS AS IDENTITY', made.name);
  END LOOP;
END $$;
BEGIN;
CREATE EVENT TRIGGER audit ON ddl_command_end EXECUTE FUNCTION audit();
SELECT hopper.predict('run', 'points', 'id', 'x', 'audited');
SELECT count(*), count(DISTINCT id), min(made_by), max(audit_number), sum(rank) FROM audited;
SELECT hopper.evaluate('run', 'points_packed', 'measured') IS NOT NULL AS measured;
SELECT models_trained FROM hopper.fit_multiple_model('points_packed', 'second', 'configs', 1);
SELECT hopper.copy_model('second', 'third');
SELECT count(*), min(made_by), max(audit_number) FROM third_info;
SELECT second.model_weights = third.model_weights AS same FROM second JOIN third USING (mst_key);
SELECT attname, attstorage FROM pg_attribute WHERE attrelid = 'third'::regclass AND attnum > 0 ORDER BY attnum;
SELECT hopper.copy_model('run', 'fourth');
SELECT best_mst_key IS NOT NULL AS found FROM hopper.automl('points_packed', 'audited_search', 'models', 'audited_configs', '{1}',
  $${'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
     'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]}$$, $${'batch_size': [8]}$$, 'grid', seed => -5);
SELECT random_state FROM audited_search_summary;
ROLLBACK;
BEGIN;
SELECT hopper.predict('run', 'points', 'id', 'x', 'plain');
CREATE EVENT TRIGGER audit ON ddl_command_end EXECUTE FUNCTION audit();
SELECT hopper.predict('run', 'points', 'id', 'x', 'audited');
-- the same rows on both ways
SELECT count(*) FROM (TABLE plain EXCEPT ALL
  SELECT id, class_name, class_value, prob, rank, predicted_y FROM audited) different;
ROLLBACK;
DROP FUNCTION audit();

-- Columns that are those of a search stop it before it trains.
SET client_min_messages = notice;
CREATE FUNCTION audit() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE made record;
BEGIN
  FOR made IN SELECT objid::regclass AS name FROM pg_event_trigger_ddl_commands()
    WHERE command_tag LIKE 'CREATE TABLE%' AND object_type = 'table' LOOP
    EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS objective text', made.name);
  END LOOP;
END $$;
BEGIN;
CREATE EVENT TRIGGER audit ON ddl_command_end EXECUTE FUNCTION audit();
SELECT hopper.automl('points_packed', 'spa', 'models', 'spa_configs', '{1}',
  $${'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
     'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]}$$, $${'batch_size': [8]}$$, 'grid');
ROLLBACK;
DROP FUNCTION audit();

-- Rows that do not arrive
CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION swallow() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE made record;
BEGIN
  FOR made IN SELECT objid::regclass AS name FROM pg_event_trigger_ddl_commands()
    WHERE command_tag = 'CREATE TABLE' AND object_type = 'table' AND objid::regclass::text LIKE current_setting('away.tables') LOOP
    EXECUTE format('CREATE TRIGGER away BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION public.away()', made.name);
  END LOOP;
END $$;
CREATE EVENT TRIGGER swallow ON ddl_command_end EXECUTE FUNCTION swallow();
SET away.tables = '%packed_away';
SELECT hopper.training_preprocessor('points', 'packed_away', 'y', 'x');
SET away.tables = '%packed_away_summary';
SELECT hopper.training_preprocessor('points', 'packed_away', 'y', 'x');
SET away.tables = '%configs_away%';
SELECT hopper.load_model_selection_table('models', 'configs_away', '{1}', ARRAY[$$loss='mse', optimizer='SGD()'$$], ARRAY['']);
SELECT hopper.hyperband_schedule('configs_away', 9);
SET away.tables = '%trials';
SELECT hopper.automl('points_packed', 'spa', 'models', 'spa_configs', '{1}',
  $${'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],
     'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.1, 0.2]}]}$$, $${'batch_size': [8]}$$, 'grid');
DROP EVENT TRIGGER swallow;
DROP FUNCTION swallow();
DROP FUNCTION away();
SET client_min_messages = error;

-- triggers, row security: as an INSERT of the caller
CREATE FUNCTION secure() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  ALTER TABLE public.secured ENABLE ROW LEVEL SECURITY;
  ALTER TABLE public.secured FORCE ROW LEVEL SECURITY;
  CREATE POLICY firsts ON public.secured USING (true) WITH CHECK (id < 30);
END $$;
CREATE ROLE hopper_regress_secured;
GRANT CREATE ON SCHEMA public TO hopper_regress_secured;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO hopper_regress_secured;
CREATE EVENT TRIGGER secure ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
  EXECUTE FUNCTION secure();
SET ROLE hopper_regress_secured;
SELECT hopper.predict('run', 'points', 'id', 'x', 'secured');
RESET ROLE;
DROP EVENT TRIGGER secure;
CREATE FUNCTION half() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF new.id % 2 = 0 THEN RETURN NULL; END IF;
  RETURN new;
END $$;
CREATE OR REPLACE FUNCTION secure() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  CREATE TRIGGER half BEFORE INSERT ON public.secured FOR EACH ROW EXECUTE FUNCTION public.half();
END $$;
CREATE EVENT TRIGGER secure ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
  EXECUTE FUNCTION secure();
SELECT hopper.predict('run', 'points', 'id', 'x', 'secured');
DROP EVENT TRIGGER secure;
CREATE OR REPLACE FUNCTION secure() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  ALTER TABLE public.secured DROP prob;
END $$;
CREATE EVENT TRIGGER secure ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
  EXECUTE FUNCTION secure();
SELECT hopper.predict('run', 'points', 'id', 'x', 'secured');
DROP EVENT TRIGGER secure;
DROP FUNCTION secure();
REVOKE ALL ON SCHEMA public FROM hopper_regress_secured;
DROP OWNED BY hopper_regress_secured;
DROP ROLE hopper_regress_secured;

-- Long texts are refused before they are parsed, which looks at no cancel.
SELECT hopper.load_model('models', '[' || repeat('1,', 10000000) || '1]');
SELECT hopper.load_model('models', '[' || repeat('1,', 2000000) || '1]');
SELECT hopper.load_model_selection_table('models', 'long', '{1}',
  ARRAY['loss=' || repeat('x', 2000000)], ARRAY['batch_size=8']);
SELECT hopper.generate_model_configs('models', 'long', '{1}', '{' || repeat(' ', 2000000) || '}', '{}');

-- A name is not cut: it would be another table's.
SELECT hopper.load_model(repeat('m', 64), '{}');
SELECT hopper.load_model('"' || repeat('m', 62) || '""x".y', '{}');
SELECT hopper.load_model('"' || repeat('m', 61) || '""x".y', '{}');

-- Models behind views, and without their summary
CREATE SCHEMA shown;
CREATE VIEW shown.run AS TABLE run;
CREATE VIEW shown.run_info AS TABLE run_info;
CREATE VIEW shown.run_summary AS TABLE run_summary;
SELECT count(*) FROM hopper.predict_row('shown.run', NULL, ARRAY[1, 2]::real[]);
DROP VIEW shown.run_summary;
SELECT hopper.predict('shown.run', 'points', 'id', 'x', 'never');
SELECT count(*) FROM hopper.predict_row('shown.run', NULL, ARRAY[1, 2]::real[]);
CREATE TEMPORARY TABLE run AS TABLE public.run;
SELECT hopper.predict('run', 'points', 'id', 'x', 'never');
SELECT count(*) FROM hopper.predict_row('run', NULL, ARRAY[1, 2]::real[]);
DROP TABLE pg_temp.run, points, points_packed, points_packed_summary, models, configs, configs_summary, run_info,
  run_state, run_summary, public.run CASCADE;
DROP SCHEMA shown CASCADE;
DROP FUNCTION half();
