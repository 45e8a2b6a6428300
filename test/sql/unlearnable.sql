-- What trains without an error and teaches a model nothing, or something else than was meant: said before.
CREATE SCHEMA hopper_unlearnable;
SET search_path = hopper_unlearnable;
SET client_min_messages = warning;
CREATE TABLE kinds AS
SELECT i AS id, i % 5 AS word, (i % 5)::real AS share, (i % 7 / 7.0)::real AS a, (i % 5 / 5.0)::real AS b,
    (ARRAY['cow', 'dog', 'emu'])[1 + i % 3] AS kind, i % 3 = 2 AS is_emu, i % 3 > 0 AS is_other, now() AS day
FROM generate_series(1, 300) AS i;

-- The column that says which rows are for validation decides the label, too.
SELECT hopper.training_preprocessor('kinds', 'no_emus', 'kind', 'a, b', fold_column => 'is_emu');
SELECT hopper.training_preprocessor('kinds', 'cows', 'kind', 'a, b', fold_column => 'is_other');
SELECT n_rows, num_classes FROM cows_summary UNION ALL SELECT n_rows, num_classes FROM cows_validation_summary;
CREATE VIEW rare AS SELECT * FROM kinds WHERE kind <> 'emu' OR id < 4;
SELECT hopper.training_preprocessor('rare', 'rares', 'kind', 'a, b', validation_fraction => 0.5);

-- A binary loss on softmax
SELECT hopper.training_preprocessor('kinds', 'packed', 'kind', 'a, b', validation_fraction => 0.2);
SELECT hopper.mlp('networks', 'packed', ARRAY[4]) AS three \gset
SELECT count(*) FROM hopper.fit('packed', 'm', 'networks', :three, 'loss=bce, optimizer=SGD(0.1)', 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('packed', 'm_focal', 'networks', :three, 'loss=binary_focal_crossentropy, optimizer=SGD(0.1)',
    'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('packed', 'm_good', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD(0.1)',
    'batch_size=16', 1);
CREATE VIEW pairs AS SELECT * FROM kinds WHERE kind <> 'emu';
SELECT hopper.training_preprocessor('pairs', 'pairs_packed', 'kind', 'a, b');
SELECT hopper.mlp('networks', 'pairs_packed', ARRAY[4]) AS two \gset
SELECT count(*) FROM hopper.fit('pairs_packed', 'm_two', 'networks', :two, 'loss=bce, optimizer=SGD(0.1)', 'batch_size=16', 1);

-- Ids that an Embedding cuts to other ids
SELECT hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Embedding", "config": {"name": "words", "input_dim": 8, "output_dim": 4}},
    {"class_name": "Flatten", "config": {}}, {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}}') AS words \gset
\set good 'loss=categorical_crossentropy, optimizer=SGD(0.1)'
SELECT hopper.training_preprocessor('kinds', 'ids', 'kind', 'word');
SELECT hopper.training_preprocessor('kinds', 'tenths', 'kind', 'word', normalizing_const => 10);
SELECT hopper.training_preprocessor('kinds', 'reals', 'kind', 'share');
SELECT count(*) FROM hopper.fit('ids', 'm_ids', 'networks', :words, :'good', 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('tenths', 'm_tenths', 'networks', :words, :'good', 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('reals', 'm_reals', 'networks', :words, :'good', 'batch_size=16', 1);
