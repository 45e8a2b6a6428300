-- Whether larger values of a metric are better: one answer for the leaderboard, the best model and early stopping.
CREATE SCHEMA hopper_directions;
SET search_path = hopper_directions;
SET client_min_messages = warning;

-- Every metric, every loss, and their other names
CREATE TABLE names (direction text, name text);
INSERT INTO names SELECT 'up', unnest(ARRAY['accuracy', 'acc', 'binary_accuracy', 'categorical_accuracy',
    'sparse_categorical_accuracy', 'top_k', 'top_3_accuracy', 'top_k_categorical_accuracy',
    'sparse_top_k_categorical_accuracy', 'cosine_similarity', 'cosine_proximity', 'precision', 'recall', 'f1_score',
    'f_beta_score', 'fbeta_score', 'auc', 'r2_score', 'mean_io_u', 'one_hot_mean_io_u', 'io_u', 'one_hot_io_u',
    'binary_io_u', 'precision_at_recall', 'recall_at_precision', 'sensitivity_at_specificity',
    'specificity_at_sensitivity', 'pearson_correlation', 'concordance_correlation', 'matthews_correlation',
    'matthews_corrcoef', 'matthews_correlation_coefficient', 'mcc', 'balanced_accuracy', 'balanced_accuracy_score',
    'Accuracy', 'AUC(curve=''PR'')', 'keras.metrics.TopKCategoricalAccuracy(k=3)', 'MeanIoU', 'FBetaScore(beta=2)',
    'CosineSimilarity()', 'R2Score', 'expr max: mean(-abs(y - p))', 'expr max closeness: mean(-abs(y - p))']);
INSERT INTO names SELECT 'down', unnest(ARRAY['loss', 'mean_squared_error', 'mse', 'mean_absolute_error', 'mae',
    'root_mean_squared_error', 'rmse', 'crossentropy', 'ce', 'categorical_crossentropy',
    'sparse_categorical_crossentropy', 'binary_crossentropy', 'bce', 'mean_absolute_percentage_error', 'mape',
    'mean_squared_logarithmic_error', 'msle', 'huber', 'huber_loss', 'log_cosh', 'logcosh', 'log_cosh_error', 'hinge',
    'squared_hinge', 'categorical_hinge', 'kl_divergence', 'kld', 'kullback_leibler_divergence', 'poisson',
    'binary_focal_crossentropy', 'categorical_focal_crossentropy', 'dice', 'tversky',
    'categorical_generalized_cross_entropy', 'pinball', 'pinball_loss', 'mean_pinball_loss', 'KLDivergence()', 'Huber(delta=0.5)', 'keras.losses.Poisson',
    'expr: mean(abs(y - p))', 'expr min: mean(abs(y - p))', 'expr maximal: mean(abs(y - p))']);
INSERT INTO names SELECT 'none', unnest(ARRAY['true_positives', 'true_negatives', 'false_positives', 'false_negatives',
    'FalseNegatives(thresholds=0.3)']);
SELECT direction, count(*) AS names FROM names GROUP BY 1 ORDER BY 1;
-- Nothing is missing here: no row
SELECT name FROM (SELECT name FROM hopper.metrics()
    UNION SELECT btrim(unnest(string_to_array(other_names, ','))) FROM hopper.metrics()) listed
WHERE name NOT IN (SELECT name FROM names) ORDER BY 1;
SELECT direction AS wanted, name, hopper.metric_ascends(name) AS ascends FROM names
WHERE hopper.metric_ascends(name) IS DISTINCT FROM CASE direction WHEN 'up' THEN true WHEN 'down' THEN false END
ORDER BY 1, 2;
-- A text that was cut to the width of a result
SELECT hopper.metric_ascends('IoU(target_class_ids=[0, 1, 2, 3'), hopper.metric_ascends(NULL);
SELECT hopper.metric_ascends('acuracy');
\set VERBOSITY terse
SELECT hopper.metric_ascends('Mean');
SELECT hopper.metric_ascends('');
\set VERBOSITY default

-- One model that learns (1), and one that hardly does (2)
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 3], "units": 8, "activation": "relu"}}, {"class_name": "Dense", "config": {"name": "dense_2", "units": 2, "activation": "softmax"}}]}}'
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(i), sin(2 * i)]::real[] AS x,
    CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x', validation_fraction => 0.25);
SELECT hopper.load_model('models', :'mlp');
CREATE TABLE metrics (n integer, metric text);
INSERT INTO metrics VALUES (1, 'huber'), (2, 'hinge'), (3, 'kld'), (4, 'poisson'), (5, 'bce'), (6, 'log_cosh'),
    (7, 'accuracy'), (8, 'cosine_similarity'), (9, 'auc'), (10, 'true_positives'), (11, 'expr max: -mean(abs(y - p))');
DO $$
DECLARE
    m record;
BEGIN
    FOR m IN SELECT * FROM metrics ORDER BY n LOOP
        PERFORM hopper.load_model_selection_table('models', 'configs' || m.n, ARRAY[1],
            ARRAY[format('loss=''mse'', optimizer=''Adam(lr=0.05)'', metrics=[%L]', m.metric),
                  format('loss=''mse'', optimizer=''SGD(lr=0.0001)'', metrics=[%L]', m.metric)],
            ARRAY['batch_size=16']);
        PERFORM hopper.fit_multiple_model('packed', 'trained' || m.n, 'configs' || m.n, 3, false,
            'packed_validation', seed => 3, threads => 1);
    END LOOP;
END
$$;
CREATE TABLE found (n integer, best_mst_key integer, best_metric text, first integer, gap_by_loss boolean);
DO $$
DECLARE
    i integer;
BEGIN
    FOR i IN SELECT n FROM metrics ORDER BY n LOOP
        EXECUTE format('INSERT INTO found SELECT %s, s.best_mst_key, s.best_metric, l.mst_key,'
            ' overfit_gap = validation_loss - training_loss FROM trained%s_summary s, hopper.leaderboard(%L) l'
            ' WHERE l.rank = 1', i, i, 'trained' || i);
    END LOOP;
END
$$;
SELECT metric, best_mst_key, first, best_metric, gap_by_loss FROM found JOIN metrics USING (n) ORDER BY n;

-- Early stopping falls in with it: the learner's huber falls, which is what it waits for
SELECT hopper.load_model_selection_table('models', 'watched', ARRAY[1],
    ARRAY['loss=''mse'', optimizer=''Adam(lr=0.01)'', metrics=[''huber'']'],
    ARRAY['batch_size=16, patience=0, monitor=''val_huber''', 'batch_size=16, patience=0, monitor=''val_huber'', mode=''min''',
          'batch_size=16, patience=0, monitor=''val_huber'', mode=''max''']);
SELECT models_trained FROM hopper.fit_multiple_model('packed', 'stopped', 'watched', 4, false, 'packed_validation', seed => 3);
SELECT mst_key, status, iterations FROM stopped_info ORDER BY 1;

DROP SCHEMA hopper_directions CASCADE;
