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
