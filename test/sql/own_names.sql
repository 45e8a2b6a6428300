-- Columns of users that are called as columns of our tables.
SET client_min_messages = warning;
CREATE SCHEMA own_names;
SET search_path = own_names;
CREATE TABLE counts AS
SELECT i AS id, i % 3 AS n, ARRAY[i % 3, i % 7, 1]::real[] AS checksum, (i % 3)::real AS rank, (i % 5)::real AS prob
FROM generate_series(1, 240) i;
SELECT hopper.training_preprocessor('counts', 'packed', 'n', 'checksum', validation_fraction => 0.25, partitions => 2);
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'packed'::regclass AND attnum > 0 ORDER BY attnum;
SELECT dependent_varname, independent_varname, n_class_values FROM packed_summary;
SELECT hopper.load_model('models', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 8, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}}');
SELECT best_metric, round(best_value::numeric, 1) FROM hopper.fit('packed', 'trained', 'models', 1,
    $$loss='categorical_crossentropy', optimizer='Adam(lr=0.05)', metrics=['accuracy']$$, 'batch_size=8', 20,
    validation_table => 'packed_validation');
SELECT hopper.fit('packed', 'trained', 'models', 1,
    $$loss='categorical_crossentropy', optimizer='Adam(lr=0.05)', metrics=['accuracy']$$, 'batch_size=8', 1,
    validation_table => 'packed_validation', warm_start => true) IS NOT NULL AS goes_on;
SELECT round(metric::numeric, 1) FROM hopper.evaluate('trained', 'packed_validation');
SELECT hopper.validation_preprocessor('counts', 'again', 'n', 'checksum', 'packed');
SELECT round(metric::numeric, 1) FROM hopper.evaluate('trained', 'again');
SELECT hopper.predict('trained', 'counts', 'id', 'checksum', 'predicted');
SELECT count(*) AS right FROM predicted JOIN counts USING (id) WHERE predicted_n = n;
SELECT class_value FROM hopper.predict_row('trained', 1, ARRAY[2, 2, 1]::real[]) LIMIT 1;
-- an id
SELECT hopper.predict('trained', 'counts', 'rank', 'checksum', 'ranked');
SELECT hopper.predict('trained', 'counts', 'prob', 'checksum', 'ranked', 'prob');
DROP SCHEMA own_names CASCADE;
