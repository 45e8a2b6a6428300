-- The best of a search is the best everywhere: for the leaderboard, for predictions without a key and for keep_best().
\set VERBOSITY terse
CREATE TABLE best_points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y
FROM generate_series(1, 200) AS i;
SET client_min_messages = warning;
SELECT hopper.training_preprocessor('best_points', 'best_packed', 'y', 'a, b', validation_fraction := 0.2);
SELECT hopper.load_model('best_networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}');
-- Only what hardly learns keeps this constraint: by its loss it is the worst of all.
CREATE FUNCTION best_search(models text, constraints text, keep integer DEFAULT NULL)
RETURNS integer LANGUAGE sql AS $$
    SELECT (hopper.automl(packed_table := 'best_packed', model_table := models, model_arch_table := 'best_networks',
        model_selection_table := models || '_best', model_id_list := 1,
        compile_params_grid := '{''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],'
            ' ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.3, 0.03, 0.000001]}]}',
        fit_params_grid := '{''batch_size'': [16]}', automl_method := 'grid', automl_params := 'num_iterations=5',
        validation_table := 'best_packed_validation', objective := 'loss', constraints := constraints, keep := keep)).best_mst_key
$$;
SELECT best_search('bests', 'loss >= 0.32') AS best \gset
RESET client_min_messages;
SELECT parameters->>'lr' AS lr, status FROM bests_trials WHERE mst_key = :best;
SELECT rank, l.mst_key = b.mst_key AS best, l.has_weights FROM hopper.leaderboard('bests') l, bests_best b ORDER BY rank;
SELECT b.mst_key = s.mst_key AS config, b.mst_key = m.best_mst_key AS listed, m.best_metric
FROM hopper.best_config('bests') b, bests_best s, hopper.models() m WHERE m.model_table = 'bests';
-- another order is to be had by name
SELECT l.mst_key <> b.mst_key AS by_loss FROM hopper.leaderboard('bests', 1, 'loss') l, bests_best b;
SELECT metrics_type FROM hopper.evaluate(model_table := 'bests', packed_table := 'best_packed_validation');
SELECT count(*) FROM hopper.predict_rows('bests', NULL::best_points);
SELECT hopper.predict(model_table := 'bests', source_table := 'best_points', id_col := 'id', output_table := 'bests_predicted');
-- copies, new names and fewer weights know it
SELECT hopper.copy_model('bests', 'bests_copy');
SELECT hopper.rename_model('bests_copy', 'bests_named');
SELECT hopper.keep_best('bests_named', 2);
SELECT hopper.keep_best('bests_named', 1);
SELECT n.mst_key = b.mst_key AS kept FROM bests_named n, bests_best b;
SELECT rank, has_weights FROM hopper.leaderboard('bests_named') ORDER BY rank;
SET client_min_messages = warning;
SELECT best_search('bests_kept', 'loss >= 0.32', 1) AS best_kept \gset
RESET client_min_messages;
SELECT mst_key = :best_kept AS kept FROM bests_kept;
-- a warning where nothing keeps them
SET client_min_messages = warning;
\set VERBOSITY default
SELECT best_search('bests_missed', 'loss >= 100') > 0 AS found;
RESET client_min_messages;
\set VERBOSITY terse
SELECT rank, has_weights FROM hopper.leaderboard('bests_kept') ORDER BY rank;
-- whose weights are gone is the best no longer
DELETE FROM bests USING bests_best b WHERE bests.mst_key = b.mst_key;
SELECT best_mst_key, best_metric, best_value FROM hopper.models() WHERE model_table = 'bests';
SELECT count(*) FROM hopper.predict_rows('bests', NULL::best_points);
SELECT c.mst_key = (SELECT mst_key FROM hopper.leaderboard('bests') WHERE has_weights LIMIT 1) AS first, t.place, c.value = t.value AS measured
FROM hopper.best_config('bests') c JOIN bests_trials t ON t.mst_key = c.mst_key;
-- trained on, they are what they are: the search's order has ended
SET client_min_messages = warning;
CREATE TABLE bests_configs AS SELECT mst_key, model_id, compile_params, fit_params FROM bests_named_info;
CREATE TABLE bests_configs_summary AS SELECT model_arch_table, object_table FROM bests_best_summary;
SELECT models_trained FROM hopper.fit_multiple_model('best_packed', 'bests_named', 'bests_configs', 1,
    validation_table := 'best_packed_validation', warm_start := true,
    mst_keys := ARRAY(SELECT mst_key FROM bests_best));
RESET client_min_messages;
SELECT l.mst_key <> b.mst_key AS by_loss FROM hopper.leaderboard('bests_named', 1) l, bests_best b;
SELECT c.mst_key = (SELECT best_mst_key FROM hopper.models() WHERE model_table = 'bests_named') AS listed, c.iterations, c.value
FROM hopper.best_config('bests_named') c;
-- what a search has left goes with its models' name, and with them
SELECT hopper.rename_model('bests_kept', 'bests_moved');
SELECT mst_key = :best_kept AS kept FROM hopper.best_config('bests_moved');
SELECT count(*) FROM bests_moved_rungs;
SELECT hopper.rename_model('bests_moved', 'bests_missed', true);
SELECT mst_key = :best_kept AS kept FROM hopper.best_config('bests_missed');
SELECT relname FROM pg_class WHERE relname LIKE 'bests_moved%' OR relname LIKE 'bests_kept%' ORDER BY 1;
SET client_min_messages = warning;
SELECT best_search('bests_free', NULL) > 0 AS found;
SELECT models_trained FROM hopper.fit_multiple_model('best_packed', 'bests_missed', 'bests_configs', 1,
    validation_table := 'best_packed_validation', replace := true);
RESET client_min_messages;
SELECT * FROM hopper.best_config('bests_missed');
SELECT relname FROM pg_class WHERE relname LIKE 'bests_missed%' AND relkind = 'r' ORDER BY 1;
SELECT hopper.copy_model('bests_missed', 'bests_free', replace := true);
SELECT relname FROM pg_class WHERE relname LIKE 'bests_free%' AND relkind = 'r' ORDER BY 1;
-- a search's tables are copied and granted with its models
SELECT hopper.copy_model('bests', 'bests_free', mst_keys := ARRAY(SELECT max(mst_key) FROM bests), replace := true);
SELECT (SELECT count(*) FROM bests_free_trials) AS trials, (SELECT count(*) FROM bests_free_rungs) AS rungs;
SELECT mst_key, parameters IS NOT NULL AS known FROM hopper.best_config('bests_free');
CREATE ROLE best_reader;
SELECT hopper.grant_model('bests_free', 'best_reader');
SELECT relname FROM pg_class WHERE relname LIKE 'bests_free%' AND relkind = 'r' AND has_table_privilege('best_reader', oid, 'SELECT')
ORDER BY 1;
SELECT hopper.revoke_model('bests_free', 'best_reader');
SELECT relname FROM pg_class WHERE relname LIKE 'bests_free%' AND relkind = 'r' AND has_table_privilege('best_reader', oid, 'SELECT')
ORDER BY 1;
DROP ROLE best_reader;
-- and nothing in them is believed before it was looked at
CREATE FUNCTION best_damage(damage text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
    EXECUTE 'UPDATE bests_free_trials SET ' || damage || ' WHERE mst_key = 1';
    BEGIN
        PERFORM * FROM hopper.best_config('bests_free');
        RETURN 'believed';
    EXCEPTION WHEN data_corrupted THEN
        GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
        RAISE EXCEPTION USING MESSAGE = said, ERRCODE = 'HP001';
    END;
EXCEPTION WHEN SQLSTATE 'HP001' THEN
    RETURN SQLERRM;
END $$;
SELECT d, best_damage(d) FROM unnest(ARRAY['mst_key = NULL', 'mst_key = 2', 'parameters = ''[]''', 'iterations = -1', 'status = ''best''',
    'model_id = NULL', 'place = NULL', 'place = 0', 'value = 0', 'value = ''NaN''', 'objectives = NULL', 'objectives = ''{NULL}''',
    'objectives = ''{{1},{2}}''', 'constraints = ''{NULL}''', 'constraints = NULL', 'status = ''failed''']) AS d;
CREATE FUNCTION best_importance(written text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    UPDATE bests_free_summary SET parameter_importance = written;
    RETURN (SELECT count(*) || ' parameters' FROM hopper.param_importance('bests_free'));
EXCEPTION WHEN data_corrupted THEN
    RETURN SQLERRM;
END $$;
SELECT w, best_importance(w) FROM unnest(ARRAY['[]', 'nonsense', '{"a": 1}', '[1]', '[{"parameter": "lr"}]',
    '[{"parameter": null, "importance": 1}]', '[{"parameter": "lr", "importance": "much"}]',
    '[{"parameter": "lr", "importance": 1.5}]', '[{"parameter": "lr", "importance": 0.5}]', NULL]) AS w;
ALTER TABLE bests_free_summary ALTER parameter_importance TYPE json USING '[]';
SELECT * FROM hopper.param_importance('bests_free');
ALTER TABLE bests_free_info ALTER mst_key TYPE text;
SELECT * FROM hopper.best_config('bests_free');
ALTER TABLE bests_free_info ALTER mst_key TYPE integer USING mst_key::integer, ALTER iterations TYPE text;
SELECT * FROM hopper.best_config('bests_free');
ALTER TABLE bests_free_info ALTER iterations TYPE integer USING iterations::integer;
ALTER TABLE bests_free_trials ALTER place TYPE text;
SELECT * FROM hopper.best_config('bests_free');
ALTER TABLE bests_free_trials DROP place;
SELECT * FROM hopper.best_config('bests_free');
-- nothing to keep
DELETE FROM bests_free;
SELECT hopper.keep_best('bests_free');
