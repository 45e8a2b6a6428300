-- MADlib's deep-learning functions by their own names, arguments, order and meaning: thin wrappers over
-- schema hopper, in schema madlib, for scripts and workbooks that were written for Apache MADlib 1.18 to 2.1.
--
--   psql -f madlib.sql        in a database that has the extension model_hopper and no MADlib
--
-- One script for PostgreSQL and Greenplum 6, whose kernel knows no parallel safety and no names of schemas as a type.
-- All run with the caller's rights. What differs on purpose: docs/guide/from_madlib.md.
\set ON_ERROR_STOP on
BEGIN;
-- A superuser runs this, perhaps; others may have planted functions in schemas of the path.
SET LOCAL search_path = pg_catalog, pg_temp;

DO $$
BEGIN
    IF EXISTS (
        SELECT 1 FROM pg_catalog.pg_namespace n
        WHERE n.nspname = 'madlib' AND (coalesce(pg_catalog.obj_description(n.oid, 'pg_namespace'), '') NOT LIKE 'MADlib''s names%'
            OR NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.oid = n.nspowner AND (r.rolsuper OR r.rolname = current_user)))) THEN
        RAISE EXCEPTION 'schema "madlib" exists and was not made by this script'
            USING HINT = 'Use a database without MADlib.';
    END IF;
END $$;
CREATE SCHEMA IF NOT EXISTS madlib;
-- Tables of custom functions stay.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::pg_catalog.regprocedure AS called FROM pg_catalog.pg_proc p
             WHERE p.pronamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = 'madlib') LOOP
        EXECUTE 'DROP FUNCTION IF EXISTS ' || f.called || ' CASCADE';
    END LOOP;
END $$;
COMMENT ON SCHEMA madlib IS 'MADlib''s names for the functions of model_hopper';
GRANT USAGE ON SCHEMA madlib TO PUBLIC;

CREATE FUNCTION madlib.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT hopper.version() $$;
COMMENT ON FUNCTION madlib.version() IS 'version of model_hopper';

\ir madlib_helpers.sql

-- ---------------------------------------------------------------- data

CREATE FUNCTION madlib.training_preprocessor_dl(
    source_table text, output_table text, dependent_varname text, independent_varname text,
    buffer_size integer DEFAULT NULL, normalizing_const real DEFAULT 1.0, num_classes integer[] DEFAULT NULL,
    distribution_rules text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.training_preprocessor(
        source_table := source_table, output_table := output_table,
        dependent_varname := madlib.outputs_in(dependent_varname),
        independent_varname := independent_varname, buffer_size := buffer_size,
        normalizing_const := coalesce(normalizing_const, 1.0), num_classes := num_classes,
        distribution_rules := madlib.rules_of(distribution_rules), null_labels := 'class',
        label_kind := madlib.label_kind_of(source_table, dependent_varname));
    PERFORM madlib.name_packed(source_table, output_table);
END $$;
CREATE FUNCTION madlib.validation_preprocessor_dl(
    source_table text, output_table text, dependent_varname text, independent_varname text,
    training_preprocessor_table text, buffer_size integer DEFAULT NULL, distribution_rules text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.validation_preprocessor(
        source_table := source_table, output_table := output_table,
        dependent_varname := madlib.outputs_in(dependent_varname),
        independent_varname := independent_varname, packed_table := training_preprocessor_table,
        buffer_size := buffer_size, distribution_rules := madlib.rules_of(distribution_rules));
    PERFORM madlib.name_packed(source_table, output_table);
END $$;

-- ---------------------------------------------------------------- architectures and configurations

CREATE FUNCTION madlib.load_keras_model(
    keras_model_arch_table text, model_arch json, model_weights bytea DEFAULT NULL, name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.load_model(
        model_arch_table := keras_model_arch_table, model_arch := model_arch, model_weights := model_weights,
        name := name, description := description);
END $$;
CREATE FUNCTION madlib.delete_keras_model(keras_model_arch_table text, model_id integer)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.delete_model(model_arch_table := keras_model_arch_table, model_id := model_id);
END $$;

CREATE FUNCTION madlib.generate_model_configs(
    model_arch_table text, model_selection_table text, model_id_list integer[], compile_params_grid text,
    fit_params_grid text, search_type text DEFAULT 'grid', num_configs integer DEFAULT NULL,
    random_state integer DEFAULT NULL, object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM madlib.make_configs_summary(model_arch_table, model_selection_table);
    -- MADlib accepts any beginning of 'grid' and 'random'.
    PERFORM hopper.generate_model_configs(
        model_arch_table := model_arch_table, model_selection_table := model_selection_table,
        model_id_list := model_id_list,
        compile_params_grid := madlib.metrics_of(compile_params_grid), fit_params_grid := fit_params_grid,
        search_type := CASE WHEN 'grid' LIKE lower(search_type) || '%' THEN 'grid'
                            WHEN 'random' LIKE lower(search_type) || '%' THEN 'random'
                            ELSE search_type END,
        num_configs := num_configs, seed := random_state);
    PERFORM madlib.note_object_table(model_selection_table, object_table);
END $$;
CREATE FUNCTION madlib.load_model_selection_table(
    model_arch_table text, model_selection_table text, model_id_list integer[], compile_params_list varchar[],
    fit_params_list varchar[], object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.load_model_selection_table(
        model_arch_table := model_arch_table, model_selection_table := model_selection_table,
        model_id_list := model_id_list, compile_params_list := compile_params_list::text[],
        fit_params_list := fit_params_list::text[]);
    PERFORM madlib.note_object_table(model_selection_table, object_table);
END $$;

-- ---------------------------------------------------------------- training

CREATE FUNCTION madlib.madlib_keras_fit(
    source_table text, model text, model_arch_table text, model_id integer, compile_params text, fit_params text,
    num_iterations integer, use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL, warm_start boolean DEFAULT NULL, name text DEFAULT NULL,
    description text DEFAULT NULL, object_table text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.fit(
        packed_table := source_table, model_table := model, model_arch_table := model_arch_table, model_id := model_id,
        compile_params := compile_params, fit_params := fit_params,
        num_iterations := num_iterations, use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := coalesce(metrics_compute_frequency, num_iterations),
        warm_start := coalesce(warm_start, false), name := name, description := description,
        training_metrics := 'every');
    PERFORM madlib.show_model(model, json_build_object('source_table', source_table, 'model', model,
            'model_arch_table', model_arch_table, 'validation_table', validation_table,
            'object_table', madlib.object_table_of(object_table)),
        $columns$ $1->'given'->>'source_table' AS source_table, $1->'given'->>'model' AS model, r.dependent_varname,
        r.independent_varname, $1->'given'->>'model_arch_table' AS model_arch_table, i.model_id, i.compile_params,
        i.fit_params, r.num_iterations, $1->'given'->>'validation_table' AS validation_table,
        $1->'given'->>'object_table' AS object_table, r.metrics_compute_frequency, r.name, r.description,
        'madlib_keras'::text AS model_type, i.model_size, r.start_training_time::timestamp AS start_training_time,
        r.end_training_time::timestamp AS end_training_time, i.metrics_elapsed_time, r.madlib_version, r.num_classes,
        r.dependent_vartype, r.normalizing_const, i.metrics_type, i.loss_type, i.training_metrics_final,
        i.training_loss_final, i.training_metrics, i.training_loss, i.validation_metrics_final, i.validation_loss_final,
        i.validation_metrics, i.validation_loss, i.metrics_iters, class_values $columns$);
END $$;
CREATE FUNCTION madlib.madlib_keras_fit_multiple_model(
    source_table text, model_output_table text, model_selection_table text, num_iterations integer,
    use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL, metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false, name text DEFAULT NULL, description text DEFAULT NULL,
    use_caching boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    object_table text;
BEGIN
    PERFORM hopper.fit_multiple_model(
        packed_table := source_table, model_table := model_output_table,
        model_selection_table := model_selection_table, num_iterations := num_iterations,
        use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := coalesce(metrics_compute_frequency, num_iterations),
        warm_start := coalesce(warm_start, false), name := name, description := description,
        use_caching := coalesce(use_caching, false), training_metrics := 'every');
    EXECUTE 'SELECT object_table FROM ' || madlib.companion(model_selection_table, 'summary') INTO object_table;
    PERFORM madlib.show_model(model_output_table, json_build_object('source_table', source_table,
            'validation_table', validation_table, 'model', model_output_table,
            'model_info', madlib.companion(model_output_table, 'info'), 'model_selection_table', model_selection_table,
            'object_table', object_table),
        $columns$ $1->'given'->>'source_table' AS source_table, $1->'given'->>'validation_table' AS validation_table,
        $1->'given'->>'model' AS model, $1->'given'->>'model_info' AS model_info, r.dependent_varname,
        r.independent_varname, coalesce(madlib.relation(r.model_arch_table)::text, r.model_arch_table) AS model_arch_table,
        $1->'given'->>'model_selection_table' AS model_selection_table, $1->'given'->>'object_table' AS object_table,
        r.num_iterations, r.metrics_compute_frequency, r.warm_start, r.name, r.description,
        r.start_training_time::timestamp AS start_training_time, r.end_training_time::timestamp AS end_training_time,
        r.madlib_version, r.num_classes, class_values, r.dependent_vartype, r.normalizing_const,
        r.metrics_iters $columns$);
END $$;

-- Survivors of MADlib's Hyperband train r_i more iterations in round i, not up to r_i.
CREATE FUNCTION madlib.madlib_keras_automl(
    source_table text, model_output_table text, model_arch_table text, model_selection_table text,
    model_id_list integer[], compile_params_grid text, fit_params_grid text, automl_method text DEFAULT 'hyperband',
    automl_params text DEFAULT NULL, random_state integer DEFAULT NULL, object_table text DEFAULT NULL,
    use_gpus boolean DEFAULT false, validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL, name text DEFAULT NULL, description text DEFAULT NULL,
    use_caching boolean DEFAULT false) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    method text := lower(coalesce(automl_method, 'hyperband'));
    given_params text := coalesce(automl_params, CASE WHEN lower(automl_method) = 'hyperopt'
        THEN 'num_configs=20, num_iterations=5, algorithm=tpe' ELSE 'R=6, eta=3, skip_last=0' END);
    params text := given_params;
    most integer := coalesce(substring(given_params FROM '(?:R|num_iterations)\s*=\s*(\d+)')::integer, 5);
    info text := madlib.companion(model_output_table, 'info');
BEGIN
    IF method = 'hyperopt' THEN
        method := CASE coalesce(substring(params FROM 'algorithm\s*=\s*''?(\w+)'), 'tpe')
            WHEN 'rand' THEN 'random' ELSE 'tpe' END;
        params := regexp_replace(params, ',?\s*algorithm\s*=\s*''?\w+''?', '');
        params := regexp_replace(params, '^\s*,\s*', '');
    ELSIF method = 'hyperband' THEN
        params := params || ', resource=additional';
    END IF;
    PERFORM hopper.automl(
        packed_table := source_table, model_table := model_output_table, model_arch_table := model_arch_table,
        model_selection_table := model_selection_table, model_id_list := model_id_list,
        compile_params_grid := madlib.metrics_of(compile_params_grid), fit_params_grid := fit_params_grid,
        automl_method := method, automl_params := nullif(params, ''), seed := random_state,
        use_gpus := coalesce(use_gpus, false), validation_table := validation_table,
        metrics_compute_frequency := coalesce(metrics_compute_frequency, most), name := name, description := description);
    PERFORM madlib.note_object_table(model_selection_table, object_table);
    PERFORM madlib.show_model(model_output_table, json_build_object('source_table', source_table,
            'validation_table', validation_table, 'model', model_output_table, 'model_info', info,
            'model_arch_table', model_arch_table, 'model_selection_table', model_selection_table,
            'automl_method', coalesce(automl_method, 'hyperband'), 'automl_params', given_params,
            'random_state', random_state, 'object_table', madlib.object_table_of(object_table),
            'use_gpus', coalesce(use_gpus, false)),
        $columns$ $1->'given'->>'source_table' AS source_table, $1->'given'->>'validation_table' AS validation_table,
        $1->'given'->>'model' AS model, $1->'given'->>'model_info' AS model_info, r.dependent_varname,
        r.independent_varname, $1->'given'->>'model_arch_table' AS model_arch_table,
        $1->'given'->>'model_selection_table' AS model_selection_table, $1->'given'->>'automl_method' AS automl_method,
        $1->'given'->>'automl_params' AS automl_params, $1->'given'->>'random_state' AS random_state,
        $1->'given'->>'object_table' AS object_table, ($1->'given'->>'use_gpus')::boolean AS use_gpus,
        r.metrics_compute_frequency, r.name, r.description, r.start_training_time::timestamp AS start_training_time,
        r.end_training_time::timestamp AS end_training_time, r.madlib_version, r.num_classes, class_values,
        r.dependent_vartype, r.normalizing_const $columns$);
    EXECUTE format('ALTER TABLE %s ADD COLUMN metrics_iters integer[]', info);
    EXECUTE format('UPDATE %s AS t SET metrics_iters = m.metrics_iters FROM %s AS m WHERE m.mst_key = t.mst_key', info,
        madlib.companion(model_output_table, 'metrics'));
    IF method = 'hyperband' THEN
        EXECUTE format('ALTER TABLE %s ADD COLUMN s integer, ADD COLUMN i integer', info);
        EXECUTE format('UPDATE %s AS t SET s = d.s, i = d.i FROM (SELECT mst_key, max(s) AS s, max(i) AS i FROM %s'
            ' GROUP BY mst_key) AS d WHERE d.mst_key = t.mst_key', info,
            madlib.companion(model_output_table, 'decisions'));
    END IF;
END $$;
CREATE FUNCTION madlib.hyperband_schedule(
    schedule_table text, r integer, eta integer DEFAULT 3, skip_last integer DEFAULT 0)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.hyperband_schedule(
        schedule_table := schedule_table, r := r, eta := eta, skip_last := skip_last, additional := true);
END $$;

-- ---------------------------------------------------------------- evaluation and prediction

CREATE FUNCTION madlib.madlib_keras_evaluate(
    model_table text, test_table text, output_table text, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM hopper.evaluate(
        model_table := model_table, packed_table := test_table, output_table := output_table,
        use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
    EXECUTE format('ALTER TABLE %s DROP COLUMN metrics', output_table);
END $$;

CREATE FUNCTION madlib.predict_into(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type hopper.pred_type, use_gpus boolean, mst_key integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    summary text := madlib.companion(model_table, 'summary');
    run text := madlib.companion(model_table, 'run');
    outputs json;
    labels text[];
    classes text[];
    all_classes json[];
    layers text[];
BEGIN
    IF madlib.relation(model_table) IS NOT NULL THEN
        EXECUTE format('SELECT madlib.output_layers(model_arch) FROM %s WHERE $1 IS NULL OR mst_key = $1', model_table)
            INTO layers USING mst_key;
    END IF;
    IF coalesce(array_length(layers, 1), 1) = 1 THEN
        PERFORM hopper.predict(
            model_table := model_table, source_table := test_table, id_col := id_col,
            independent_varname := independent_varname, output_table := output_table,
            pred_type := coalesce(pred_type, 'prob'), use_gpus := coalesce(use_gpus, false), mst_key := mst_key);
        PERFORM madlib.drop_other_columns(output_table);
        RETURN;
    END IF;
    FOR n IN 1 .. array_length(layers, 1) LOOP
        PERFORM hopper.predict(
            model_table := model_table, source_table := test_table, id_col := id_col,
            independent_varname := independent_varname, output_table := 'pg_temp.madlib_output_' || n,
            use_gpus := coalesce(use_gpus, false), mst_key := mst_key, layer := layers[n]);
    END LOOP;
    -- predict() has looked at this companion, which the caller has not named.
    IF madlib.relation(run) IS NOT NULL THEN
        EXECUTE format('SELECT dependent_varname, outputs::json FROM %s', run) INTO labels, outputs;
    ELSE
        EXECUTE format('SELECT dependent_varname FROM %s', summary) INTO labels;
    END IF;
    FOR n IN 1 .. array_length(layers, 1) LOOP
        IF outputs IS NULL THEN
            EXECUTE format('SELECT %I::text[] FROM %s', labels[n] || '_class_values', summary) INTO classes;
        END IF;
        all_classes := all_classes || CASE WHEN outputs IS NULL THEN array_to_json(classes) ELSE outputs->(n - 1)->'classes' END;
    END LOOP;
    PERFORM madlib.join_outputs(output_table, labels, array_to_json(all_classes), coalesce(pred_type, 'prob'));
END $$;
COMMENT ON FUNCTION madlib.predict_into(text, text, text, text, text, hopper.pred_type, boolean, integer) IS
    'predict() with MADlib''s columns';
CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type text DEFAULT 'prob', use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.predict_into(model_table, test_table, id_col, independent_varname, output_table, pred_type, use_gpus, mst_key)
$$;
CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type integer, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.predict_into(model_table, test_table, id_col, independent_varname, output_table, pred_type, use_gpus, mst_key)
$$;
CREATE FUNCTION madlib.madlib_keras_predict(
    model_table text, test_table text, id_col text, independent_varname text, output_table text,
    pred_type double precision, use_gpus boolean DEFAULT false, mst_key integer DEFAULT NULL)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.predict_into(model_table, test_table, id_col, independent_varname, output_table, pred_type, use_gpus, mst_key)
$$;

-- MADlib's class_values has a list per output.
CREATE FUNCTION madlib.byom_into(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type hopper.pred_type, use_gpus boolean, class_values text[], normalizing_const double precision,
    dependent_count integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    layers text[];
    names text[];
    all_classes json[];
BEGIN
    IF coalesce(dependent_count, 1) = 1 THEN
        PERFORM hopper.predict_byom(
            model_arch_table := model_arch_table, model_id := model_id, source_table := test_table, id_col := id_col,
            independent_varname := independent_varname, output_table := output_table,
            pred_type := coalesce(pred_type, 'prob'), use_gpus := coalesce(use_gpus, false),
            class_values := CASE WHEN class_values IS NOT NULL THEN ARRAY(SELECT unnest(class_values)) END,
            normalizing_const := coalesce(normalizing_const, 1.0));
        PERFORM madlib.drop_other_columns(output_table);
        RETURN;
    END IF;
    EXECUTE format('SELECT madlib.output_layers(model_arch) FROM %s WHERE model_id = $1', model_arch_table)
        INTO layers USING model_id;
    IF array_length(layers, 1) IS DISTINCT FROM dependent_count THEN
        RAISE EXCEPTION 'model % of "%" has % outputs, dependent_count says %', model_id, model_arch_table,
            coalesce(array_length(layers, 1), 0), dependent_count USING ERRCODE = '22023';
    END IF;
    FOR n IN 1 .. dependent_count LOOP
        PERFORM hopper.predict_byom(
            model_arch_table := model_arch_table, model_id := model_id, source_table := test_table, id_col := id_col,
            independent_varname := independent_varname, output_table := 'pg_temp.madlib_output_' || n,
            use_gpus := coalesce(use_gpus, false), normalizing_const := coalesce(normalizing_const, 1.0), layer := layers[n]);
        names := names || ('dependent_var_' || n - 1);
        all_classes := all_classes || array_to_json(array_remove(ARRAY(SELECT unnest(class_values[n:n])), NULL));
    END LOOP;
    PERFORM madlib.join_outputs(output_table, names, array_to_json(all_classes), coalesce(pred_type, 'prob'));
END $$;
COMMENT ON FUNCTION madlib.byom_into(text, integer, text, text, text, text, hopper.pred_type, boolean, text[], double precision,
    integer) IS 'predict_byom() with MADlib''s columns';
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type text DEFAULT 'prob', use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL, dependent_count integer DEFAULT 1)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.byom_into(model_arch_table, model_id, test_table, id_col, independent_varname, output_table, pred_type, use_gpus,
        class_values, normalizing_const, dependent_count)
$$;
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type integer, use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL, dependent_count integer DEFAULT 1)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.byom_into(model_arch_table, model_id, test_table, id_col, independent_varname, output_table, pred_type, use_gpus,
        class_values, normalizing_const, dependent_count)
$$;
CREATE FUNCTION madlib.madlib_keras_predict_byom(
    model_arch_table text, model_id integer, test_table text, id_col text, independent_varname text,
    output_table text, pred_type double precision, use_gpus boolean DEFAULT NULL, class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT NULL, dependent_count integer DEFAULT 1)
RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT madlib.byom_into(model_arch_table, model_id, test_table, id_col, independent_varname, output_table, pred_type, use_gpus,
        class_values, normalizing_const, dependent_count)
$$;

-- ---------------------------------------------------------------- custom functions and GPUs

-- top_<k>_accuracy is built in; the table is what workbooks show and pass on.
CREATE FUNCTION madlib.load_top_k_accuracy_function(object_table text, k integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF k IS NULL OR k < 1 THEN
        RAISE EXCEPTION 'k must be at least 1, got %', k USING ERRCODE = '22023';
    END IF;
    PERFORM madlib.add_function(object_table, 'top_' || k || '_accuracy', 'returns top_' || k || '_accuracy', NULL);
END $$;
CREATE FUNCTION madlib.load_custom_function(object_table text, object bytea, name text, description text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM madlib.add_function(object_table, name, description, object);
    RAISE WARNING 'function "%" is stored, and cannot be used: pickled Python is not run here', name
        USING HINT = 'Losses and metrics can be written as expressions: see docs/reference/parameters.md.';
END $$;
CREATE FUNCTION madlib.delete_custom_function(object_table text, name text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    place regclass := coalesce(madlib.relation(madlib.object_table_of(object_table))::text, object_table);
    deleted bigint;
    is_empty boolean;
BEGIN
    EXECUTE 'DELETE FROM ' || place || ' WHERE name = $1' USING name;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted = 0 THEN
        RAISE EXCEPTION '"%" has no function "%"', object_table, name USING ERRCODE = '02000';
    END IF;
    EXECUTE 'SELECT NOT EXISTS (SELECT 1 FROM ' || place || ')' INTO is_empty;
    IF is_empty THEN
        EXECUTE 'DROP TABLE ' || place;
    END IF;
END $$;
CREATE FUNCTION madlib.delete_custom_function(object_table text, id integer) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    found_name text;
BEGIN
    EXECUTE 'SELECT name FROM ' || coalesce(madlib.relation(madlib.object_table_of(object_table))::text, object_table)
        || ' WHERE id = $1' INTO found_name USING id;
    PERFORM madlib.delete_custom_function(object_table, coalesce(found_name, id::text));
END $$;

CREATE FUNCTION madlib.gpu_configuration(output_table text, source text DEFAULT NULL) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE 'CREATE TABLE ' || output_table || ' AS SELECT hostname, gpu_descr FROM hopper.gpu_configuration()';
END $$;

-- ---------------------------------------------------------------- other names and help

-- All of them under short names, which are not MADlib's, and fn() and fn('usage') of each function.
DO $$
DECLARE
    f record;
    help_of text;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname::text AS name,
            regexp_replace(regexp_replace(p.proname, '^madlib_keras_', ''), '_dl$', '') AS short
        FROM pg_proc p WHERE p.pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'madlib')
          AND (p.proname LIKE 'madlib\_keras\_%' OR p.proname LIKE '%\_dl')
    LOOP
        EXECUTE replace(pg_get_functiondef(f.oid), 'FUNCTION madlib.' || f.name || '(', 'FUNCTION madlib.' || f.short || '(');
    END LOOP;
    FOR f IN
        SELECT DISTINCT p.proname::text AS name FROM pg_proc p
        WHERE p.pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'madlib') AND p.prorettype = 'void'::regtype
          AND obj_description(p.oid, 'pg_proc') IS NULL
    LOOP
        help_of := regexp_replace(regexp_replace(replace(f.name, 'keras_model', 'model'), '^madlib_keras_', ''), '_dl$', '');
        -- gpu_configuration('usage') would be a table's name.
        EXECUTE format('CREATE FUNCTION madlib.%I(%s) RETURNS text LANGUAGE sql STABLE AS '
            '$sql$ SELECT madlib.usage(%L, %L, %s) $sql$', f.name,
            CASE WHEN f.name <> 'gpu_configuration' THEN 'topic text DEFAULT ''''' ELSE '' END, f.name,
            (SELECT min(proname::text) FROM pg_proc WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'hopper') AND proname = help_of),
            CASE WHEN f.name <> 'gpu_configuration' THEN 'topic' ELSE '''''' END);
    END LOOP;
    FOR f IN
        SELECT p.oid::regprocedure AS called, p.proname::text AS name FROM pg_proc p
        WHERE p.pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'madlib') AND obj_description(p.oid, 'pg_proc') IS NULL
    LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', f.called, 'MADlib''s ' || f.name || ', by model_hopper');
    END LOOP;
END $$;

COMMIT;
