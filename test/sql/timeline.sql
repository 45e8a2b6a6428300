-- Where the time of a run went, and what one would take: structure, rights, bad arguments.
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_timeline;
SET search_path = hopper_timeline;
SET client_min_messages = warning;

CREATE TABLE points AS
SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x, (sin(i) > 0)::int AS y
FROM generate_series(1, 200) AS i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.2,
    partitions => 3) IS NULL AS refused;
SELECT hopper.load_model('architectures', '{"class_name": "Sequential", "config": {"name": "m", "layers": [
    {"class_name": "Dense", "config": {"name": "a", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}},
    {"class_name": "Dense", "config": {"name": "b", "units": 2, "activation": "softmax"}}]}}') IS NULL AS refused;
SELECT hopper.load_model_selection_table('architectures', 'configs', ARRAY[1],
    ARRAY['loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.01)'', metrics=[''accuracy'']'],
    ARRAY['batch_size=8', 'batch_size=16']) IS NULL AS refused;

-- Nothing is trained or written by a forecast.
SELECT item, unit, predicted >= 0 AS is_known, measured IS NULL AS is_unmeasured
FROM hopper.explain_fit('packed', 'models', 'configs', 4, validation_table => 'packed_validation',
    threads => 1) WHERE mst_key IS NULL;
SELECT item, mst_key, predicted FROM hopper.explain_fit('packed', NULL, 'configs', 4, threads => 1)
WHERE item IN ('configurations', 'iterations', 'passes', 'rows of a pass', 'partitions', 'workers',
    'parameters', 'steps of an iteration', 'data of a pass');
SELECT to_regclass('models') IS NULL AS is_absent;

-- A run.
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'models', 'configs', 4,
    validation_table => 'packed_validation', threads => 1);
SELECT run, kind, split, count(*), min(iteration), max(iteration), min(segment), max(worker),
    bool_and(cardinality(partitions) = 1 AND visits = 1) AS single
FROM hopper.run_timeline('models') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT mst_key, iteration, array_agg(partitions[1] ORDER BY started) AS way
FROM hopper.run_timeline('models') WHERE kind = 'training' AND iteration <= 2
GROUP BY mst_key, iteration ORDER BY mst_key, iteration;
-- Visits take what the info table says they took.
SELECT i.mst_key, abs(i.seconds_training - sum(t.seconds_train)) < 0.001 AS trained,
    abs(i.seconds_evaluating - sum(t.seconds_evaluate)) < 0.001 AS evaluated
FROM models_info i JOIN hopper.run_timeline('models') t USING (mst_key)
GROUP BY i.mst_key, i.seconds_training, i.seconds_evaluating ORDER BY 1;
-- The causes add up to the workers' time.
SELECT sum(measured) FILTER (WHERE item IN ('wait', 'hop', 'train', 'evaluate', 'other'))
    BETWEEN 0.99 * max(measured) FILTER (WHERE item = 'duration')
    AND 1.01 * max(measured) FILTER (WHERE item = 'duration') AS adds_up,
    max(measured) FILTER (WHERE item = 'workers') AS workers
FROM hopper.explain_fit(model_table => 'models', measure => true) WHERE mst_key IS NULL;
SELECT item, mst_key, measured IS NULL AS is_unmeasured
FROM hopper.explain_fit(model_table => 'models', measure => true)
WHERE mst_key IS NOT NULL ORDER BY mst_key, item;

-- A warm start is a second run of the table; a table that is renamed keeps them.
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'models', 'configs', 1,
    validation_table => 'packed_validation', warm_start => true, threads => 1);
ALTER TABLE models RENAME TO renamed;
ALTER TABLE models_info RENAME TO renamed_info;
SELECT run, min(iteration), max(iteration) FROM hopper.run_timeline('renamed') GROUP BY 1 ORDER BY 1;

-- What is rolled back leaves nothing in the journal.
SELECT count(*) AS runs FROM hopper.journal_runs \gset
BEGIN;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'undone', 'configs', 1, threads => 1);
ROLLBACK;
SELECT count(*) - :runs AS new_runs FROM hopper.journal_runs;

-- Long runs are summed up.
SELECT hopper.load_model_selection_table('architectures', 'configs_one', ARRAY[1],
    ARRAY['loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.01)'''],
    ARRAY['batch_size=200']) IS NULL AS refused;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'long', 'configs_one', 16700,
    threads => 1, metrics_compute_frequency => 16700);
SELECT kind, count(*), sum(visits), min(visits), bool_and(partitions IS NULL) AS unnamed
FROM hopper.run_timeline('long') GROUP BY 1 ORDER BY 1;

-- Threads of a model.
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'shared', 'configs', 1, threads => 2,
    threads_per_model => 2);
SELECT numerics_class ~ ', 2 threads$' AS is_named FROM shared_summary;
SELECT max(worker) FROM hopper.run_timeline('shared');
\set VERBOSITY terse
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'shared', 'configs', 1, threads => 2,
    warm_start => true);
\set VERBOSITY default
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'bad', 'configs', 1, threads => 2,
    threads_per_model => 3);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'bad', 'configs', 1, threads => 2,
    threads_per_model => 0);
SELECT item FROM hopper.explain_fit('packed', 'bad', 'configs', 1, threads => 1,
    threads_per_model => 2);

-- Bad arguments.
SELECT * FROM hopper.run_timeline('nowhere');
SELECT * FROM hopper.run_timeline('points');
SELECT * FROM hopper.run_timeline(NULL);
SELECT * FROM hopper.explain_fit('packed', 'models', 'configs', 0);
SELECT * FROM hopper.explain_fit('packed', 'models', 'configs');
SELECT * FROM hopper.explain_fit('packed', 'models', 'configs', 1, training_metrics => 'often');
SELECT * FROM hopper.explain_fit('packed', 'models', 'configs', 1, dtype => 'half');
SELECT * FROM hopper.explain_fit(measure => true);
SELECT * FROM hopper.explain_fit(model_table => 'points', measure => true);
UPDATE configs SET fit_params = 'batch_size=-1', compile_params = 'loss=''hubber''' WHERE mst_key = 2;
SELECT * FROM hopper.explain_fit('packed', 'models', 'configs', 1);

-- A role that may not read the run's tables does not see its timeline, and nobody touches the journal.
CREATE ROLE hopper_timeline_other;
GRANT USAGE ON SCHEMA hopper_timeline TO hopper_timeline_other;
GRANT SELECT ON packed, packed_summary TO hopper_timeline_other;
GRANT SELECT ON configs_one, configs_one_summary, architectures TO hopper_timeline_other;
SET ROLE hopper_timeline_other;
SELECT count(*) FROM hopper.run_timeline('long');
SELECT count(*) FROM hopper.explain_fit(model_table => 'long', measure => true);
SELECT count(*) FROM hopper.journal_runs;
DELETE FROM hopper.journal_visits;
SELECT nextval('hopper.journal_run_seq');
RESET ROLE;
-- Its own runs it does see; an operator of its own is not used as the journal's owner.
CREATE SCHEMA hopper_timeline_evil AUTHORIZATION hopper_timeline_other;
SET ROLE hopper_timeline_other;
CREATE FUNCTION hopper_timeline_evil.never(oid, oid) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''called by %'', current_user; END';
CREATE OPERATOR hopper_timeline_evil.= (LEFTARG = oid, RIGHTARG = oid,
    FUNCTION = hopper_timeline_evil.never);
SET search_path = hopper_timeline_evil, pg_catalog, hopper_timeline;
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'own', 'configs_one', 2, threads => 1);
SELECT count(*) FROM hopper.run_timeline('own');
RESET ROLE;
SET search_path = hopper_timeline;
GRANT SELECT ON long, long_info TO hopper_timeline_other;
SET ROLE hopper_timeline_other;
SELECT count(*) > 0 AS is_seen FROM hopper.run_timeline('hopper_timeline.long');
RESET ROLE;

DROP OWNED BY hopper_timeline_other CASCADE;
DROP ROLE hopper_timeline_other;
DROP SCHEMA hopper_timeline CASCADE;
