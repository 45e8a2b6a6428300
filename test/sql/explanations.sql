-- What a model makes of its columns, and the probability of each class as a column: what is refused,
-- and what the oracles of test/e2e/explanations_test.py do not see.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_explanations;
SET search_path = hopper_explanations;
SET client_min_messages = warning;
CREATE TABLE flowers AS SELECT i AS "Id", (i % 40) / 10.0::float8 AS size, CASE WHEN i % 9 > 0 THEN date '1955-01-01' + 37 * i END AS "seen ""on""",
    (ARRAY['a b', 'C"x', 'n'])[1 + (i % 40) / 14] AS kind, i % 5 AS t, ARRAY[i % 3, i % 4]::real[] AS codes FROM generate_series(1, 240) i;
ALTER TABLE flowers ADD PRIMARY KEY ("Id");
SELECT hopper.training_preprocessor('flowers', 'packed', 'kind', '*', treatments => '{"t": "none", "size": {"null": "refuse"}}');
SELECT hopper.mlp('networks', 'packed', '{12}');
SELECT models_trained FROM hopper.fit('packed', 'm', 'networks', 1, 'loss=categorical_crossentropy, optimizer=Adam(lr=0.03), metrics=[accuracy]', 'batch_size=32, epochs=1', 12);

-- Probabilities as columns: in a table, and by a function
SELECT hopper.predict('m', 'flowers', '"Id"', output_table => 'by_class', pred_type => 'columns');
SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'by_class'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*), bool_and(abs("prob_a b" + "prob_C""x" + prob_n - 1) < 1e-6) AS sums, avg((predicted_kind = kind)::int) > 0.9 AS learnt,
    bool_and(CASE predicted_kind WHEN 'a b' THEN "prob_a b" WHEN 'n' THEN prob_n ELSE "prob_C""x" END = greatest("prob_a b", "prob_C""x", prob_n)) AS best
FROM by_class JOIN flowers USING ("Id");
SELECT hopper.predict('m', 'flowers', '"Id"', output_table => 'by_row', pred_type => 'prob');
SELECT bool_and(abs(prob - CASE class_value WHEN 'a b' THEN "prob_a b" WHEN 'n' THEN prob_n ELSE "prob_C""x" END) < 1e-9) AS as_in_rows FROM by_row JOIN by_class USING ("Id");
SELECT hopper.create_predict_function('m', 'guess', pred_type => 'columns');
SELECT bool_and((g).predicted_kind = c.predicted_kind AND abs((g).prob_n - c.prob_n) < 1e-6) AS as_in_table
FROM (SELECT f.*, guess(size, "seen ""on""", t, codes) AS g FROM flowers f OFFSET 0) f JOIN by_class c USING ("Id");
SELECT hopper.create_predict_function('m', 'guess', pred_type => 'prob', replace => true);
SELECT hopper.predict_outputs('m', 1, 'null', NULL, NULL, NULL::float8, date '2020-01-01', 3, NULL::real[]) IS NULL AS none;
-- What the functions of one model make of another one in its place: columns go by their names, and classes are the same ones
SELECT hopper.create_predict_function('m', 'kind_of');
-- By itself a function takes the best model of each statement, whichever number that has got in a training of last night
BEGIN;
UPDATE m SET mst_key = 2;
UPDATE m_info SET mst_key = 2;
UPDATE m_summary SET best_mst_key = 2;
SELECT bool_and(kind_of(size, "seen ""on""", t, codes) = predicted_kind AND (guess(size, "seen ""on""", t, codes)).predicted_kind = predicted_kind) AS goes_on
FROM flowers JOIN by_class USING ("Id");
ROLLBACK;
CREATE FUNCTION train_in_place(source text, features text) RETURNS integer LANGUAGE sql AS $$
    SELECT hopper.training_preprocessor(source, 'other_packed', 'kind', features, treatments => '{}', replace => true);
    SELECT hopper.mlp('other_networks', 'other_packed', '{12}', replace => true);
    SELECT models_trained FROM hopper.fit('other_packed', 'm', 'other_networks', 1, 'loss=categorical_crossentropy, optimizer=Adam(lr=0.03)', 'batch_size=32', 2, replace => true) $$;
BEGIN;
SELECT train_in_place('flowers', 'codes, t, size');
SELECT bool_and(kind_of(size, "seen ""on""", t, codes) = p.class_value) AS by_name, bool_and((guess(size, "seen ""on""", t, codes)).predicted_kind = p.class_value) AS outputs_by_name,
    bool_or(hopper.predict_value('m', 1, 'error', NULL, codes, size::integer, t) <> p.class_value) AS others_by_place
FROM (SELECT (source).*, class_value FROM hopper.predict_rows('m', NULL::flowers)) p;
CREATE VIEW more AS SELECT *, "Id" % 2 AS more FROM flowers;
SELECT train_in_place('more', 'size, t, more');
\set ON_ERROR_ROLLBACK on
SELECT kind_of(size, "seen ""on""", t, codes) FROM flowers LIMIT 1;
CREATE VIEW other_classes AS SELECT "Id", size, "seen ""on""", t, codes, replace(kind, 'n', 'a') AS kind FROM flowers;
SELECT train_in_place('other_classes', 'size, "seen ""on""", t, codes');
SELECT kind_of(size, "seen ""on""", t, codes) IN ('a', 'a b', 'C"x') AS one_of_its FROM flowers LIMIT 1;
SELECT guess(size, "seen ""on""", t, codes) FROM flowers LIMIT 1;
\set ON_ERROR_ROLLBACK off
ROLLBACK;
SELECT hopper.predict_value('m', 1, 'error', '{size,t}', 1.5);
SELECT count(*) FROM hopper.predict_rows('m', NULL::flowers, 'columns');
CREATE VIEW renamed AS SELECT "Id" AS prob_n, * FROM flowers;
SELECT hopper.predict('m', 'renamed', 'prob_n', output_table => 'by_class_2', pred_type => 'columns');

-- Explanations of more than two classes, by dates before 1970 with NULL, arrays and columns called like what is inside
SELECT feature, importance > 0.3 AS matters, metric_type FROM hopper.feature_importance('m', 'flowers') ORDER BY 2 DESC, 1;
SELECT feature, feature_value, class_explained, abs(sum(contribution) OVER () - prediction + baseline) < 1e-9 AS adds_up
FROM hopper.explain_row('m', (SELECT f FROM flowers f WHERE "Id" = 9), 'flowers', samples => 40) ORDER BY feature;
SELECT feature, feature_value FROM hopper.explain_row('m', (SELECT f FROM (SELECT codes, 1e6 AS size, t, 'infinity'::text AS unused, NULL AS "seen ""on""" FROM flowers LIMIT 1) f),
    'flowers', class_value => 'C"x', samples => 2) ORDER BY feature;
SELECT feature_value, rows FROM hopper.partial_dependence('m', 'flowers', 'seen "on"', class_value => 'n', points => 2, most_rows => 240);
SELECT count(*), min(rows) FROM hopper.partial_dependence('m', 'flowers', 'codes', class_value => 'n', points => 5);

-- Of numbers, in the label's unit
SELECT hopper.training_preprocessor('flowers', 'sizes', 'size', 'kind, t', label_kind => 'value');
SELECT hopper.mlp('networks', 'sizes', '{8}');
SELECT models_trained FROM hopper.fit('sizes', 'p', 'networks', 2, 'loss=mse, optimizer=Adam(lr=0.03), metrics=[mae]', 'batch_size=32, epochs=1', 12);
SELECT feature, importance > low AND high > importance AS within, metric_type, metric_before < 1 AS learnt FROM hopper.feature_importance('p', 'flowers') ORDER BY 1;
SELECT metric_type FROM hopper.feature_importance('p', 'flowers', metric => 'mae', repeats => 2, most_rows => 1);
SELECT feature_value, prediction BETWEEN low AND high AS between, rows, class_explained FROM hopper.partial_dependence('p', 'flowers', 'kind') ORDER BY 1;
SELECT abs(min(baseline) - avg(size)) < 0.2 AS mean FROM hopper.explain_row('p', (SELECT f FROM flowers f WHERE "Id" = 9), 'flowers', samples => 480), flowers;

-- What is refused
SELECT * FROM hopper.feature_importance('m', NULL);
SELECT * FROM hopper.feature_importance('m', 'flowers', metric => 'auc');
SELECT * FROM hopper.feature_importance('p', 'flowers', metric => 'accuracy');
SELECT * FROM hopper.feature_importance('m', 'flowers', repeats => 1);
SELECT * FROM hopper.feature_importance('m', 'packed');
CREATE VIEW unknown AS SELECT "Id", size, "seen ""on""", t, codes, 'other' AS kind FROM flowers;
SELECT * FROM hopper.feature_importance('m', 'unknown');
CREATE VIEW none AS SELECT * FROM flowers WHERE false;
SELECT * FROM hopper.explain_row('m', (SELECT f FROM flowers f WHERE "Id" = 9), 'none');
SELECT * FROM hopper.explain_row('m', NULL, 'flowers');
SELECT * FROM hopper.explain_row('m', (SELECT f FROM flowers f WHERE "Id" = 9));
SELECT * FROM hopper.explain_row('m', ROW(1, 2), 'flowers');
SELECT * FROM hopper.explain_row('m', (SELECT f FROM flowers f WHERE "Id" = 9), 'flowers', class_value => 'b');
SELECT * FROM hopper.explain_row('p', (SELECT f FROM flowers f WHERE "Id" = 9), 'flowers', class_value => 'b');
SELECT * FROM hopper.partial_dependence('m', 'flowers', 't');
SELECT * FROM hopper.partial_dependence('m', 'flowers', 'T', class_value => 'n');
SELECT * FROM hopper.partial_dependence('m', 'flowers', NULL, class_value => 'n');
CREATE VIEW gaps AS SELECT "Id", NULLIF(size, 1) AS size, "seen ""on""", t, codes, kind FROM flowers;
SELECT * FROM hopper.partial_dependence('m', 'gaps', 't', class_value => 'n', most_rows => 240);
\echo :LAST_ERROR_SQLSTATE
-- Of two classes where the rows have one
CREATE VIEW halves AS SELECT *, size > 2 AS late FROM flowers;
SELECT hopper.training_preprocessor('halves', 'two', 'late', 'size, t');
SELECT hopper.mlp('networks', 'two', '{4}');
SELECT models_trained FROM hopper.fit('two', 'h', 'networks', 3, 'loss=binary_crossentropy, optimizer=Adam(lr=0.03), metrics=[auc]', 'batch_size=32, epochs=1', 3);
CREATE VIEW late AS SELECT * FROM halves WHERE late;
SELECT * FROM hopper.feature_importance('h', 'late');
SELECT feature, metric_type FROM hopper.feature_importance('h', 'late', metric => 'log_loss') ORDER BY 1;
SELECT DISTINCT class_explained FROM hopper.partial_dependence('h', 'late', 't');
-- A row of the features alone, where the table has a column that may not be NULL
CREATE DOMAIN present AS text NOT NULL;
CREATE VIEW whole AS SELECT *, 'here'::present AS origin FROM halves;
SELECT feature, feature_value FROM hopper.explain_row('h', (SELECT f FROM (SELECT 2.5 AS size, t FROM flowers WHERE "Id" = 9) f), 'whole', samples => 4) ORDER BY 1;

SET client_min_messages = warning;
DROP SCHEMA hopper_explanations CASCADE;
