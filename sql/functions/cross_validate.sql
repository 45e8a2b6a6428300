CREATE FUNCTION hopper.cross_validate_within(source_table text, output_table text, dependent_varname text, independent_varname hopper.columns, folds integer,
    num_iterations integer, model_selection_table text, recipe text, options jsonb, treatments jsonb, label_kind text, group_varname text,
    validation_fraction double precision, seed bigint)
RETURNS TABLE (mst_key integer, metric text, rank bigint, mean double precision, deviation double precision, fold_values double precision[])
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
#variable_conflict use_variable
-- Types, too, would be found in the caller's path.
DECLARE
    -- What the caller names is looked up by the caller's path, all else in pg_catalog.
    callers CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    safe CONSTANT pg_catalog.text := 'pg_catalog, pg_temp';
    -- Nothing is told of a fold's tables, which are gone when the call ends.
    told CONSTANT pg_catalog.text := pg_catalog.current_setting('client_min_messages');
    quiet CONSTANT pg_catalog.text := CASE WHEN told OPERATOR(pg_catalog.=) ANY (ARRAY['error', 'fatal', 'panic']) THEN told ELSE 'warning' END;
    own pg_catalog.text;
    source pg_catalog.regclass;
    label pg_catalog.text;
    -- The name of the output and of what goes with it, for format().
    names pg_catalog.text;
    -- Before work begins: pairs of what is to be made and how its name ends.
    outputs pg_catalog.text[] := ARRAY[['new', ''], ['new', 'folds'], ['new', 'means']];
    tables pg_catalog.text[] := ARRAY[['view', 'rows'], ['view', 'test_rows'], ['packed', 'packed'], ['test', 'test'], ['passing', 'models']];
    grouped pg_catalog.text;
    kind pg_catalog.text;
    columns pg_catalog.text;
    spare pg_catalog.text := 'fold';
    like_rows pg_catalog.text;
    odd pg_catalog.text;
    n pg_catalog.int8;
    configurations pg_catalog.jsonb[];
    treated pg_catalog.jsonb := treatments;
    statement pg_catalog.text;
    began CONSTANT pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    comment CONSTANT pg_catalog.text := 'what cross_validate() found, begun ' OPERATOR(pg_catalog.||) began::pg_catalog.text;
    digest pg_catalog.text;
    digested pg_catalog.text;
    plan pg_catalog.json;
    -- A run is made of it, which trains one fold after the other.
    later pg_catalog.bool;
    call pg_catalog.text;
    -- Of folds that are trained at the same time.
    calls pg_catalog.text[];
    done pg_catalog.int4 := 0;
    at_once pg_catalog.int4;
BEGIN
    PERFORM pg_catalog.set_config('search_path', safe, true);
    own := (SELECT quote_ident(n.nspname) || '.' FROM pg_extension e JOIN pg_namespace n
        ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper');
    IF source_table IS NULL OR output_table IS NULL OR dependent_varname IS NULL OR independent_varname IS NULL OR folds IS NULL
        OR num_iterations IS NULL OR options IS NULL OR seed IS NULL THEN
        RAISE EXCEPTION 'source_table, output_table, dependent_varname, independent_varname, folds, num_iterations, options and seed must not be NULL'
            USING ERRCODE = 'null_value_not_allowed';
    END IF;
    EXECUTE format('SELECT %snames_like(%L, ''output_table'', ''fold100_packed_validation_summary'')', own, output_table) INTO names;
    IF folds < 2 OR folds > 100 THEN
        RAISE EXCEPTION 'folds must be from 2 to 100' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF num_iterations < 1 THEN
        RAISE EXCEPTION 'num_iterations must be 1 or more' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF recipe IS NOT NULL THEN
        tables := tables || ARRAY[['networks', 'networks'], ['configs', 'configs']];
    END IF;
    FOR i IN 1..folds LOOP
        FOR c IN 1..array_length(tables, 1) LOOP
            outputs := outputs || ARRAY[[tables[c][1], 'fold' || i || '_' || tables[c][2]]];
        END LOOP;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', callers, true);
    source := source_table::pg_catalog.regclass;
    EXECUTE pg_catalog.format('SELECT %sclaim_names(%L, %L, false, $1)', own, output_table, outputs) USING source;
    EXECUTE pg_catalog.format('SELECT %srun_closing(NULL)', own) INTO later;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    EXECUTE format('SELECT %1$ssource_column($1, $2, ''dependent_varname''), %1$ssource_column($1, $3, ''group_varname'')', own)
        INTO label, grouped USING source, dependent_varname, group_varname;
    IF (model_selection_table IS NULL) = (recipe IS NULL) THEN
        RAISE EXCEPTION 'either model_selection_table or recipe must be given' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A recipe is one of tabular(), written for each fold''s columns; a table of configurations is as generate_model_configs() makes it.';
    END IF;
    validation_fraction := nullif(coalesce(validation_fraction, CASE WHEN recipe IS NOT NULL THEN 0.2 END), 0);
    IF label_kind NOT IN ('class', 'value') THEN
        RAISE EXCEPTION 'label_kind must be "class" or "value"' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    configurations := CASE jsonb_typeof(options) WHEN 'object' THEN ARRAY[options]
        WHEN 'array' THEN ARRAY(SELECT e.value FROM jsonb_array_elements(options) AS e) ELSE '{}' END;
    IF array_length(configurations, 1) IS NULL OR EXISTS (SELECT 1 FROM unnest(configurations) AS c WHERE jsonb_typeof(c) <> 'object') THEN
        RAISE EXCEPTION 'options must be a JSON object, or a list of them' USING ERRCODE = 'invalid_parameter_value';
    END IF;

    -- As training_preprocessor() tells classes from values.
    kind := coalesce(label_kind, (SELECT CASE WHEN t.typcategory = 'A' OR t.typname IN ('float4', 'float8', 'numeric') THEN 'value' ELSE 'class' END
        FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid JOIN pg_type t ON t.oid = CASE d.typtype WHEN 'd' THEN d.typbasetype ELSE d.oid END
        WHERE a.attrelid = source AND a.attnum > 0 AND quote_ident(a.attname) = label));
    IF independent_varname::text = '*' THEN
        EXECUTE format('SELECT %ssource_treatments($1, $2, $3, $4)', own) INTO treated USING source, treatments,
            ARRAY[label, CASE WHEN validation_fraction IS NOT NULL THEN grouped END], CASE WHEN validation_fraction IS NULL THEN grouped END;
    END IF;
    columns := (SELECT string_agg('t.' || quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped);
    -- No column's name begins with it.
    WHILE EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = source AND strpos(a.attname, spare) = 1) LOOP
        spare := spare || '_';
    END LOOP;

    -- Rows are dealt out in turn, each class in an order by chance; or whole groups, the largest first, there and back. Rows that are
    -- equal but for the label are in one fold, with those of the first of their classes.
    EXECUTE format('SELECT %ssource_hash($1, $2, $3, $4)', own) INTO like_rows USING source, grouped, seed, CASE WHEN grouped IS NULL THEN label END;
    statement := format('SELECT %1$s, %2$s AS %3$sk FROM %4$s AS t WHERE t.%5$s IS NOT NULL', columns, like_rows, spare, source, label);
    statement := format('SELECT %1$s, t.%2$sk, %3$s AS %2$sn FROM (%4$s) AS t', columns, spare, CASE WHEN grouped IS NOT NULL
        THEN format('pg_catalog.count(*) OVER (PARTITION BY t.%sk)', spare) WHEN kind = 'class'
        THEN format('pg_catalog.min(t.%s::pg_catalog.text) OVER (PARTITION BY t.%sk)', label, spare) ELSE '0' END, statement);
    statement := format('SELECT %1$s, pg_catalog.dense_rank() OVER (ORDER BY t.%2$sn %3$s, t.%2$sk) OPERATOR(pg_catalog.-) 1 AS %2$st FROM (%4$s) AS t',
        columns, spare, CASE WHEN grouped IS NULL THEN 'ASC' ELSE 'DESC' END, statement);
    statement := format('CREATE TABLE %1$s AS SELECT %2$s, (1 OPERATOR(pg_catalog.+) %3$s)::pg_catalog.int4 AS %4$s FROM (%5$s) AS t',
        format(names, '_folds'), columns, format(CASE WHEN grouped IS NULL THEN '(t.%1$st OPERATOR(pg_catalog.%%) %2$s)'
            -- All these operators bind alike.
            ELSE 'least(t.%1$st OPERATOR(pg_catalog.%%) %3$s, %4$s OPERATOR(pg_catalog.-) (t.%1$st OPERATOR(pg_catalog.%%) %3$s))'
            END, spare, folds, 2 * folds, 2 * folds - 1), spare, statement);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement;
    EXECUTE pg_catalog.format('SELECT pg_catalog.count(DISTINCT %s) FROM %s', spare, pg_catalog.format(names, '_folds')) INTO n;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    IF n < folds THEN
        RAISE EXCEPTION '"%" has too few % for % folds', (SELECT c.relname FROM pg_class c WHERE c.oid = source), CASE WHEN grouped IS NULL THEN 'different rows' ELSE 'groups' END, folds
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There are ' || n || '.';
    END IF;
    IF kind = 'class' THEN
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT pg_catalog.min(s.c) FROM (SELECT t.%1$s::pg_catalog.text AS c FROM %2$s AS t GROUP BY t.%1$s'
            ' HAVING pg_catalog.count(DISTINCT t.%3$s) OPERATOR(pg_catalog.=) 1) AS s', label, pg_catalog.format(names, '_folds'), spare) INTO odd;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        IF odd IS NOT NULL THEN
            RAISE EXCEPTION 'class "%" of column "%" lies in one fold alone', odd,
                (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = source AND a.attnum > 0 AND quote_ident(a.attname) = label) USING ERRCODE = 'invalid_parameter_value',
                DETAIL = 'Where that fold is the test, no row of the class is left to train on.', HINT = 'Leave the class out, or join it with others.';
        END IF;
    END IF;
    statement := 'CREATE TABLE ' || format(names, '') || ' (mst_key pg_catalog.int4, fold pg_catalog.int4, metric pg_catalog.text,'
        ' value pg_catalog.float8, training_rows pg_catalog.int8, test_rows pg_catalog.int8)';
    IF recipe IS NULL THEN
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT %ssource_hash($1, NULL, 0)', own) INTO digest USING model_selection_table::pg_catalog.regclass;
        digest := pg_catalog.format('SELECT pg_catalog.string_agg((%s)::pg_catalog.text, '','' ORDER BY t.mst_key) FROM %s AS t', digest,
            model_selection_table::pg_catalog.regclass);
        EXECUTE digest INTO digested;
        PERFORM pg_catalog.set_config('search_path', safe, true);
    END IF;
    plan := (SELECT row_to_json(p) FROM (SELECT (SELECT c.relname FROM pg_class c WHERE c.oid = source) AS shown, told, own, digest, digested, names, comment, began, folds, columns, spare, label, independent_varname::text AS features, validation_fraction,
        seed, treated, label_kind, grouped, recipe, configurations, num_iterations, model_selection_table AS selection) AS p);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    EXECUTE statement;
    EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', pg_catalog.format(names, ''), comment);
    IF later THEN
        EXECUTE pg_catalog.format('SELECT %scross_validate_fold($1, 1)', own) INTO call USING plan;
        PERFORM pg_catalog.set_config('client_min_messages', told, true);
        EXECUTE pg_catalog.format('SELECT %srun_closing(%L, ''cross_validate'', %L)', own,
            pg_catalog.format('SELECT %scross_validate_end($1, %L, 1)', own, plan), output_table);
        EXECUTE call;
        RETURN;
    END IF;
    WHILE done OPERATOR(pg_catalog.<) folds LOOP
        PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
        calls := '{}';
        LOOP
            EXECUTE pg_catalog.format('SELECT %scross_validate_fold($1, $2)', own) INTO call
                USING plan, done OPERATOR(pg_catalog.+) 1 OPERATOR(pg_catalog.+) pg_catalog.cardinality(calls);
            calls := calls OPERATOR(pg_catalog.||) call;
            IF at_once IS NULL THEN
                EXECUTE pg_catalog.format('SELECT %sfits_at_once($1)', own) INTO at_once USING calls;
                -- As many in each portion.
                PERFORM pg_catalog.set_config('search_path', safe, true);
                at_once := ceil(folds / ceil(folds / least(at_once, 32, folds)::float8));
                PERFORM pg_catalog.set_config('search_path', callers, true);
            END IF;
            EXIT WHEN pg_catalog.cardinality(calls) OPERATOR(pg_catalog.=) least(at_once, folds OPERATOR(pg_catalog.-) done);
        END LOOP;
        EXECUTE pg_catalog.format('SELECT %sfit_together($1, $2)', own)
            USING calls, done OPERATOR(pg_catalog.+) pg_catalog.cardinality(calls) OPERATOR(pg_catalog.=) folds;
        FOR i IN 1..pg_catalog.cardinality(calls) LOOP
            done := done OPERATOR(pg_catalog.+) 1;
            PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
            EXECUTE pg_catalog.format('SELECT %scross_validate_test($1, $2, $3)', own) INTO statement
                USING pg_catalog.format(names, '_fold' OPERATOR(pg_catalog.||) done OPERATOR(pg_catalog.||) '_models'), plan, done;
            PERFORM pg_catalog.set_config('client_min_messages', told, true);
            RAISE NOTICE '%', statement;
        END LOOP;
    END LOOP;
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    EXECUTE pg_catalog.format('SELECT %scross_validate_means($1, $2)', own)
        USING pg_catalog.format(names, '_fold' OPERATOR(pg_catalog.||) folds OPERATOR(pg_catalog.||) '_models'), plan;
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
    RETURN QUERY EXECUTE pg_catalog.format('SELECT * FROM %s AS m ORDER BY m.metric OPERATOR(pg_catalog.=) ''loss'', m.metric, m.rank, m.mst_key',
        pg_catalog.format(names, '_means'));
END $$;
COMMENT ON FUNCTION hopper.cross_validate_within(text, text, text, hopper.columns, integer, integer, text, text, jsonb, jsonb, text, text,
    double precision, bigint) IS
    'part of cross_validate(): all of it, or what comes before the training of the first fold where a run is made of them';

CREATE FUNCTION hopper.cross_validate_fold(plan json, fold integer) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
#variable_conflict use_variable
DECLARE
    callers CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    safe CONSTANT pg_catalog.text := 'pg_catalog, pg_temp';
    own CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'own';
    names CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'names';
    base CONSTANT pg_catalog.text := '_fold' OPERATOR(pg_catalog.||) fold;
    packed CONSTANT pg_catalog.text := pg_catalog.format(names, base OPERATOR(pg_catalog.||) '_packed');
    selection pg_catalog.text;
    configuration pg_catalog.jsonb;
    network pg_catalog.record;
    statements pg_catalog.text[];
    statement pg_catalog.text;
    c pg_catalog.int4 := 0;
    -- What is told of columns is told once.
    quiet CONSTANT pg_catalog.text := pg_catalog.current_setting('client_min_messages');
    told CONSTANT pg_catalog.text := CASE WHEN fold OPERATOR(pg_catalog.=) 1 THEN plan OPERATOR(pg_catalog.->>) 'told' ELSE quiet END;
BEGIN
    IF (plan OPERATOR(pg_catalog.->>) 'digested') IS NOT NULL THEN
        EXECUTE plan OPERATOR(pg_catalog.->>) 'digest' INTO statement;
        IF statement OPERATOR(pg_catalog.<>) (plan OPERATOR(pg_catalog.->>) 'digested') THEN
            RAISE EXCEPTION 'the configurations in "%" have changed since the first fold', plan OPERATOR(pg_catalog.->>) 'selection'
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Put them back as they were.';
        END IF;
    END IF;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    selection := plan->>'selection';
    statements := ARRAY[
        format('CREATE VIEW %1$s AS SELECT %2$s FROM %3$s AS t WHERE t.%4$s OPERATOR(pg_catalog.<>) %5$s', format(names, base || '_rows'), plan->>'columns',
            format(names, '_folds'), plan->>'spare', fold),
        format('CREATE VIEW %1$s AS SELECT %2$s FROM %3$s AS t WHERE t.%4$s OPERATOR(pg_catalog.=) %5$s', format(names, base || '_test_rows'), plan->>'columns',
            format(names, '_folds'), plan->>'spare', fold),
        format('SELECT %1$sshow_as(%2$L, %3$L), %1$sshow_as(%4$L, %3$L)', own, format(names, base || '_rows'),
            (plan->>'shown') || ' (fold ' || fold || ')', format(names, base || '_test_rows')),
        format('SELECT pg_catalog.set_config(''client_min_messages'', %L, true)', told),
        -- What is known of the columns is known from the fold's training rows.
        format('SELECT %straining_preprocessor(source_table := %L, output_table := %L, dependent_varname := %L, independent_varname := %L,'
            ' validation_fraction := %L, seed := %s, treatments := %L, label_kind := %L, group_varname := %L)', own, format(names, base || '_rows'),
            packed, plan->>'label', plan->>'features', plan->>'validation_fraction', plan->>'seed', plan->>'treated', plan->>'label_kind',
            CASE WHEN (plan->>'validation_fraction') IS NOT NULL THEN plan->>'grouped' END),
        format('SELECT pg_catalog.set_config(''client_min_messages'', %L, true)', quiet),
        format('SELECT %svalidation_preprocessor(source_table := %L, output_table := %L, packed_table := %L)', own, format(names, base || '_test_rows'),
            format(names, base || '_test'), packed)];
    PERFORM pg_catalog.set_config('search_path', callers, true);
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    FOR configuration IN SELECT e.value::text::jsonb FROM json_array_elements(plan->'configurations') AS e WHERE (plan->>'recipe') IS NOT NULL LOOP
        c := c + 1;
        -- Schedules stretch over the run.
        configuration := (SELECT json_object_agg(o.key, o.value)::text::jsonb FROM (SELECT 'iterations' AS key, plan->'num_iterations' AS value
            UNION ALL SELECT e.key, e.value::text::json FROM jsonb_each(configuration) AS e WHERE e.key <> 'iterations') AS o);
        statement := format('SELECT * FROM %stabular(model_arch_table := %L, packed_table := %L, recipe := %L, options := %L, name := ''%s'')',
            own, format(names, base || '_networks'), packed, plan->>'recipe', configuration, c);
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE statement INTO network;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        IF network.compile_params IS NULL THEN
            RAISE EXCEPTION 'options hold a range' USING ERRCODE = 'invalid_parameter_value',
                DETAIL = 'Configurations are compared, none is searched for.', HINT = 'Give a list of objects, one for each configuration.';
        END IF;
        selection := format(names, base || '_configs');
        statement := CASE c WHEN 1 THEN format('SELECT %sload_model_selection_table(%L, %L, ARRAY[%s], ARRAY[%L], ARRAY[%L])', own,
                format(names, base || '_networks'), selection, network.model_id, network.compile_params, network.fit_params)
            ELSE format('INSERT INTO %s (model_id, compile_params, fit_params) VALUES (%s, %L, %L)', selection, network.model_id,
                network.compile_params, network.fit_params) END;
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE statement;
        PERFORM pg_catalog.set_config('search_path', safe, true);
    END LOOP;
    statement := format('SELECT %sfit_multiple_model(packed_table := %L, model_table := %L, model_selection_table := %L, num_iterations := %s,'
        ' validation_table := %L, seed := %s)', own, packed, format(names, base || '_models'), selection, plan->>'num_iterations',
        CASE WHEN (plan->>'validation_fraction') IS NOT NULL THEN format(names, base || '_packed_validation') END, plan->>'seed');
    PERFORM pg_catalog.set_config('search_path', callers, true);
    RETURN statement;
END $$;
COMMENT ON FUNCTION hopper.cross_validate_fold(json, integer) IS
    'part of cross_validate(): makes what a fold is trained and tested on, and returns the call that trains it';

CREATE FUNCTION hopper.cross_validate_made(plan json, fold integer) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY[format('SELECT %sdrop_packed(%L)', plan->>'own', format(s.names, s.base || '_test')),
        format('SELECT %sdrop_packed(%L)', plan->>'own', format(s.names, s.base || '_packed')),
        format('DROP VIEW %s, %s', format(s.names, s.base || '_rows'), format(s.names, s.base || '_test_rows'))]
        || CASE WHEN (plan->>'recipe') IS NULL THEN '{}'::text[] ELSE ARRAY[format('DROP TABLE %s, %s, %s', format(s.names, s.base || '_configs'),
            format(s.names, s.base || '_configs_summary'), format(s.names, s.base || '_networks'))] END
    FROM (SELECT plan->>'names' AS names, '_fold' || fold AS base) AS s
$$;
COMMENT ON FUNCTION hopper.cross_validate_made(json, integer) IS
    'part of cross_validate(): the statements that drop what cross_validate_fold() has made';

CREATE FUNCTION hopper.cross_validate_test(models text, plan json, fold integer) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
#variable_conflict use_variable
DECLARE
    own CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'own';
    names CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'names';
    base CONSTANT pg_catalog.text := '_fold' OPERATOR(pg_catalog.||) fold;
    statements pg_catalog.text[];
    statement pg_catalog.text;
    tested pg_catalog.record;
    keys pg_catalog.int4[];
    key pg_catalog.int4;
    rows_trained pg_catalog.int8;
    rows_tested pg_catalog.int8;
BEGIN
    EXECUTE pg_catalog.format('SELECT ARRAY(SELECT m.mst_key FROM %s AS m ORDER BY 1)', models) INTO keys;
    EXECUTE pg_catalog.format('SELECT (SELECT pg_catalog.count(*) FROM %s), (SELECT pg_catalog.count(*) FROM %s)',
        pg_catalog.format(names, base OPERATOR(pg_catalog.||) '_rows'), pg_catalog.format(names, base OPERATOR(pg_catalog.||) '_test_rows'))
        INTO rows_trained, rows_tested;
    FOREACH key IN ARRAY keys LOOP
        EXECUTE pg_catalog.format('SELECT * FROM %sevaluate(model_table := %L, packed_table := %L, mst_key := %s)', own, models,
            pg_catalog.format(names, base OPERATOR(pg_catalog.||) '_test'), key) INTO tested;
        EXECUTE pg_catalog.format('INSERT INTO %s SELECT $1, $2, m.name, m.value, $3, $4 FROM ROWS FROM (pg_catalog.unnest($5::pg_catalog.text[]),'
            ' pg_catalog.unnest($6::pg_catalog.float8[])) AS m (name, value)', pg_catalog.format(names, ''))
            USING key, fold, rows_trained, rows_tested, pg_catalog.array_append(tested.metrics_type, 'loss'), pg_catalog.array_append(tested.metrics, tested.loss);
    END LOOP;
    IF fold OPERATOR(pg_catalog.<) (plan OPERATOR(pg_catalog.->>) 'folds')::pg_catalog.int4 THEN
        EXECUTE pg_catalog.format('SELECT %sdrop_model(%L)', own, models);
    END IF;
    EXECUTE pg_catalog.format('SELECT %scross_validate_made($1, $2)', own) INTO statements USING plan, fold;
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    RETURN pg_catalog.format('fold %s of %s: trained on %s rows, tested on %s', fold, plan OPERATOR(pg_catalog.->>) 'folds', rows_trained, rows_tested);
END $$;
COMMENT ON FUNCTION hopper.cross_validate_test(text, json, integer) IS
    'part of cross_validate(): tests the models of a fold, and drops them, but the last fold''s, and what the fold was made of; returns what is told of it';

CREATE FUNCTION hopper.cross_validate_means(models text, plan json) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
DECLARE
    callers CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    source CONSTANT pg_catalog.regclass := pg_catalog.format(plan OPERATOR(pg_catalog.->>) 'names', '')::pg_catalog.regclass;
    means pg_catalog.text;
    fold_names pg_catalog.text;
    metric pg_catalog.text;
    keys pg_catalog.int4[];
    reached pg_catalog.float8[];
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    means := (SELECT format('%I.%I', n.nspname, c.relname || '_means') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = source);
    -- A configuration that failed in a fold has no mean.
    EXECUTE format('CREATE TABLE %4$s AS SELECT s.mst_key, s.metric, CASE WHEN s.better IS NOT NULL AND s.mean IS NOT NULL THEN rank() OVER (PARTITION BY s.metric'
        ' ORDER BY CASE s.better WHEN ''larger'' THEN -s.mean ELSE s.mean END) END AS rank, s.mean, s.deviation, s.fold_values'
        ' FROM (SELECT v.mst_key, v.metric, CASE v.metric WHEN ''loss'' THEN ''smaller'' ELSE max(m.better) END AS better,'
        ' CASE count(v.value) WHEN %1$s THEN avg(v.value) END AS mean, CASE count(v.value) WHEN %1$s THEN stddev_samp(v.value) END AS deviation,'
        ' array_agg(v.value ORDER BY v.fold) AS fold_values FROM %2$s AS v LEFT JOIN %3$smetrics() AS m ON m.name = v.metric'
        ' GROUP BY v.mst_key, v.metric) AS s', plan->>'folds', source, plan->>'own', means);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    -- Configurations are compared by the metric by which a fold's are, "validation accuracy".
    EXECUTE pg_catalog.format('SELECT %snames_like($1, ''models'', ''summary'')', plan OPERATOR(pg_catalog.->>) 'own') INTO fold_names USING models;
    EXECUTE pg_catalog.format('SELECT pg_catalog.substring(s.best_metric, '' (.*)'') FROM %s AS s', pg_catalog.format(fold_names, '_summary')) INTO metric;
    EXECUTE pg_catalog.format('SELECT pg_catalog.array_agg(m.mst_key ORDER BY m.rank, m.mst_key), pg_catalog.array_agg(m.mean ORDER BY m.rank, m.mst_key)'
        ' FROM %s AS m WHERE m.metric OPERATOR(pg_catalog.=) $1', means) INTO keys, reached USING metric;
    EXECUTE pg_catalog.format('SELECT %srecord_means($1, $2, $3, $4, $5, $6)', plan OPERATOR(pg_catalog.->>) 'own') USING models,
        pg_catalog.format(plan OPERATOR(pg_catalog.->>) 'names', ''), (plan OPERATOR(pg_catalog.->>) 'began')::pg_catalog.timestamptz, metric, keys, reached;
    EXECUTE pg_catalog.format('SELECT %sdrop_model(%L)', plan OPERATOR(pg_catalog.->>) 'own', models);
END $$;
COMMENT ON FUNCTION hopper.cross_validate_means(text, json) IS
    'part of cross_validate(): the mean and deviation of each metric go into a table, and into hopper.runs; the models of the last fold are dropped';

CREATE FUNCTION hopper.cross_validate_end(models text, plan json, fold integer) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
#variable_conflict use_variable
DECLARE
    told CONSTANT pg_catalog.text := pg_catalog.current_setting('client_min_messages');
    quiet CONSTANT pg_catalog.text := CASE WHEN told OPERATOR(pg_catalog.=) ANY (ARRAY['error', 'fatal', 'panic']) THEN told ELSE 'warning' END;
    own CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'own';
    names CONSTANT pg_catalog.text := plan OPERATOR(pg_catalog.->>) 'names';
    output_table CONSTANT pg_catalog.text := pg_catalog.format(names, '');
    statements pg_catalog.text[];
    statement pg_catalog.text;
    kept pg_catalog.regclass;
    next CONSTANT pg_catalog.int4 := fold OPERATOR(pg_catalog.+) 1;
BEGIN
    IF models IS NULL THEN
        -- Cancelled. What others have put in its place since then stays.
        BEGIN
            kept := output_table::pg_catalog.regclass;
        EXCEPTION WHEN undefined_table THEN
            NULL;
        END;
        IF pg_catalog.obj_description(kept, 'pg_class') OPERATOR(pg_catalog.=) (plan OPERATOR(pg_catalog.->>) 'comment') THEN
            EXECUTE pg_catalog.format('SELECT %scross_validate_made($1, $2)', own) INTO statements USING plan, fold;
            FOREACH statement IN ARRAY statements OPERATOR(pg_catalog.||) pg_catalog.format('DROP TABLE %s, %s', output_table, pg_catalog.format(names, '_folds')) LOOP
                BEGIN
                    EXECUTE statement;
                EXCEPTION WHEN others THEN
                    RAISE NOTICE 'not done: %', statement USING DETAIL = sqlerrm;
                END;
            END LOOP;
        ELSE
            RAISE NOTICE 'tables whose names begin with "%" are not dropped', pg_catalog.format(names, '_fold') USING DETAIL = 'The run does not find its table "'
                OPERATOR(pg_catalog.||) output_table OPERATOR(pg_catalog.||) '" any more, by which it knows them.';
        END IF;
        RETURN;
    END IF;
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    EXECUTE pg_catalog.format('SELECT %scross_validate_test($1, $2, $3)', own) INTO statement USING models, plan, fold;
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
    RAISE NOTICE '%', statement;
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    IF fold OPERATOR(pg_catalog.=) (plan OPERATOR(pg_catalog.->>) 'folds')::pg_catalog.int4 THEN
        EXECUTE pg_catalog.format('SELECT %scross_validate_means($1, $2)', own) USING models, plan;
    ELSE
        EXECUTE pg_catalog.format('SELECT %scross_validate_fold($1, $2)', own) INTO statement USING plan, next;
        EXECUTE pg_catalog.format('SELECT %srun_closing(%L, ''cross_validate'', %L)', own,
            pg_catalog.format('SELECT %scross_validate_end($1, %L, %s)', own, plan, next), output_table);
        EXECUTE statement;
    END IF;
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
END $$;
COMMENT ON FUNCTION hopper.cross_validate_end(text, json, integer) IS
    'part of cross_validate(): what a run of it closes a fold with: its test, and the next fold; of a run that was cancelled (no models): what was made goes';

-- Errors come without the statements of cross_validate_within().
CREATE FUNCTION hopper.cross_validate(
    source_table text,
    output_table text,
    dependent_varname text,
    independent_varname hopper.columns DEFAULT '*',
    folds integer DEFAULT 5,
    num_iterations integer DEFAULT 20,
    model_selection_table text DEFAULT NULL,
    recipe text DEFAULT NULL,
    options jsonb DEFAULT '{}',
    treatments jsonb DEFAULT NULL,
    label_kind text DEFAULT NULL,
    group_varname text DEFAULT NULL,
    validation_fraction double precision DEFAULT NULL,
    seed bigint DEFAULT 0)
RETURNS TABLE (mst_key integer, metric text, rank bigint, mean double precision, deviation double precision, fold_values double precision[])
    AS 'MODULE_PATHNAME', 'hopper_sql_within' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.cross_validate(text, text, text, hopper.columns, integer, integer, text, text, jsonb, jsonb, text, text,
    double precision, bigint) IS
    'k-fold cross-validation: trains all configurations on all but one fold of a table and tests them on that fold, for each fold; returns mean and deviation of each metric

Task: 4.95 train
source_table: table or view, one example per row
output_table: table to make, with each value of each configuration and fold; <output_table>_folds has the rows with their folds, <output_table>_means what the call returns
dependent_varname: column to predict; rows where it is NULL are left out
independent_varname: columns of features, as training_preprocessor() takes them; by itself all
folds: number of folds, which are trained at the same time as far as threads have room and memory allows
num_iterations: passes over the training rows of a fold, for each configuration
model_selection_table: configurations to compare, which fit the columns of each fold; or
recipe: a recipe of tabular(), whose network is written for the columns of each fold
options: what is to differ from the recipe, a JSON object, or a list of them for several configurations
treatments: what becomes of columns, by name, as training_preprocessor() takes it; statistics are those of each fold''s training rows
label_kind: ''class'' or ''value'', as training_preprocessor() takes it; folds have the same part of each class
group_varname: column whose rows of the same value are in one fold
validation_fraction: this part of the training rows of a fold chooses the epoch, where configurations want one chosen; by itself 0.2 with a recipe, else none
seed: another seed, other folds and random numbers; the same seed, the same result
Example:
SELECT mst_key, metric, mean, deviation FROM hopper.cross_validate(source_table := ''points'', output_table := ''compared'',
    dependent_varname := ''y'', independent_varname := ''a, b'', folds := 3, num_iterations := 2, model_selection_table := ''configs'');';
