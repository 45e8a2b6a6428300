-- A model that is trained anew every night, and takes over only where it is better. For cron:
--
--     psql -X -q -v ON_ERROR_STOP=1 -d shop -f nightly.sql
--
-- Every statement may be run again. Who reads "production" and "scores" finds them at any time, with their views, indexes and grants.
\set ON_ERROR_STOP on
\if :{?rate}
\else
\set rate 0.01
\endif
CREATE EXTENSION IF NOT EXISTS model_hopper;
SET client_min_messages = warning;

-- In the place of your own data: visits of a shop, 600 more each time, of which the last 100 are still open.
CREATE TABLE IF NOT EXISTS visits (id integer PRIMARY KEY, minutes real, pages real, bought boolean);
UPDATE visits SET bought = ('x' || left(md5(id::text), 4))::bit(16)::integer / 65536.0 < 1 / (1 + exp(4 - minutes - pages / 4))
WHERE bought IS NULL;
INSERT INTO visits
SELECT i, m, p, CASE WHEN i <= last.id + 500 THEN ('x' || left(md5(i::text), 4))::bit(16)::integer / 65536.0 < 1 / (1 + exp(4 - m - p / 4)) END
FROM (SELECT coalesce(max(id), 0) AS id FROM visits) AS last, generate_series(last.id + 1, last.id + 600) AS i,
    LATERAL (SELECT 2 + 2 * sin(i) AS m, 6 + 5 * cos(i * 1.7) AS p) AS drawn;

-- Features are divided by numbers that stand here: yesterday's model gets from this view what it was trained with.
CREATE OR REPLACE VIEW visit_features AS
SELECT id, minutes / 4 AS minutes, pages / 12 AS pages, bought, id % 5 = 3 AS is_validation, id % 5 = 4 AS is_test FROM visits;
CREATE OR REPLACE VIEW visits_to_learn AS SELECT * FROM visit_features WHERE bought IS NOT NULL AND NOT is_test;
CREATE OR REPLACE VIEW visits_to_judge AS SELECT * FROM visit_features WHERE bought IS NOT NULL AND is_test;
CREATE OR REPLACE VIEW visits_open AS SELECT * FROM visit_features WHERE bought IS NULL;

SELECT hopper.training_preprocessor(source_table := 'visits_to_learn', output_table := 'visits_packed', dependent_varname := 'bought',
    independent_varname := 'minutes, pages', fold_column := 'is_validation', replace := true);
SELECT hopper.validation_preprocessor(source_table := 'visits_to_judge', output_table := 'visits_judged', packed_table := 'visits_packed',
    replace := true);

-- replace keeps one network of a name, with its model_id.
SELECT hopper.mlp(model_arch_table := 'networks', packed_table := 'visits_packed', hidden := 8, name := 'small', replace := true);
SELECT hopper.mlp(model_arch_table := 'networks', packed_table := 'visits_packed', hidden := ARRAY[32, 16], name := 'large', replace := true);
SELECT hopper.generate_model_configs(model_arch_table := 'networks', model_selection_table := 'visits_configs',
    model_id_list := hopper.model_ids('networks', ARRAY['small', 'large']),
    compile_params_grid := format($$ {'loss': ['binary_crossentropy'], 'metrics': [['auc']],
        'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [%s]}]} $$, :'rate'),
    fit_params_grid := $$ {'batch_size': [32], 'restore_best': [True], 'monitor': ['val_auc']} $$, replace := true);
SELECT * FROM hopper.fit_multiple_model(packed_table := 'visits_packed', model_table := 'candidate', model_selection_table := 'visits_configs',
    num_iterations := 8, validation_table := 'visits_packed_validation', replace := true);

-- Both are judged by rows that neither was trained on or chosen by.
SELECT to_regclass('production') IS NULL AS first \gset
\if :first
\set better yes
\else
SELECT (hopper.evaluate('candidate', 'visits_judged')).metric > (hopper.evaluate('production', 'visits_judged')).metric AS better \gset
\endif
\if :better
SELECT hopper.rename_model(model_table := 'candidate', new_name := 'production', replace := true);
\endif

-- New rows in the same table, whatever stands on it.
SELECT hopper.predict(model_table := 'production', source_table := 'visits_open', id_col := 'id', output_table := 'scores',
    pred_type := 'response', replace := 'rows');
