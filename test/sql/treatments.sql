-- Columns of any type as features: treatments, their statistics, and rows of the table as it is in
-- prediction.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_treatments;
SET search_path = hopper_treatments;
SET client_min_messages = warning;
CREATE TYPE size AS ENUM ('small', 'large');
CREATE TABLE customers AS SELECT i AS id, (i % 40) + 20 AS age, CASE WHEN i % 10 > 0 THEN ((i * 7919) % 1000) / 10.0 END AS income,
    (ARRAY['basic', 'gold', 'silver'])[i % 3 + 1] AS plan, 'city ' || (i % 12)::text AS city, i % 4 = 0 AS member,
    date '2020-01-01' + i AS since, timestamptz '2024-05-01 12:00Z' + i * interval '1 hour' AS seen,
    (CASE WHEN i % 2 = 0 THEN 'small' ELSE 'large' END)::size AS size, ARRAY[i % 5, i % 7]::real[] AS codes,
    'never the same ' || i AS note, 7 AS constant, NULL::integer AS nothing, '{}'::jsonb AS extra,
    CASE WHEN (i % 40) > 20 THEN 'yes' ELSE 'no' END AS churned, 1000 + 10 * (i % 40) + 7 * (i % 3) AS price, i % 7 = 0 AS fold
FROM generate_series(1, 600) i;
ALTER TABLE customers ADD PRIMARY KEY (id);

-- All columns but label, key and what cannot be a feature, each by its type
SELECT hopper.training_preprocessor('customers', 'packed', 'churned', '*', fold_column => 'fold', partitions => 1,
    treatments => '{"price": "drop"}') ;
SET client_min_messages = warning;
SELECT feature, sql_type, treatment, on_null, nulls, slots, left(statistics, 60) AS statistics FROM hopper.describe_features('packed');
SELECT n_rows, independent_shape, independent_type, independent_varname FROM packed_summary;
SELECT schema->'version' AS version, schema->'width' AS width, schema#>'{columns,0,slots}' AS slots, schema->'label' AS label FROM packed_summary;
-- From rows to train on alone
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) AS ours, (SELECT c->>'center' FROM packed_summary, jsonb_array_elements(schema->'columns') c
    WHERE c->>'name' = 'age') AS packed FROM customers WHERE NOT fold;
-- The order of the rows does not matter
CREATE TABLE shuffled AS SELECT * FROM customers ORDER BY md5(id::text);
ALTER TABLE shuffled ADD PRIMARY KEY (id);
SELECT hopper.training_preprocessor('shuffled', 'packed_2', 'churned', '*', fold_column => 'fold', partitions => 1, treatments => '{"price": "drop"}');
SELECT a.checksum = b.checksum AS same_rows, a.schema = b.schema AS same_schema FROM packed_summary a, packed_2_summary b;
-- Its part for validation is chosen by what is in the rows
SELECT hopper.training_preprocessor('customers', 'split', 'churned', 'age, plan, income', validation_fraction => 0.25);
SELECT hopper.training_preprocessor('shuffled', 'split_2', 'churned', 'age, plan, income', validation_fraction => 0.25);
SELECT a.checksum = b.checksum AS same_rows, a.class_counts, v.class_counts AS validation FROM split_summary a, split_2_summary b, split_validation_summary v;
-- A gap that the rows to train on do not have
CREATE VIEW one_gap AS SELECT id, plan, nullif(age, 27) AS age, churned, age = 27 AS fold FROM customers;
SELECT hopper.training_preprocessor('one_gap', 'gapped', 'churned', 'age, plan', fold_column => 'fold', partitions => 1);
SELECT feature, on_null, nulls FROM hopper.describe_features('gapped');
-- Treatments by name
SELECT hopper.training_preprocessor('customers', 'named', 'churned', 'age, income, plan, city', treatments =>
    '{"age": "standardize", "income": {"treatment": "quantile", "quantiles": 5, "null": "median"}, "plan": "index", "city": {"treatment": "one_hot", "min_frequency": 50}}');
SELECT * FROM hopper.describe_features('named');
CREATE VIEW first_rows AS SELECT city, plan, income, age FROM customers WHERE id <= 12 AND (id < 3 OR id = 10) ORDER BY id;
SELECT row_number, array_length(features, 1) AS width, features[3] AS plan, round(features[1]::numeric, 4) AS age,
    round(features[2]::numeric, 4) AS income, features[4:15] AS city FROM hopper.transform_rows('named', 'first_rows');
SELECT (age - 39.5) / stddev_pop FROM customers, (SELECT stddev_pop(age) FROM customers) s WHERE id = 1;
-- A list of numbers is packed as it is, unless treatments are asked for
SELECT hopper.training_preprocessor('customers', 'plain', 'churned', 'age, price');
SELECT independent_type, schema FROM plain_summary;
SELECT * FROM hopper.describe_features('plain');
SELECT hopper.training_preprocessor('customers', 'treated', 'churned', 'age, price', treatments => '{}');
SELECT feature, treatment FROM hopper.describe_features('treated');

-- Everything that is wrong, in one error
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'age, plan, income', treatments =>
    '{"agee": "log", "plan": "robust", "income": {"treatment": "robst", "nul": 1}}');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'note, nothing', treatments => '{"note": {"min_frequency": 2}}');
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'plan, extra');
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'agee, plan');
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'income, plan', treatments => '{"income": {"null": "refuse"}}');
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'constant', treatments => '{}');
SELECT hopper.training_preprocessor('customers', 'wrong', 'churned', 'age, plan', normalizing_const => 255);
CREATE VIEW infinite AS SELECT *, 'Infinity'::float8 AS endless FROM customers;
SELECT hopper.training_preprocessor('infinite', 'wrong', 'churned', 'endless, plan');

-- Prediction on rows as they are
SELECT hopper.training_preprocessor('customers', 'packed', 'churned', 'age, income, plan, city, since', fold_column => 'fold', partitions => 1, replace => true,
    treatments => '{"city": "one_hot", "age": {"null": "refuse"}}');
SELECT hopper.mlp('networks', 'packed', '{8}');
SELECT models_trained FROM hopper.fit('packed', 'm', 'networks', 1, 'loss=binary_crossentropy, optimizer=Adam(lr=0.02), metrics=[accuracy]', 'batch_size=32, epochs=1', 20);
SELECT hopper.predict('m', 'customers', 'id', output_table => 'predicted', pred_type => 'response');
SELECT avg((predicted_churned = churned)::int)::numeric(4,2) > 0.9 AS learnt FROM predicted JOIN customers USING (id);
SELECT class_value, prob > 0.5 AS likely FROM hopper.predict_row('m', (SELECT c FROM customers c WHERE id = 25)) LIMIT 1;
-- By name and in any order, with an unknown category, and NULL where training had some
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": "never heard of", "city": null, "income": null, "age": 45}'::jsonb) LIMIT 1;
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": "gold", "city": "city 1", "income": null, "age": null}'::jsonb) LIMIT 1;
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": "gold", "city": "city 1", "income": null, "age": null}'::jsonb, on_null => 'null') LIMIT 1;
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": "gold", "city": "city 1", "income": 3}'::jsonb) LIMIT 1;
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": 7, "city": "city 1", "income": 3, "age": 4}'::jsonb) LIMIT 1;
\set SHOW_CONTEXT errors
SELECT class_value FROM hopper.predict_row('m', '{"since": "2020-02-01", "plan": "gold", "city": "city 1", "income": "much", "age": 4}'::jsonb) LIMIT 1;
\set SHOW_CONTEXT never
SELECT class_value FROM hopper.predict_row('m', ARRAY[1, 2, 3]) LIMIT 1;
CREATE VIEW changed AS SELECT id, age::text AS age, income, plan, city, since FROM customers;
SELECT hopper.predict('m', 'changed', 'id', output_table => 'predicted_2');
CREATE VIEW lacking AS SELECT id, age AS agee, income, plan, city, since FROM customers;
SELECT hopper.predict('m', 'lacking', 'id', output_table => 'predicted_2');
SELECT count(*) FROM hopper.predict_rows('m', NULL::customers);
-- As a function over its columns
SELECT hopper.create_predict_function('m', 'churn');
SELECT churn(45, 3.5, 'gold', 'city 2', '2020-02-01'), pg_typeof(churn(45, 3.5, 'gold', 'city 2', '2020-02-01'));
SELECT hopper.create_predict_function('m', 'churn');
SELECT hopper.create_predict_function('m', 'churn', replace => true);
SELECT hopper.predict_value('m', 1, 'error', NULL, 45, 3.5);
SELECT hopper.predict_value('m', 1, 'error', NULL, 'old'::text, 3.5, 'gold'::text, 'city 2'::text, date '2020-02-01');
SELECT hopper.predict_value('m', 1, 'null', NULL, NULL::int, 3.5, 'gold'::text, 'city 2'::text, date '2020-02-01') IS NULL AS none;
EXPLAIN (VERBOSE, COSTS OFF) SELECT churn(age, income, plan, city, since) FROM customers;
-- A model that is trained anew in between
DO $$
DECLARE
    before text;
BEGIN
    SELECT string_agg(churn(age, income, plan, city, since), ',' ORDER BY id) INTO before FROM customers;
    UPDATE m SET model_weights = decode(repeat('00', octet_length(model_weights)), 'hex');
    RAISE WARNING 'others: %', before <> (SELECT string_agg(churn(age, income, plan, city, since), ',' ORDER BY id) FROM customers);
    RAISE EXCEPTION 'taken back';
END $$;
-- Types of one's own, spans of time and times of day
CREATE DOMAIN years AS integer;
CREATE TABLE visits AS SELECT i AS id, (CASE WHEN i % 3 = 0 THEN 'small' ELSE 'large' END)::size AS size, (i % 50)::years AS age,
    i * interval '1 hour' - interval '1 mon 2 days' AS stay, time '08:00' + i * interval '1 minute' AS at, (CASE WHEN i % 3 = 0 THEN 'large' ELSE 'small' END)::size AS next
FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('visits', 'visits_packed', 'next', 'size, age, stay, at', partitions => 1, treatments => '{"stay": "none", "at": "none"}');
SELECT feature, sql_type, treatment, slots FROM hopper.describe_features('visits_packed');
SELECT bool_and(t.features[4] = extract(epoch FROM v.stay)::real) AS spans, bool_and(t.features[5] = extract(epoch FROM v.at)::real) AS times, count(*)
FROM hopper.transform_rows('visits_packed', 'visits') t JOIN (SELECT row_number() OVER () AS row_number, * FROM visits) v USING (row_number);
SELECT hopper.mlp('m_visits_networks', 'visits_packed', hidden => 4);
SELECT hopper.fit('visits_packed', 'm_visits', 'm_visits_networks', 1, $$loss='binary_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']$$, $$batch_size=16$$, 1) IS NOT NULL AS trained;
SELECT hopper.create_predict_function('m_visits', 'next_size');
SELECT count(*), bool_and(next_size(size, age, stay, at)::text IS NOT DISTINCT FROM p.class_value) AS same, pg_typeof(min(next_size(size, age, stay, at)))
FROM visits v, hopper.predict_row('m_visits', to_jsonb(v)) p WHERE p.prob > 0.5;
-- A label of type char(n) comes whole
CREATE VIEW visits_char AS SELECT id, size, age, stay, at, next::text::char(8) AS next FROM visits;
SELECT hopper.training_preprocessor('visits_char', 'visits_char_packed', 'next', 'size, age', partitions => 1);
SELECT hopper.mlp('m_visits_networks', 'visits_char_packed', hidden => 4, name => 'of char');
SELECT hopper.fit('visits_char_packed', 'm_char', 'm_visits_networks', 2, $$loss='binary_crossentropy', optimizer='SGD(lr=0.1)'$$, $$batch_size=16$$, 1) IS NOT NULL AS trained;
SELECT hopper.create_predict_function('m_char', 'next_char');
SELECT hopper.create_predict_function('m_char', 'next_char_columns', pred_type => 'columns');
SELECT count(*), bool_and(next_char(size, age) = p.class_value::char(8)) AS same, bool_and((next_char_columns(size, age)).predicted_next = p.class_value::char(8)) AS same_columns
FROM visits_char v, hopper.predict_row('m_char', to_jsonb(v)) p WHERE p.prob > 0.5;
-- JSON means what a row means, in whatever time zone, and so do its whole numbers
CREATE DOMAIN moment AS timestamptz;
CREATE TABLE events AS SELECT i AS id, timestamp '2024-01-01 00:30' + i * interval '1 hour' AS here, (timestamptz '2024-01-01 00:30+00' + i * interval '1 hour')::moment AS there,
    9007199254740990 + i % 4 AS code, i % 24 > 11 AS late FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('events', 'events_packed', 'late', 'here, there, code', partitions => 1, treatments => '{"code": {"treatment": "index", "min_frequency": 1}}');
SELECT hopper.mlp('m_visits_networks', 'events_packed', hidden => 4, name => 'of events');
SELECT hopper.fit('events_packed', 'm_events', 'm_visits_networks', hopper.model_id('m_visits_networks', 'of events'), $$loss='binary_crossentropy', optimizer='Adam(lr=0.1)'$$, $$batch_size=16$$, 3) IS NOT NULL AS trained;
SET timezone = 'Asia/Tokyo';
SELECT count(*), max(abs(a.prob - b.prob)) AS apart FROM events e, hopper.predict_row('m_events', e) a, hopper.predict_row('m_events', to_jsonb(e)) b
WHERE a.class_value = 'true' AND b.class_value = 'true';
RESET timezone;
-- Validation rows by the same schema; models of others do not fit
SELECT hopper.validation_preprocessor('customers', 'checked', packed_table => 'packed');
SELECT (SELECT schema FROM packed_summary) = (SELECT schema FROM checked_summary) AS same, n_rows FROM checked_summary;
SELECT metric > 0.9 AS learnt FROM hopper.evaluate('m', 'checked');
SELECT hopper.training_preprocessor('customers', 'other', 'churned', 'age, income, plan, city, since', partitions => 1, treatments => '{"city": "one_hot", "age": "log"}');
SELECT hopper.evaluate('m', 'other');

-- An index is embedded, alone or beside numbers
CREATE VIEW by_city AS SELECT id, city, age, income, substr(city, 6)::int % 3 = 0 AS near FROM customers;
SELECT hopper.training_preprocessor('by_city', 'cities', 'near', 'city', partitions => 1);
SELECT feature, treatment, slots FROM hopper.describe_features('cities');
SELECT hopper.mlp('embedding', 'cities', '{8}');
SELECT hopper.training_preprocessor('by_city', 'mixed', 'near', 'age, city, income', partitions => 1);
SELECT hopper.mlp('embedding', 'mixed', '{8}', dropout => 0.1, batch_norm => true);
SELECT model_id, name, model_arch->>'class_name' AS class, (SELECT string_agg(l->>'class_name', ' ' ORDER BY i) FROM
    json_array_elements(model_arch->'config'->'layers') WITH ORDINALITY AS u(l, i)) AS layers FROM embedding ORDER BY 1;
SELECT best_value > 0.95 AS learnt FROM hopper.fit('cities', 'c', 'embedding', 1, 'loss=binary_crossentropy, optimizer=Adam(lr=0.02), metrics=[accuracy]', 'batch_size=32, epochs=1', 15);
SELECT best_value > 0.9 AS learnt FROM hopper.fit('mixed', 'd', 'embedding', 2, 'loss=binary_crossentropy, optimizer=Adam(lr=0.02), metrics=[accuracy]', 'batch_size=32, epochs=1', 25);
SELECT hopper.predict('d', 'by_city', 'id', output_table => 'near_guessed', pred_type => 'response');
SELECT avg((predicted_near = near)::int) > 0.9 AS learnt FROM near_guessed JOIN by_city USING (id);
SELECT class_value IS NOT NULL AS other FROM hopper.predict_row('d', '{"age": 40, "city": "never heard of", "income": null}'::jsonb) LIMIT 1;

-- Labels that are numbers go back to their unit, and so do metrics
SELECT hopper.training_preprocessor('customers', 'prices', 'price', 'age, plan', partitions => 1) ;
SET client_min_messages = warning;
SELECT schema->'label' AS label, label_kind FROM prices_summary;
SELECT hopper.training_preprocessor('customers', 'prices', 'price', 'age, plan', partitions => 1, label_kind => 'value', fold_column => 'fold', replace => true);
SELECT schema->'label'->'mean' AS mean, schema->'label'->'least' AS least FROM prices_summary;
SELECT hopper.mlp('networks', 'prices', '{16}');
SELECT models_trained FROM hopper.fit('prices', 'p', 'networks', 2, 'loss=mse, optimizer=Adam(lr=0.02), metrics=[mae, mse, rmse, r2_score]', 'batch_size=32, epochs=1', 60);
SELECT hopper.predict('p', 'customers', 'id', output_table => 'prices_predicted');
SELECT bool_and(predicted_price BETWEEN 1000 AND 1404) AS within, avg(abs(predicted_price - price)) < 20 AS near FROM prices_predicted JOIN customers USING (id);
SELECT hopper.validation_preprocessor('customers', 'prices_checked', packed_table => 'prices');
SELECT abs(metrics[1] / (SELECT avg(abs(predicted_price - price)) FROM prices_predicted JOIN customers USING (id)) - 1) < 1e-4 AS mae,
    abs(metrics[3] / sqrt((SELECT avg((predicted_price - price) ^ 2) FROM prices_predicted JOIN customers USING (id))) - 1) < 1e-4 AS rmse,
    abs(metrics[2] / metrics[3] ^ 2 - 1) < 1e-4 AS mse, metrics[4] > 0.9 AS r2 FROM hopper.evaluate('p', 'prices_checked');
SELECT models_trained FROM hopper.fit('prices', 'q', 'networks', 2, 'loss=mse, optimizer=Adam(), metrics=[mape]', NULL, 1);
SELECT hopper.training_preprocessor('customers', 'unscaled', 'price', 'age, plan', label_kind => 'value', treatments => '{"price": "none"}');
SELECT schema->'label'->'is_value' AS scaled, label_range FROM unscaled_summary;

-- More columns than a function has arguments: which rows are for validation goes by all of them
SELECT format('CREATE TABLE broad AS SELECT %s, i %% 3 = 0 AS y FROM generate_series(1, 200) AS i', string_agg(format('i * %s %% 997 AS c%s', c, c), ', ')) AS made
FROM generate_series(1, 230) AS c \gset
:made;
CREATE VIEW broad_folds AS SELECT b.*, row_number() OVER (PARTITION BY y ORDER BY h) <= floor(0.2 * count(*) OVER (PARTITION BY y) + 0.5) AS fold
FROM (SELECT b.*, hashtextextended((SELECT '0|' || string_agg(e.value, '|' ORDER BY e.i) FROM json_each_text(row_to_json(b)) WITH ORDINALITY AS e(key, value, i) WHERE e.key <> 'y')
    COLLATE "C", 0) AS h FROM broad AS b) AS b;
SELECT hopper.training_preprocessor('broad', 'broad_packed', 'y', '*', validation_fraction => 0.2);
SELECT hopper.training_preprocessor('broad_folds', 'broad_folded', 'y', '*', treatments => '{"h": "drop"}', fold_column => 'fold');
SELECT a.n_rows, a.checksum = b.checksum AS alike FROM broad_packed_summary AS a, broad_folded_summary AS b;
SELECT a.class_counts, a.checksum = b.checksum AS alike FROM broad_packed_validation_summary AS a, broad_folded_validation_summary AS b;
-- A function of so many columns takes a row, of whatever table or query has them by their names
SELECT hopper.mlp('m_visits_networks', 'broad_packed', hidden => 4, name => 'broad');
SELECT hopper.fit('broad_packed', 'm_broad', 'm_visits_networks', hopper.model_id('m_visits_networks', 'broad'), $$loss='binary_crossentropy', optimizer='Adam(lr=0.1)'$$, $$batch_size=16$$, 2) IS NOT NULL AS trained;
SELECT hopper.create_predict_function('m_broad', 'of_broad');
SELECT hopper.create_predict_function('m_broad', 'columns_of_broad', on_null => 'null', pred_type => 'columns');
SELECT count(*), bool_and(of_broad(b) = p.class_value::bool) AS same, bool_and((columns_of_broad(b)).predicted_y = p.class_value::bool) AS same_columns,
    max(abs((columns_of_broad(b)).prob_true - CASE p.class_value WHEN 'true' THEN p.prob ELSE 1 - p.prob END)) < 1e-6 AS same_prob
FROM broad AS b, hopper.predict_row('m_broad', b) AS p WHERE p.prob > 0.5;
SELECT columns_of_broad(NULL::broad) IS NULL AS none;
SELECT of_broad(NULL::broad);
SELECT of_broad(c) FROM customers AS c;
SELECT of_broad(1);
SELECT hopper.create_predict_function('m_broad', 'of_columns', by_row => false);
-- So does one of few columns that is asked to
SELECT hopper.create_predict_function('m', 'churn_of', by_row => true);
SELECT count(*), bool_and(churn_of(c) = churn(c.age, c.income, c.plan, c.city, c.since)) AS same,
    bool_and(churn_of(t) = churn(c.age, c.income, c.plan, c.city, c.since)) AS turned FROM customers AS c, LATERAL (SELECT 'x' AS more, c.since, c.city, c.plan, c.income, c.age) AS t;
-- An empty text is a category that is shown
CREATE TABLE blanks AS SELECT CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN 'a' ELSE 'b' END AS k, i % 2 = 0 AS y FROM generate_series(1, 60) AS i;
SELECT hopper.training_preprocessor('blanks', 'blanks_packed', 'y', 'k');
SELECT feature, slots, statistics FROM hopper.describe_features('blanks_packed');
-- Of two columns of one name it is not known which is meant
SELECT churn_of(t) FROM (SELECT *, 0 AS age, 1 AS other, 2 AS other FROM customers LIMIT 1) AS t;
-- '*' leaves out a key, and types that no treatment takes: to drop them is no mistake
CREATE TABLE keyed AS SELECT md5(i::text)::uuid AS id, '{}'::jsonb AS raw, i AS x, i % 2 = 0 AS y FROM generate_series(1, 40) AS i;
ALTER TABLE keyed ADD PRIMARY KEY (id);
SELECT hopper.training_preprocessor('keyed', 'keyed_packed', 'y', '*', validation_fraction => 0.2,
    treatments => '{"id": "drop", "raw": {"treatment": "drop"}}');
SELECT hopper.training_preprocessor('keyed', 'keyed_wrong', 'y', '*', validation_fraction => 0.2,
    treatments => '{"id": "one_hot", "rwa": "drop"}');
SELECT hopper.training_preprocessor('keyed', 'keyed_wrong', 'y', 'x', validation_fraction => 0.2, treatments => '{"id": "drop"}');

SET client_min_messages = warning;
DROP SCHEMA hopper_treatments CASCADE;
