-- What somebody who is new to it types, and what it answers: the object, the place, what would work.
CREATE SCHEMA hopper_messages;
SET search_path = hopper_messages;
SET client_min_messages = warning;
CREATE TABLE wine AS
SELECT i AS id, sin(i)::real AS alcohol, cos(i)::real AS ash, (i % 3 + 1)::real AS hue, i % 3 AS kind, i % 2 = 0 AS good
FROM generate_series(1, 300) i;
CREATE TABLE wine_test AS SELECT * FROM wine WHERE id % 4 = 0;
CREATE TABLE holes AS SELECT id, nullif(alcohol, sin(8)::real) AS alcohol, ash FROM wine_test;
SELECT hopper.training_preprocessor('wine', 'packed', 'kind', 'alcohol, ash');
SELECT hopper.training_preprocessor('wine', 'goods', 'good', 'alcohol, ash');
SELECT hopper.training_preprocessor('wine', 'hues', 'hue', 'alcohol, ash');
SELECT hopper.load_model('arch', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}}', name := 'three');
SELECT hopper.load_model('arch', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}', name := 'two');
SELECT hopper.load_model('arch', '{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 1}}]}}', name := 'one');
SELECT count(*) FROM hopper.fit('packed', 'm', 'arch', 1,
    $$loss='categorical_crossentropy', optimizer='Adam', metrics=['accuracy']$$, 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('hues', 'r', 'arch', 3, $$loss='mse', optimizer='Adam'$$, 'batch_size=16', 1);
RESET client_min_messages;
\set networks '{"class_name": "Sequential", "config": {"layers": '

-- 1, 2: values that are no numbers
SELECT * FROM hopper.predict_row('m', 1, ARRAY[1, 'NaN']::real[]);
SELECT * FROM hopper.predict_row('m', 1, ARRAY[NULL, 1]::real[]);
SELECT hopper.predict('m', 'holes', 'id', 'alcohol, ash', 'p');
-- 3: tables that have not been packed
SELECT * FROM hopper.evaluate('m', 'wine_test', mst_key := 1);
SELECT * FROM hopper.fit('packed', 'm2', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam'$$,
    'batch_size=16', 1, validation_table := 'wine_test');
SELECT * FROM hopper.fit('wine', 'm2', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
-- 4, 5: classes and units
SELECT * FROM hopper.fit('goods', 'm2', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
SET client_min_messages = warning;
CREATE TABLE same AS SELECT alcohol, ash, 'x'::text AS kind FROM wine;
SELECT hopper.training_preprocessor('same', 'sames', 'kind', 'alcohol, ash');
RESET client_min_messages;
SELECT * FROM hopper.fit('sames', 'm2', 'arch', 2, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
-- 7, 8, 9: names of other tools
SELECT * FROM hopper.fit('packed', 'm2', 'arch', 1, $$loss='log_loss', optimizer='Adam'$$, 'batch_size=16', 1);
SELECT * FROM hopper.fit('packed', 'm2', 'arch', 1, $$loss='cross_entropy', optimizer='Adam', metrics=['roc_auc', 'f1']$$, 'batch_size=16', 1);
-- 10 to 16: architectures
SELECT hopper.load_model('arch', :'networks' || '[{"class_name": "Dense", "config": {"unit": 16}}]}}');
SELECT hopper.load_model('arch', :'networks' || '[{"class_name": "dense", "config": {"units": 16}}]}}');
SELECT hopper.load_model('arch', '{"class_name": "sequential", "config": {"layers": []}}');
SELECT hopper.load_model('arch', :'networks' || '[{"class_name": "Dense", "config": {"units": 16, "kernel_initializer": "xavier"}},
    {"class_name": "Dropout", "config": {"p": 0.5}}]}}');
SELECT hopper.load_model('arch', :'networks' || '[{"class_name": "Dense", "config": {"units": 16, "batch_input_shape": [4]}}]}}');
SELECT hopper.load_model('arch', :'networks' || '[]}}');
SELECT hopper.load_model('arch', $${'class_name': 'Sequential'}$$);
SELECT hopper.load_model('arch', 'mlp');
-- 17, 18, 19: arguments in other places
SELECT hopper.load_model('arch', :'networks' || '[{"class_name": "Dense", "config": {"units": 16}}]}}', 'mlp16');
SELECT * FROM hopper.describe_model('arch');
SELECT hopper.load_model(:'networks' || '[{"class_name": "Dense", "config": {"units": 16}}]}}', 'arch');
-- 20, 21, 22, 23: what is packed
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'alcohol, ln(ash)');
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'alcohol::real');
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'alcohol, *');
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'wine.alcohol');
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'ARRAY[alcohol, ash]');
SELECT hopper.training_preprocessor('select * from wine', 'p', 'kind', 'alcohol');
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'alcohol', validation_fraction := 20);
SELECT hopper.training_preprocessor('wine', 'p', 'kind', 'alcohol', validation_fraction := 0);
-- all columns that are missing
SELECT hopper.training_preprocessor('wine', 'p', 'kynd', 'alcool, ln(ash), xyz', fold_column := 'good');
SELECT hopper.predict('m', 'wine_test', 'idd', 'alcool', 'p');
-- 27, 28, 36: grids
SELECT hopper.generate_model_configs('arch', 'c', 1,
    $${'loss': ['log_loss'], 'metrics': ['roc_auc'], 'optimizer': ['Adam']}$$, NULL);
SELECT hopper.generate_model_configs('arch', 'c', 1, $${'loss': ['mse'], 'optimizer': ['Adam'], 'lr': [0.1]}$$, NULL);
SELECT hopper.generate_model_configs('arch', 'c', 1,
    $${'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['Adam'], 'lr': [1/1000]}]}$$, NULL);
-- 29: class weights by the label's name
SELECT * FROM hopper.fit('goods', 'm2', 'arch', 2, $$loss='categorical_crossentropy', optimizer='Adam'$$,
    $$batch_size=16, class_weight={'t': 5}$$, 1);
-- 30: a state that was removed
BEGIN;
TRUNCATE m_state;
SELECT * FROM hopper.fit('packed', 'm', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam', metrics=['accuracy']$$,
    'batch_size=16', 1, warm_start := true);
ROLLBACK;
-- an architecture that is not the model's
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT hopper.mlp('arch', 'packed', 3) AS other \gset
SELECT models_trained FROM hopper.fit('packed', 'm', 'arch', :other, $$loss='categorical_crossentropy', optimizer='Adam',
    metrics=['accuracy']$$, 'batch_size=16', 1, warm_start := true);
SELECT model_id = :other AS says_other FROM m_info;
ROLLBACK;
-- 31: other columns
SELECT hopper.predict('m', 'wine_test', 'id', 'alcohol', 'p');
SELECT * FROM hopper.predict_row('m', 1, ARRAY[1, 2, 3]::real[]);
-- 34, 35: several problems, and all configurations that fail
SELECT * FROM hopper.fit('packed', 'm2', 'arch', 1, $$loss='mse', optimizer='Adam', metrics=[$$, 'batchsize=16', 1);
SELECT hopper.generate_model_configs('arch', 'wild', hopper.mlp('arch', 'packed', 4), $${'loss': ['categorical_crossentropy'],
    'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [1e30, 1e31, 1e32, 1e33, 1e34, 1e35]}]}$$, $${'batch_size': [16]}$$);
SELECT * FROM hopper.fit_multiple_model('packed', 'm2', 'wild', 2, threads := 1);
-- what is compared by is of the validation data by itself
SELECT rank FROM hopper.leaderboard('r', rank_by => 'val_loss');
SELECT hopper.explain_automl('packed', 'arch', 1, $${'loss': ['mse'], 'metrics': ['auc'], 'optimizer_params_list': [{'optimizer': ['SGD'],
    'lr': [0.1, 0.01]}]}$$, $${'batch_size': [16]}$$, objective => 'val_auc');
-- what a run or a search refuses to begin with is not forecast either
SELECT hopper.generate_model_configs('arch', 'watching', 1, $${'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'],
    'lr': [0.1, 0.01]}]}$$, $${'batch_size': [16], 'patience': [1]}$$);
SELECT hopper.explain_fit('packed', 'm2', 'watching', 2);
SELECT hopper.explain_automl('packed', 'arch', 1, $${'loss': ['mse'], 'optimizer_params_list': [{'optimizer': ['SGD'],
    'lr': [0.1, 0.01]}]}$$, $${'batch_size': [16], 'patience': [1], 'monitor': ['val_loss']}$$);
-- 38: classes of a model that predicts numbers
SELECT hopper.predict('r', 'wine_test', 'id', 'alcohol, ash', 'p', 'response');
SELECT count(*) FROM hopper.predict_rows('r', NULL::wine_test, 3);
SELECT count(*) FROM hopper.predict_rows('r', NULL::wine_test);
DROP TABLE p;
-- 39: batches and partitions
SET client_min_messages = warning;
CREATE TABLE tiny AS SELECT * FROM wine LIMIT 60;
SELECT hopper.training_preprocessor('tiny', 'tinies', 'kind', 'alcohol, ash');
SELECT count(*) FROM hopper.fit('tinies', 'm3', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam'$$, '', 1);
SELECT count(*) FROM hopper.fit('tinies', 'm4', 'arch', 1, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=20', 1);
