-- What packing says of the labels: rows of each class, for class_weight='balanced'; the least and
-- the largest number, for losses that need probabilities.
\set SHOW_CONTEXT never
CREATE SCHEMA hopper_ranges;
SET search_path = hopper_ranges;
SET client_min_messages = warning;
CREATE TABLE points AS SELECT i AS id, (i % 17 / 17.0)::real AS a, (i % 13 / 13.0)::real AS b,
    CASE WHEN i % 10 = 0 THEN 'rare' WHEN i % 10 < 4 THEN 'some' ELSE 'usual' END AS kind,
    (i % 10 - 2)::real AS number, (i % 11 / 10.0)::real AS share, ARRAY[i % 2, 2 - i % 3]::smallint[] AS two,
    ARRAY[i % 2 = 0, i % 3 = 0] AS flags, i % 5 = 0 AS put_aside FROM generate_series(1, 200) i;
SELECT hopper.training_preprocessor('points', 'kinds', 'kind', 'a, b', num_classes => 4),
    hopper.training_preprocessor('points', 'split', 'kind', 'a, b', fold_column => 'put_aside'),
    hopper.training_preprocessor('points', 'numbers', 'number', 'a, b'),
    hopper.training_preprocessor('points', 'shares', 'share', 'a, b'),
    hopper.training_preprocessor('points', 'twos', 'two', 'a, b'),
    hopper.training_preprocessor('points', 'flags_packed', 'flags', 'a, b'),
    hopper.training_preprocessor('points', 'several', '{"kind": "kind", "number": "number", "share": "share"}', 'a, b');
SELECT class_counts, label_range FROM kinds_summary;
SELECT s.class_counts, v.class_counts AS validation FROM split_summary s, split_validation_summary v;
SELECT n.class_counts, n.label_range, s.label_range AS shares, t.label_range AS two, f.label_range AS flags
FROM numbers_summary n, shares_summary s, twos_summary t, flags_packed_summary f;
SELECT e ->> 'name' AS output, e ->> 'range' AS range FROM several_summary, json_array_elements(outputs::json) AS e;
SELECT col_description('kinds_summary'::regclass, attnum) FROM pg_attribute
WHERE attrelid = 'kinds_summary'::regclass AND attname IN ('class_counts', 'label_range') ORDER BY attnum;

-- The loss that needs probabilities says so, once a run
SELECT hopper.mlp('networks', 'shares', 4, name => 'one') AS one,
    hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 2, "activation": "sigmoid"}}]}}') AS two,
    hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}') AS sigmoid \gset
SELECT hopper.load_model_selection_table('networks', 'configs', :sigmoid, ARRAY['loss=binary_crossentropy, optimizer=SGD',
    'loss=binary_crossentropy, optimizer=Adam', 'loss=BinaryFocalCrossentropy(), optimizer=SGD', 'loss=poisson, optimizer=SGD'], ARRAY['batch_size=16']);
SELECT models_trained FROM hopper.fit_multiple_model('numbers', 'm', 'configs', 1);
SELECT models_trained FROM hopper.fit_multiple_model('shares', 'm1', 'configs', 1);
SELECT models_trained FROM hopper.fit('twos', 'm2', 'networks', :two, 'loss=binary_crossentropy, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('twos', 'm3', 'networks', :two, 'loss=kl_divergence, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('flags_packed', 'm4', 'networks', :two, 'loss=binary_crossentropy, optimizer=SGD', NULL, 1);
-- a sigmoid that reaches all labels says nothing, one that does not says so
SELECT models_trained FROM hopper.fit('shares', 'm5', 'networks', :sigmoid, 'loss=mse, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('numbers', 'm6', 'networks', :sigmoid, 'loss=mse, optimizer=SGD', NULL, 1);
-- amounts are counted from a zero of their own, which they lose when they are standardised
SELECT hopper.training_preprocessor('points', 'standardised', 'share', 'a, b', treatments => '{}'),
    hopper.training_preprocessor('points', 'amounts', 'share', 'a, b', treatments => '{"share": "none"}'),
    hopper.load_model('networks', '{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "activation": "softplus"}}]}}') AS softplus \gset
SELECT models_trained FROM hopper.fit('standardised', 'm8', 'networks', :softplus, 'loss=poisson, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('standardised', 'm12', 'networks', :softplus, 'loss=mape, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('standardised', 'm9', 'networks', :softplus, 'loss=binary_crossentropy, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('amounts', 'm10', 'networks', :softplus, 'loss=poisson, optimizer=SGD', NULL, 1);
SELECT models_trained FROM hopper.fit('numbers', 'm11', 'networks', :softplus, 'loss=msle, optimizer=SGD', NULL, 1);
-- packed by an earlier version: nobody knows
BEGIN;
ALTER TABLE numbers_summary DROP COLUMN label_range, DROP COLUMN class_counts;
SELECT models_trained FROM hopper.fit('numbers', 'm7', 'networks', :sigmoid, 'loss=binary_crossentropy, optimizer=SGD', NULL, 1);
ROLLBACK;
BEGIN;
UPDATE numbers_summary SET label_range = '{1}';
SELECT models_trained FROM hopper.fit('numbers', 'm7', 'networks', :sigmoid, 'loss=binary_crossentropy, optimizer=SGD', NULL, 1);
ROLLBACK;

-- class_weight='balanced' is what scikit-learn computes: 200 / (3 * 20), 200 / (3 * 60), 200 / (3 * 120)
SELECT hopper.mlp('networks', 'split', 4, name => 'three') AS three \gset
SELECT hopper.training_preprocessor('points', 'three', 'kind', 'a, b');
SELECT models_trained FROM hopper.fit('three', 'b1', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD',
    $$batch_size=16, class_weight='balanced'$$, 3);
SELECT models_trained FROM hopper.fit('three', 'b2', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD',
    $$batch_size=16, class_weight={'rare': 3.3333333333333335, 'some': 1.1111111111111112, 'usual': 0.5555555555555556}$$, 3);
SELECT models_trained FROM hopper.fit('three', 'b3', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD', 'batch_size=16', 3);
SELECT b1.model_weights = b2.model_weights AS same, b1.model_weights <> b3.model_weights AS other FROM b1, b2, b3;
SELECT hopper.generate_model_configs('networks', 'grid', :three, $${'loss': ['categorical_crossentropy'], 'optimizer': ['SGD']}$$,
    $${'batch_size': [16], 'class_weight': [None, 'balanced']}$$);
SELECT fit_params FROM grid ORDER BY mst_key;
SELECT models_trained FROM hopper.fit_multiple_model('three', 'b4', 'grid', 3);
-- refused
SELECT models_trained FROM hopper.fit('three', 'b5', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD', $$class_weight='auto'$$, 1);
SELECT models_trained FROM hopper.fit('three', 'b5', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD', $$auto_class_weights=True$$, 1);
SELECT models_trained FROM hopper.fit('shares', 'b5', 'networks', :one, 'loss=mse, optimizer=SGD', $$class_weight='balanced'$$, 1);
BEGIN;
ALTER TABLE three_summary DROP COLUMN class_counts;
SELECT models_trained FROM hopper.fit('three', 'b5', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD', $$class_weight='balanced'$$, 1);
ROLLBACK;
BEGIN;
UPDATE three_summary SET class_counts = '{1,-2,3}';
SELECT models_trained FROM hopper.fit('three', 'b5', 'networks', :three, 'loss=categorical_crossentropy, optimizer=SGD', $$class_weight='balanced'$$, 1);
ROLLBACK;

\set VERBOSITY terse
SET client_min_messages = error;
DROP SCHEMA hopper_ranges CASCADE;
