-- MADlib's deep-learning functions by their own names, arguments, order and meaning: thin wrappers over
-- schema hopper, in schema madlib, for scripts and workbooks that were written for Apache MADlib 1.17 to 2.1.
--
--   psql -f madlib.sql        in a database that has the extension model_hopper and no MADlib
--
-- Functions with the prefix madlib_keras_ or the suffix _dl have it in MADlib 1; those without are
-- the same. All run with the caller's rights. What differs on purpose: docs/guide/from_madlib.md.
\set ON_ERROR_STOP on
BEGIN;
-- Who runs this is a superuser, perhaps; others may have planted functions in schemas of the path.
SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
BEGIN
    IF to_regnamespace('madlib') IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_namespace n
        WHERE n.nspname = 'madlib' AND pg_catalog.obj_description(n.oid, 'pg_namespace') LIKE 'MADlib''s names%') THEN
        RAISE EXCEPTION 'schema "madlib" exists and was not made by this script'
            USING HINT = 'Use a database without MADlib.';
    END IF;
END $$;
DROP SCHEMA IF EXISTS madlib CASCADE;
CREATE SCHEMA madlib;
COMMENT ON SCHEMA madlib IS 'MADlib''s names for the functions of model_hopper';
GRANT USAGE ON SCHEMA madlib TO PUBLIC;

CREATE FUNCTION madlib.version() RETURNS text LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$ SELECT hopper.version() $$;
COMMENT ON FUNCTION madlib.version() IS 'version of model_hopper';

-- ---------------------------------------------------------------- helpers

-- Any label but an array is a class in MADlib. Numbers with a fraction are values here: nothing is trained on
-- classes of them.
CREATE FUNCTION madlib.label_kind_of(source_table text, dependent_varname text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN pg_catalog.format_type(atttypid, NULL) LIKE '%[]'
        OR pg_catalog.format_type(atttypid, NULL) IN ('real', 'double precision', 'numeric') THEN NULL ELSE 'class' END
    FROM pg_catalog.pg_attribute
    WHERE attrelid = source_table::pg_catalog.regclass
      AND attname = pg_catalog.btrim(dependent_varname, ' "') AND attnum > 0 AND NOT attisdropped
$$;
COMMENT ON FUNCTION madlib.label_kind_of(text, text) IS 'how MADlib takes a label column';

-- 'metrics': ['a', 'b'] are two alternatives in MADlib; [['a'], ['b']] says so here. top_3_accuracy is what
-- load_top_k_accuracy_function() makes there.
CREATE FUNCTION madlib.metrics_of(params text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    flat text := substring(params FROM '[''"]metrics[''"]\s*:\s*(\[[^][]*\])');
BEGIN
    IF flat IS NOT NULL THEN
        params := replace(params, flat, regexp_replace(flat, '(''[^'']*''|"[^"]*")', '[\1]', 'g'));
    END IF;
    RETURN regexp_replace(params, 'top_([0-9]+)_accuracy', 'TopKCategoricalAccuracy(k=\1)', 'g');
END $$;
COMMENT ON FUNCTION madlib.metrics_of(text) IS 'compile parameters as model_hopper reads them';

CREATE FUNCTION madlib.usage(functions text, topic text) RETURNS text LANGUAGE sql STABLE PARALLEL UNSAFE AS $$
    SELECT CASE WHEN topic IN ('usage', 'help', '?', '') OR topic IS NULL
        THEN (SELECT pg_catalog.string_agg(line, E'\n') FROM hopper.help(functions) AS line)
        ELSE 'Say ''usage'' for arguments and an example.' END
$$;
COMMENT ON FUNCTION madlib.usage(text, text) IS 'what fn(''usage'') prints';

-- ---------------------------------------------------------------- data

CREATE FUNCTION madlib.training_preprocessor_dl(
    source_table text, output_table text, dependent_varname text, independent_varname text,
    buffer_size integer DEFAULT NULL, normalizing_const real DEFAULT 1.0, num_classes integer[] DEFAULT NULL,
    distribution_rules text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.training_preprocessor(
        source_table := source_table, output_table := output_table, dependent_varname := dependent_varname,
        independent_varname := independent_varname, buffer_size := buffer_size,
        normalizing_const := coalesce(normalizing_const, 1.0), num_classes := num_classes,
        distribution_rules := distribution_rules, null_labels := 'class',
        label_kind := madlib.label_kind_of(source_table, dependent_varname));
END $$;
CREATE FUNCTION madlib.validation_preprocessor_dl(
    source_table text, output_table text, dependent_varname text, independent_varname text,
    training_preprocessor_table text, buffer_size integer DEFAULT NULL, distribution_rules text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.validation_preprocessor(
        source_table := source_table, output_table := output_table, dependent_varname := dependent_varname,
        independent_varname := independent_varname, packed_table := training_preprocessor_table,
        buffer_size := buffer_size, distribution_rules := distribution_rules);
END $$;

-- ---------------------------------------------------------------- architectures and configurations

CREATE FUNCTION madlib.load_keras_model(
    keras_model_arch_table text, model_arch json, model_weights bytea DEFAULT NULL, name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.load_model(
        model_arch_table := keras_model_arch_table, model_arch := model_arch, model_weights := model_weights,
        name := name, description := description);
END $$;
CREATE FUNCTION madlib.delete_keras_model(keras_model_arch_table text, model_id integer)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.delete_model(model_arch_table := keras_model_arch_table, model_id := model_id);
END $$;

CREATE FUNCTION madlib.generate_model_configs(
    model_arch_table text, model_selection_table text, model_id_list integer[], compile_params_grid text,
    fit_params_grid text, search_type text DEFAULT 'grid', num_configs integer DEFAULT NULL,
    random_state integer DEFAULT NULL, object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    -- MADlib accepts any beginning of 'grid' and 'random'.
    PERFORM hopper.generate_model_configs(
        model_arch_table := model_arch_table, model_selection_table := model_selection_table,
        model_id_list := model_id_list,
        compile_params_grid := madlib.metrics_of(compile_params_grid), fit_params_grid := fit_params_grid,
        search_type := CASE WHEN 'grid' LIKE lower(search_type) || '%' THEN 'grid'
                            WHEN 'random' LIKE lower(search_type) || '%' THEN 'random'
                            ELSE search_type END,
        num_configs := num_configs, seed := random_state);
END $$;
CREATE FUNCTION madlib.load_model_selection_table(
    model_arch_table text, model_selection_table text, model_id_list integer[], compile_params_list varchar[],
    fit_params_list varchar[], object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.load_model_selection_table(
        model_arch_table := model_arch_table, model_selection_table := model_selection_table,
        model_id_list := model_id_list,
        compile_params_list := ARRAY(SELECT madlib.metrics_of_one(p) FROM unnest(compile_params_list) AS p),
        fit_params_list := fit_params_list::text[]);
END $$;
-- A list of metrics of one configuration is that list, here and there.
CREATE FUNCTION madlib.metrics_of_one(params text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(params, '[''"]?top_([0-9]+)_accuracy[''"]?', '''TopKCategoricalAccuracy(k=\1)''', 'g')
$$;
COMMENT ON FUNCTION madlib.metrics_of_one(text) IS 'compile parameters of one configuration as model_hopper reads them';

-- ---------------------------------------------------------------- training

CREATE FUNCTION madlib.madlib_keras_fit(
    source_table text, model text, model_arch_table text, model_id integer, compile_params text, fit_params text,
    num_iterations integer, use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL, warm_start boolean DEFAULT NULL, name text DEFAULT NULL,
    description text DEFAULT NULL, object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.fit(
        packed_table := source_table, model_table := model, model_arch_table := model_arch_table, model_id := model_id,
        compile_params := madlib.metrics_of_one(compile_params), fit_params := fit_params,
        num_iterations := num_iterations, use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := coalesce(metrics_compute_frequency, num_iterations),
        warm_start := coalesce(warm_start, false), name := name, description := description,
        training_metrics := 'every');
    PERFORM madlib.fill_summary(model);
END $$;
-- MADlib's summary of a single model has the columns that are in the companion _info here.
CREATE FUNCTION madlib.fill_summary(model text) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    stem text := CASE WHEN model LIKE '%"' THEN left(model, -1) ELSE model END;
    quote text := CASE WHEN model LIKE '%"' THEN '"' ELSE '' END;
    summary regclass := stem || '_summary' || quote;
    info regclass := stem || '_info' || quote;
    c record;
BEGIN
    FOR c IN
        SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_catalog.pg_attribute
        WHERE attrelid = info AND attname IN ('model_id', 'compile_params', 'fit_params', 'model_type', 'model_size',
            'metrics_elapsed_time', 'metrics_type', 'loss_type', 'training_metrics_final', 'training_loss_final',
            'training_metrics', 'training_loss', 'validation_metrics_final', 'validation_loss_final', 'validation_metrics',
            'validation_loss')
        ORDER BY attnum
    LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute
                       WHERE attrelid = summary AND attname = c.attname AND NOT attisdropped) THEN
            EXECUTE format('ALTER TABLE %s ADD COLUMN %I %s', summary, c.attname, c.type);
        END IF;
        EXECUTE format('UPDATE %s SET %I = (SELECT %I FROM %s)', summary, c.attname, c.attname, info);
    END LOOP;
END $$;
COMMENT ON FUNCTION madlib.fill_summary(text) IS 'adds MADlib''s columns to the summary of a single model';
CREATE FUNCTION madlib.madlib_keras_fit_multiple_model(
    source_table text, model_output_table text, model_selection_table text, num_iterations integer,
    use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL, metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false, name text DEFAULT NULL, description text DEFAULT NULL,
    use_caching boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.fit_multiple_model(
        packed_table := source_table, model_table := model_output_table,
        model_selection_table := model_selection_table, num_iterations := num_iterations,
        use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := coalesce(metrics_compute_frequency, num_iterations),
        warm_start := coalesce(warm_start, false), name := name, description := description,
        use_caching := coalesce(use_caching, false), training_metrics := 'every');
END $$;

-- Survivors of MADlib's Hyperband train r_i more iterations in round i, not up to r_i.
CREATE FUNCTION madlib.madlib_keras_automl(
    source_table text, model_output_table text, model_arch_table text, model_selection_table text,
    model_id_list integer[], compile_params_grid text, fit_params_grid text, automl_method text DEFAULT 'hyperband',
    automl_params text DEFAULT NULL, random_state integer DEFAULT NULL, object_table text DEFAULT NULL,
    use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL, name text DEFAULT NULL, description text DEFAULT NULL,
    use_caching boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    method text := lower(coalesce(automl_method, 'hyperband'));
    params text := coalesce(automl_params, '');
BEGIN
    IF method = 'hyperopt' THEN
        method := CASE coalesce(substring(params FROM 'algorithm\s*=\s*''?(\w+)'), 'tpe')
            WHEN 'rand' THEN 'random' ELSE 'tpe' END;
        params := regexp_replace(params, ',?\s*algorithm\s*=\s*''?\w+''?', '');
        params := regexp_replace(params, '^\s*,\s*', '');
    ELSIF method = 'hyperband' THEN
        params := CASE WHEN params = '' THEN 'R=6, eta=3, skip_last=0' ELSE params END || ', resource=additional';
    END IF;
    PERFORM hopper.automl(
        packed_table := source_table, model_table := model_output_table, model_arch_table := model_arch_table,
        model_selection_table := model_selection_table, model_id_list := model_id_list,
        compile_params_grid := madlib.metrics_of(compile_params_grid), fit_params_grid := fit_params_grid,
        automl_method := method, automl_params := nullif(params, ''), seed := random_state,
        use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := metrics_compute_frequency, name := name, description := description);
END $$;
CREATE FUNCTION madlib.hyperband_schedule(
    schedule_table text, r integer, eta integer DEFAULT 3, skip_last integer DEFAULT 0)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.hyperband_schedule(
        schedule_table := schedule_table, r := r, eta := eta, skip_last := skip_last, additional := true);
END $$;

-- ---------------------------------------------------------------- evaluation and prediction

CREATE FUNCTION madlib.madlib_keras_evaluate(
    model_table text, test_table text, output_table text, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.evaluate(
        model_table := model_table, packed_table := test_table, output_table := output_table,
        use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
END $$;

CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type text DEFAULT 'prob', use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.predict(
        model_table := model_table, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table,
        pred_type := coalesce(pred_type, 'prob'), use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
END $$;
CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type integer, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.predict(
        model_table := model_table, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table, pred_type := pred_type,
        use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
END $$;
CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type double precision, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.predict(
        model_table := model_table, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table, pred_type := pred_type,
        use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
END $$;

-- MADlib's class_values has a list per output; there is one output here.
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type text DEFAULT 'prob', use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL, dependent_count integer DEFAULT 1)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    IF coalesce(dependent_count, 1) <> 1 THEN
        RAISE EXCEPTION 'a model has one output here, not %', dependent_count USING ERRCODE = '0A000';
    END IF;
    PERFORM hopper.predict_byom(
        model_arch_table := model_arch_table, model_id := model_id, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table,
        pred_type := coalesce(pred_type, 'prob'), use_gpus := coalesce(use_gpus, false),
        class_values := CASE WHEN class_values IS NOT NULL THEN ARRAY(SELECT unnest(class_values)) END,
        normalizing_const := coalesce(normalizing_const, 1.0));
END $$;
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type integer, use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.predict_byom(
        model_arch_table := model_arch_table, model_id := model_id, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table, pred_type := pred_type,
        use_gpus := coalesce(use_gpus, false), class_values := CASE WHEN class_values IS NOT NULL THEN ARRAY(SELECT unnest(class_values)) END,
        normalizing_const := coalesce(normalizing_const, 1.0));
END $$;
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type double precision, use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM hopper.predict_byom(
        model_arch_table := model_arch_table, model_id := model_id, source_table := test_table, id_col := id_col,
        independent_varname := independent_varname, output_table := output_table, pred_type := pred_type,
        use_gpus := coalesce(use_gpus, false), class_values := CASE WHEN class_values IS NOT NULL THEN ARRAY(SELECT unnest(class_values)) END,
        normalizing_const := coalesce(normalizing_const, 1.0));
END $$;

-- ---------------------------------------------------------------- custom functions and GPUs

-- top_<k>_accuracy is built in; the table is what workbooks show and pass on.
CREATE FUNCTION madlib.load_top_k_accuracy_function(object_table text, k integer) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    IF k IS NULL OR k < 1 THEN
        RAISE EXCEPTION 'k must be at least 1, got %', k USING ERRCODE = '22023';
    END IF;
    IF to_regclass(object_table) IS NULL THEN
        EXECUTE 'CREATE TABLE ' || object_table
            || ' (id serial, name text PRIMARY KEY, description text, object bytea)';
    END IF;
    EXECUTE 'INSERT INTO ' || object_table::regclass || ' (name, description) VALUES ($1, $2)'
        USING 'top_' || k || '_accuracy', 'returns top_' || k || '_accuracy';
END $$;
CREATE FUNCTION madlib.load_custom_function(object_table text, object bytea, name text, description text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    RAISE EXCEPTION 'pickled Python functions cannot be run here'
        USING ERRCODE = '0A000',
              HINT = 'Losses and metrics can be written as expressions: see docs/reference/parameters.md.';
END $$;
CREATE FUNCTION madlib.delete_custom_function(object_table text, name text) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    deleted bigint;
    is_empty boolean;
BEGIN
    EXECUTE 'DELETE FROM ' || object_table::regclass || ' WHERE name = $1' USING name;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted = 0 THEN
        RAISE EXCEPTION '"%" has no function "%"', object_table, name USING ERRCODE = '02000';
    END IF;
    EXECUTE 'SELECT NOT EXISTS (SELECT 1 FROM ' || object_table::regclass || ')' INTO is_empty;
    IF is_empty THEN
        EXECUTE 'DROP TABLE ' || object_table::regclass;
    END IF;
END $$;
CREATE FUNCTION madlib.delete_custom_function(object_table text, id integer) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    found_name text;
BEGIN
    EXECUTE 'SELECT name FROM ' || object_table::regclass || ' WHERE id = $1' INTO found_name USING id;
    PERFORM madlib.delete_custom_function(object_table, coalesce(found_name, id::text));
END $$;

CREATE FUNCTION madlib.gpu_configuration(output_table text, source text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    EXECUTE 'CREATE TABLE ' || output_table || ' AS SELECT hostname, gpu_descr FROM hopper.gpu_configuration()';
END $$;

-- ---------------------------------------------------------------- other names and help

-- The names of MADlib 2, and fn() and fn('usage') of each function.
DO $$
DECLARE
    f record;
    help_of text;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname::text AS name,
            regexp_replace(regexp_replace(p.proname, '^madlib_keras_', ''), '_dl$', '') AS short
        FROM pg_proc p WHERE p.pronamespace = 'madlib'::regnamespace
          AND (p.proname LIKE 'madlib\_keras\_%' OR p.proname LIKE '%\_dl')
    LOOP
        EXECUTE replace(pg_get_functiondef(f.oid), 'FUNCTION madlib.' || f.name || '(', 'FUNCTION madlib.' || f.short || '(');
    END LOOP;
    FOR f IN
        SELECT DISTINCT p.proname::text AS name FROM pg_proc p
        WHERE p.pronamespace = 'madlib'::regnamespace AND p.prorettype = 'void'::regtype
    LOOP
        help_of := regexp_replace(regexp_replace(replace(f.name, 'keras_model', 'model'), '^madlib_keras_', ''), '_dl$', '');
        -- gpu_configuration('usage') would be a table's name.
        IF f.name <> 'gpu_configuration' AND EXISTS (
            SELECT 1 FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace AND proname = help_of) THEN
            EXECUTE format('CREATE FUNCTION madlib.%I(topic text DEFAULT '''') RETURNS text LANGUAGE sql STABLE PARALLEL UNSAFE AS '
                '$sql$ SELECT madlib.usage(%L, topic) $sql$', f.name, help_of);
        END IF;
    END LOOP;
    FOR f IN
        SELECT p.oid::regprocedure AS called, p.proname::text AS name FROM pg_proc p
        WHERE p.pronamespace = 'madlib'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL
    LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', f.called, 'MADlib''s ' || f.name || ', by model_hopper');
    END LOOP;
END $$;

COMMIT;
