-- Architectures without Python: mlp() and cnn() for a packed table, JSON by hand, models by name.
CREATE SCHEMA hopper_networks;
SET search_path = hopper_networks;
SET client_min_messages = warning;
CREATE TABLE points AS
SELECT i AS id, sin(i)::real AS a, cos(i)::real AS b, CASE WHEN sin(i) > 0 THEN 'up' ELSE 'down' END AS y,
    sin(i + 0.5)::real AS value, ARRAY[sin(i), cos(i), 0]::real[] AS several
FROM generate_series(1, 200) i;
CREATE TABLE pictures AS
SELECT i AS id, ARRAY[[i % 2, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, i % 2]]::real[] AS x,
    decode(repeat(lpad(to_hex(i % 256), 2, '0'), 48), 'hex') AS bytes, i % 3 AS y
FROM generate_series(1, 120) i;
CREATE VIEW downs AS SELECT * FROM points WHERE y = 'down';
SELECT hopper.training_preprocessor('points', 'classes', 'y', 'a, b');
SELECT hopper.training_preprocessor('downs', 'single', 'y', 'a, b');
SELECT hopper.training_preprocessor('points', 'numbers', 'value', 'a, b');
SELECT hopper.training_preprocessor('points', 'arrays', 'several', 'a, b');
SELECT hopper.training_preprocessor('pictures', 'grey', 'y', 'x');
SELECT hopper.training_preprocessor('pictures', 'colour', 'y', 'bytes', image_shape := ARRAY[4, 4, 3]);
RESET client_min_messages;

-- A last layer for each kind of labels.
SELECT hopper.mlp('nets', 'classes', ARRAY[8, 4], dropout := 0.25, batch_norm := true);
SELECT hopper.mlp('nets', 'numbers', 8, 'tanh', name := 'numbers');
SELECT hopper.mlp('nets', 'arrays', '{}');
SELECT hopper.mlp('nets', 'grey');
SELECT hopper.cnn('nets', 'grey', ARRAY[4, 6, 8], hidden := 5, batch_norm := true);
SELECT hopper.cnn('nets', 'colour', 4, hidden := NULL, pooling := 1, dropout := 0.5, name := 'colour');
SELECT model_id, name FROM nets ORDER BY 1;
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 1);
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 2);
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 3);
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 4);
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 5);
SELECT layer_index, class_name, output_shape, parameters FROM hopper.describe_model('nets', 6);
SELECT model_arch FROM nets WHERE model_id = 2;

-- They train.
SET client_min_messages = warning;
SELECT count(*) FROM hopper.fit('classes', 'm1', 'nets', 1, $$loss='binary_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('numbers', 'm2', 'nets', 2, $$loss='mse', optimizer='Adam'$$, 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('arrays', 'm3', 'nets', 3, $$loss='mse', optimizer='Adam'$$, 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('grey', 'm5', 'nets', 5, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
SELECT count(*) FROM hopper.fit('colour', 'm6', 'nets', 6, $$loss='categorical_crossentropy', optimizer='Adam'$$, 'batch_size=16', 1);
-- Of two classes AUC, precision and recall are those of the second one, and its probability is what comes out.
CREATE TABLE noisy AS SELECT id, a, b, CASE WHEN sin(id) + 0.8 * sin(17.3 * id) > 0 THEN 'yes' ELSE 'no' END AS y FROM points;
SELECT hopper.training_preprocessor('noisy', 'noisy_packed', 'y', 'a, b');
SELECT hopper.mlp('nets', 'noisy_packed', 8, name := 'noisy') AS noisy \gset
SELECT count(*) FROM hopper.fit('noisy_packed', 'm7', 'nets', :noisy,
    $$loss='binary_crossentropy', optimizer='Adam(lr=0.05)', metrics=['auc', 'precision', 'recall']$$, 'batch_size=16', 3);
WITH predicted AS (SELECT (source).y = 'yes' AS y, prob FROM hopper.predict_rows('m7', NULL::noisy, 'prob') WHERE class_value = 'yes'),
counted AS (
    SELECT (SELECT avg((yes.prob > no.prob)::int + (yes.prob = no.prob)::int / 2.0) FROM predicted yes, predicted no
            WHERE yes.y AND NOT no.y) AS auc,
        sum((y AND prob > 0.5)::int)::float8 / sum((prob > 0.5)::int) AS precision,
        sum((y AND prob > 0.5)::int)::float8 / sum(y::int) AS recall
    FROM predicted)
SELECT abs(metrics[1] - auc) < 0.005 AS auc, abs(metrics[2] - precision) < 1e-6 AS precision, abs(metrics[3] - recall) < 1e-6 AS recall,
    auc BETWEEN 0.6 AND 0.95 AS fair
FROM counted, hopper.evaluate('m7', 'noisy_packed');
RESET client_min_messages;

-- A script that runs every night: the model of a name is replaced in its place.
SELECT hopper.mlp('nightly', 'classes', 4, name := 'small', replace := true) AS mlp,
    hopper.load_model('nightly', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}}',
        name := 'by hand', description := 'first', replace := true) AS by_hand,
    hopper.cnn('nightly', 'grey', 2, replace := true) AS cnn;
SELECT hopper.mlp('nightly', 'classes', 6, name := 'small', replace := true) AS mlp,
    hopper.load_model('nightly', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1, "activation": "linear"}}]}}',
        name := 'by hand', replace := true) AS by_hand,
    hopper.cnn('nightly', 'grey', 2, hidden := 3, replace := true) AS cnn;
SELECT model_id, name, description, model_arch::text ~ '"units": ?6\D' AS six, model_arch::text LIKE '%linear%' AS linear,
    model_arch::text ~ '"units": ?3\D' AS three FROM nightly ORDER BY 1;
SELECT hopper.load_model('nightly', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 1}}]}}', replace := true);
SELECT hopper.mlp('nightly', 'classes', 4, name := 'small');
SELECT hopper.mlp('nightly', 'classes', 4, name := 'small', replace := true);

-- Wrong arguments.
SELECT hopper.mlp('nets', 'points');
SELECT hopper.mlp('nets', 'single');
SELECT hopper.mlp('nets', 'classes', ARRAY[8, 0]);
SELECT hopper.mlp('nets', 'classes', ARRAY[8, NULL]);
SELECT hopper.mlp('nets', 'classes', 8, 'rleu');
SELECT hopper.mlp('nets', 'classes', 8, dropout := 1);
SELECT hopper.cnn('nets', 'classes');
SELECT hopper.cnn('nets', 'grey', kernel_size := 0);
SELECT hopper.mlp('nets', NULL);
SELECT hopper.mlp(NULL, 'classes');

-- JSON by hand: as text, json and jsonb; stored so that Keras reads it.
SELECT hopper.load_model('nets', '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Flatten"},
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}'::jsonb, name := 'by hand');
SELECT model_arch FROM nets WHERE name = 'by hand';
SELECT layer, class_name, output_shape, parameters
FROM hopper.describe_model('nets', hopper.model_id('nets', 'by hand'), 'classes');
SELECT hopper.describe_model('nets', hopper.model_id('nets', 'by hand'));
SELECT layer, output_shape FROM hopper.describe_model(
    '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"units": 2,
    "batch_input_shape": [null, 3]}}]}}'::jsonb);

-- Models by name.
SELECT hopper.model_ids('nets', 'numbers', 'mlp 8-4');
SELECT hopper.generate_model_configs('nets', 'configs', hopper.model_ids('nets', 'mlp 8-4', 'by hand'),
    $${'loss': ['mse'], 'optimizer': ['Adam']}$$, NULL);
SELECT hopper.model_id('nets', 'nmbers');
SELECT hopper.model_id('nets', 'xyz');
SELECT hopper.model_id('nets', NULL);
SELECT hopper.mlp('nets', 'numbers', 8, name := 'numbers');
SELECT hopper.model_id('nets', 'numbers');
SELECT hopper.model_ids('nets', VARIADIC ARRAY[NULL]::text[]);

-- Several labels, each of which holds or not.
SET client_min_messages = warning;
CREATE TABLE tagged AS SELECT id, a, b, ARRAY[a > 0, b > 0.5] AS tags FROM points;
SELECT hopper.training_preprocessor('tagged', 'tagged_packed', 'tags', 'a, b') AS packed \gset
SELECT hopper.mlp('nets', 'tagged_packed', 16) AS tagger \gset
SELECT model_arch #>> '{config,layers,2,config,activation}' AS activation FROM nets WHERE model_id = :tagger;
SELECT models_trained FROM hopper.fit('tagged_packed', 'm8', 'nets', :tagger,
    $$loss='binary_crossentropy', optimizer='Adam(lr=0.05)', metrics=['binary_accuracy']$$, 'batch_size=16', 20, seed := 1);
SELECT hopper.predict('m8', 'tagged', 'id', output_table := 'tags_found', pred_type := '0.5') AS found \gset
SELECT avg((tags = found)::int) > 0.9 AS right FROM (
    SELECT t.id, tags, ARRAY[count(*) FILTER (WHERE class_value = '0') > 0, count(*) FILTER (WHERE class_value = '1') > 0] AS found
    FROM tagged t LEFT JOIN tags_found USING (id) GROUP BY t.id, tags) each;
