-- What the extension says about itself without loading libtorch.
\set VERBOSITY default
SELECT hopper.version() ~ '^model_hopper [0-9]+\.[0-9]+\.[0-9]+ \(library [0-9]+\.[0-9]+\.[0-9]+\)$' AS version;
SELECT split_part(hopper.version(), ' ', 2) = (SELECT extversion FROM pg_extension WHERE extname = 'model_hopper')
    AS extension_version;

-- layers(): a row a class
SELECT class_name FROM hopper.layers()
WHERE class_name IN ('Dense', 'Conv2D', 'MaxPooling2D', 'AveragePooling2D', 'GlobalAveragePooling2D',
    'GlobalMaxPooling2D', 'Flatten', 'Reshape', 'Dropout', 'Activation', 'BatchNormalization', 'Rescaling',
    'Add', 'Concatenate', 'InputLayer')
ORDER BY class_name COLLATE "C";
SELECT count(*) = count(DISTINCT class_name) AS no_class_twice, bool_and(description <> '') AS all_described
FROM hopper.layers();
SELECT class_name, arguments, weights, since FROM hopper.layers()
WHERE class_name IN ('Add', 'LeakyReLU', 'SeparableConv1D') ORDER BY class_name COLLATE "C";

-- Settings
SELECT name, setting, unit, context, vartype, min_val, max_val FROM pg_settings WHERE name LIKE 'hopper.%' ORDER BY name;
SELECT name FROM pg_settings
WHERE name LIKE 'hopper.%' AND (short_desc NOT LIKE '%.' OR extra_desc NOT LIKE '%.');
SET hopper.memory_limit = '1GB';
SHOW hopper.memory_limit;
SET hopper.notice_interval = '1min';
SHOW hopper.notice_interval;
SET hopper.threads = 1025;
SET hopper.max_configs = 0;
-- a name of ours that is none; servers before 15 take any
DO $$
BEGIN
    SET hopper.thread = 2;
    IF current_setting('server_version_num')::integer >= 150000 THEN
        RAISE 'taken';
    END IF;
EXCEPTION WHEN invalid_name THEN
    NULL;
END $$;
RESET ALL;

-- A set-returning function need not stand in FROM
SELECT count(*) > 10 AS in_the_select_list FROM (SELECT hopper.layers()) AS rows;

-- metrics(), losses(), optimizers(): what compile_params may say
SELECT name, other_names, arguments, better FROM hopper.metrics()
WHERE name IN ('auc', 'mean_squared_error', 'true_positives', 'huber') ORDER BY name COLLATE "C";
SELECT name, other_names, arguments FROM hopper.losses()
WHERE name IN ('huber', 'categorical_crossentropy', 'binary_crossentropy') ORDER BY name COLLATE "C";
SELECT name, arguments FROM hopper.optimizers() WHERE name IN ('SGD', 'AdamW') ORDER BY name COLLATE "C";
