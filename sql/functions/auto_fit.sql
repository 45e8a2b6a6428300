CREATE FUNCTION hopper.auto_fit_within(source_table text, dependent_varname text, model_table text, seconds double precision, treatments jsonb,
    seed bigint, group_varname text, time_varname text, replace boolean, test_fraction double precision, label_kind text)
RETURNS TABLE (step integer, what text, result text, statement text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
#variable_conflict use_variable
-- Types, too, would be found in the caller's path.
DECLARE
    -- What the caller names is looked up by the caller's path, all else in pg_catalog.
    callers CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    safe CONSTANT pg_catalog.text := 'pg_catalog, pg_temp';
    -- Nothing is told of models that are gone when the call ends.
    told CONSTANT pg_catalog.text := pg_catalog.current_setting('client_min_messages');
    quiet CONSTANT pg_catalog.text := CASE WHEN told OPERATOR(pg_catalog.=) ANY (ARRAY['error', 'fatal', 'panic']) THEN told ELSE 'warning' END;
    -- By it a view is known again.
    kept_apart CONSTANT pg_catalog.text := 'rows that auto_fit() keeps apart';
    again CONSTANT pg_catalog.text := CASE WHEN replace THEN ', replace := true' ELSE '' END;
    began CONSTANT pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    own pg_catalog.text;
    source pg_catalog.regclass;
    label pg_catalog.text;
    given pg_catalog.text[];
    -- For messages, which put names in quotes: the table's, and of the columns that are given.
    shown pg_catalog.text;
    shown_columns pg_catalog.text[];
    -- Before work begins: pairs of what is to be made and how its name ends.
    outputs CONSTANT pg_catalog.text[] := ARRAY[['search', ''], ['configs', 'best'], ['packed', 'packed'], ['test', 'test_packed'],
        ['networks', 'networks'], ['view', 'rows'], ['view', 'test_rows'], ['steps', 'steps'], ['passing', 'probe'], ['passing', 'linear']];
    replaces pg_catalog.bool;
    -- The views and the table of steps that are replaced, and what others may do with them.
    replaced pg_catalog.regclass[];
    rights pg_catalog.text[];
    -- The name of the models and of what goes with them, for format(); and these.
    names pg_catalog.text;
    packed pg_catalog.text;
    aside pg_catalog.text;
    test_packed pg_catalog.text;
    kept_rows pg_catalog.text;
    test_view pg_catalog.text;
    networks pg_catalog.text;
    probed pg_catalog.text;
    compared pg_catalog.text;
    named pg_catalog.text;
    named_type pg_catalog.text;
    -- Of several columns that one query looks at, and what it finds in each.
    columns pg_catalog.text[];
    infinite pg_catalog.int8[];
    places pg_catalog.int4[];
    leaks pg_catalog.json[];
    leak pg_catalog.json;
    kept pg_catalog.text;
    kind pg_catalog.text;
    classes pg_catalog.int4;
    metrics pg_catalog.text;
    options pg_catalog.text;
    treated pg_catalog.jsonb;
    network pg_catalog.record;
    probe pg_catalog.record;
    linear pg_catalog.text;
    kept_steps pg_catalog.regclass;
    tell pg_catalog.text;
    begun CONSTANT pg_catalog.text := ', begun ' OPERATOR(pg_catalog.||) began::pg_catalog.text;
    made pg_catalog.text;
    plan pg_catalog.json;
    -- A run is made of the search, which trains later, and does the rest at its end.
    later pg_catalog.bool;
    -- Of the test: its rows, and what a constant makes of them.
    test_rows pg_catalog.int8;
    guess pg_catalog.float8;
    -- Seconds: of predicting the rows of validation, of what comes behind the search, and when the search is to end.
    judging pg_catalog.float8;
    ahead pg_catalog.float8;
    until pg_catalog.float8;
    n pg_catalog.int8;
    rows pg_catalog.int8;
    learns pg_catalog.bool;
    -- What the network may differ from the recipe in, operations of an example in it and in the linear model, those of a second, at first a
    -- guess, seconds that it may take, and iterations that train it.
    sizes CONSTANT pg_catalog.text[] := ARRAY['', ', "hidden": [64, 64, 64]', ', "hidden": [64, 64, 64], "frequencies": 0', ', "hidden": [16], "frequencies": 0'];
    size pg_catalog.text;
    work pg_catalog.float8;
    linear_work pg_catalog.float8;
    speed pg_catalog.float8 := 2e10;
    spare pg_catalog.float8;
    enough pg_catalog.int4;
    operations pg_catalog.text;
    total pg_catalog.float8;
    iterations pg_catalog.int4;
    trials pg_catalog.int4;
BEGIN
    PERFORM pg_catalog.set_config('search_path', safe, true);
    own := (SELECT quote_ident(n.nspname) || '.' FROM pg_extension e JOIN pg_namespace n
        ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper');
    IF source_table IS NULL OR dependent_varname IS NULL OR model_table IS NULL THEN
        RAISE EXCEPTION 'source_table, dependent_varname and model_table must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    EXECUTE format('SELECT %snames_like(%L, ''model_table'', ''packed_validation_summary'')', own, model_table) INTO names;
    packed := format(names, '_packed');
    aside := format(names, '_packed_validation');
    test_packed := format(names, '_test_packed');
    kept_rows := format(names, '_rows');
    test_view := format(names, '_test_rows');
    networks := format(names, '_networks');
    probed := format(names, '_probe');
    compared := format(names, '_linear');
    -- NaN is more than all numbers.
    IF seconds IS NULL OR NOT (seconds >= 1 AND seconds < 'Infinity') THEN
        RAISE EXCEPTION 'seconds must be 1 or more, and finite' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_typeof(treatments) <> 'object' THEN
        RAISE EXCEPTION 'treatments must be a JSON object' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'For example ''{"customer_id": "drop", "income": "log"}''.';
    END IF;
    IF test_fraction IS NULL OR NOT (test_fraction = 0 OR test_fraction BETWEEN 0.01 AND 0.9) THEN
        RAISE EXCEPTION 'test_fraction must be 0, or 0.01 to 0.9' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF label_kind NOT IN ('class', 'value') THEN
        RAISE EXCEPTION 'label_kind must be "class" or "value"' USING ERRCODE = 'invalid_parameter_value';
    END IF;

    PERFORM pg_catalog.set_config('search_path', callers, true);
    BEGIN
        source := source_table::pg_catalog.regclass;
    EXCEPTION WHEN invalid_name OR undefined_table THEN
        PERFORM pg_catalog.set_config('search_path', safe, true);
        named := (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE lower(c.relname) = lower(source_table) AND c.relkind IN ('r', 'v', 'm', 'f', 'p') ORDER BY 1 LIMIT 1);
        RAISE EXCEPTION 'relation "%" does not exist', source_table USING ERRCODE = 'undefined_table',
            HINT = coalesce('Perhaps you meant ' || quote_literal(named) || '.', 'A name with capital letters or blanks is written in double quotes.');
    END;
    EXECUTE pg_catalog.format('SELECT %sclaim_names(%L, %L, %L, $1)', own, model_table, outputs, replace) INTO replaces USING source;
    EXECUTE pg_catalog.format('SELECT %srun_closing(NULL)', own) INTO later;
    PERFORM pg_catalog.set_config('search_path', safe, true);

    -- Rows that nothing sees before the end. Rows that are equal but for the label are on one side; rows without a label are left out.
    step := 1;
    what := 'split';
    shown := (SELECT c.relname FROM pg_class c WHERE c.oid = source);
    IF later AND (SELECT c.relpersistence = 't' FROM pg_class c WHERE c.oid = source) THEN
        RAISE EXCEPTION '"%" is temporary', shown USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Views of it would go with the session, and the run stays.', HINT = 'Copy it to a table that stays.';
    END IF;
    EXECUTE format('SELECT ARRAY[%1$ssource_column($1, $2, ''dependent_varname''), %1$ssource_column($1, $3, ''group_varname''),'
        ' %1$ssource_column($1, $4, ''time_varname'')]', own) INTO given USING source, dependent_varname, group_varname, time_varname;
    label := given[1];
    shown_columns := ARRAY(SELECT (SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = source AND a.attnum > 0 AND quote_ident(a.attname) = given[i])
        FROM generate_series(1, 3) AS i ORDER BY i);
    IF EXISTS (SELECT 1 FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = source AND a.attnum > 0
        AND quote_ident(a.attname) = label AND t.typcategory = 'A') THEN
        RAISE EXCEPTION 'column "%" of "%" is an array', shown_columns[1], shown USING ERRCODE = 'datatype_mismatch',
            DETAIL = 'auto_fit() learns to predict one value.';
    END IF;
    EXECUTE format('SELECT %ssource_hash($1, $2, 0, $3)', own) INTO kept USING source, given[2], CASE WHEN group_varname IS NULL THEN label END;
    IF test_fraction = 0 THEN
        kept := 'false';
    ELSIF group_varname IS NULL AND time_varname IS NULL THEN
        kept := format('pg_catalog.abs(%s OPERATOR(pg_catalog.%%) 1000) OPERATOR(pg_catalog.<) %s', kept, round(1000 * test_fraction));
    ELSE
        -- As many whole groups, or latest times, as come nearest to the fraction of the rows.
        IF time_varname IS NULL THEN
            named_type := 'pg_catalog.int8';
        ELSE
            kept := 't.' || given[3];
            named_type := (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
                WHERE a.attrelid = source AND a.attnum > 0 AND quote_ident(a.attname) = given[3]);
        END IF;
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT s.k::pg_catalog.text FROM (SELECT g.k, pg_catalog.sum(g.n) OVER (ORDER BY g.k DESC) AS upto,'
            ' pg_catalog.sum(g.n) OVER () AS total FROM (SELECT %s AS k, pg_catalog.count(*) AS n FROM %s AS t WHERE %s IS NOT NULL GROUP BY 1) AS g'
            ' WHERE g.k IS NOT NULL) AS s WHERE s.upto OPERATOR(pg_catalog.<) s.total'
            ' ORDER BY pg_catalog.abs(s.upto OPERATOR(pg_catalog.-) (s.total OPERATOR(pg_catalog.*) %s)), s.upto LIMIT 1', kept, source, label,
            test_fraction::pg_catalog.numeric) INTO named;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        IF named IS NULL THEN
            RAISE EXCEPTION 'column "%" of "%" holds no two values', coalesce(shown_columns[3], shown_columns[2]), shown
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Its rows are not separated, so that none would be left to train on.';
        END IF;
        kept := format('(%s) OPERATOR(pg_catalog.>=) %L::%s', kept, named, named_type);
    END IF;
    statement := CASE WHEN replaces THEN format('DROP VIEW IF EXISTS %s, %s; ', kept_rows, test_view) ELSE '' END
        || format('CREATE VIEW %1$s AS SELECT * FROM %2$s AS t WHERE %5$s IS NOT NULL AND NOT coalesce(%3$s, false);'
        ' CREATE VIEW %4$s AS SELECT * FROM %2$s AS t WHERE %5$s IS NOT NULL AND %3$s;',
        kept_rows, source, kept, test_view, label);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE pg_catalog.format('SELECT ARRAY[pg_catalog.to_regclass(%L), pg_catalog.to_regclass(%L), pg_catalog.to_regclass(%L)]', kept_rows, test_view,
        pg_catalog.format(names, '_steps')) INTO replaced;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    -- Rows that a view shows are those that its owner sees: the rights of another owner's are not for this one.
    rights := ARRAY(SELECT format('GRANT %s ON TABLE %s TO %s%s', a.privilege_type, c.oid::regclass,
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
        FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = ANY (replaced) AND a.grantee <> c.relowner AND pg_get_userbyid(c.relowner) = current_user);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement;
    EXECUTE pg_catalog.format('COMMENT ON VIEW %1$s IS %3$L; COMMENT ON VIEW %2$s IS %3$L', kept_rows, test_view, kept_apart OPERATOR(pg_catalog.||) begun);
    IF replaces THEN
        EXECUTE pg_catalog.format('DROP TABLE IF EXISTS %s', pg_catalog.format(names, '_steps'));
    END IF;
    -- Greenplum would tell by what it distributes seven rows.
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    EXECUTE pg_catalog.format('CREATE TABLE %1$s (step pg_catalog.int4, what pg_catalog.text, result pg_catalog.text, statement pg_catalog.text);'
        ' COMMENT ON TABLE %1$s IS %2$L', pg_catalog.format(names, '_steps'), 'what auto_fit() did' OPERATOR(pg_catalog.||) begun);
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
    FOREACH made IN ARRAY coalesce(rights, '{}') LOOP
        EXECUTE made;
    END LOOP;
    EXECUTE pg_catalog.format('SELECT %L::pg_catalog.regclass', pg_catalog.format(names, '_steps')) INTO kept_steps;
    EXECUTE pg_catalog.format('SELECT (SELECT pg_catalog.count(*) FROM %3$s), (SELECT pg_catalog.count(*) FROM (SELECT 1 FROM %1$s LIMIT 5) AS s),'
        ' EXISTS (SELECT 1 FROM %1$s AS t, (SELECT s.%2$s FROM %1$s AS s LIMIT 1) AS s'
        ' WHERE t.%2$s::pg_catalog.text OPERATOR(pg_catalog.<>) s.%2$s::pg_catalog.text)', kept_rows, label, test_view) INTO n, trials, learns;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    IF trials < 5 THEN
        RAISE EXCEPTION '"%" has too few rows', shown USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'With a label ' || trials || ' are left to train on, of 5 that are needed.';
    ELSIF n = 0 AND test_fraction > 0 THEN
        RAISE EXCEPTION '"%" has too few different rows', shown USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'None with a label is left for the test. Rows that are equal but for the label are on one side.',
            HINT = 'Keep none: test_fraction := 0.';
    ELSIF NOT learns THEN
        RAISE EXCEPTION 'column "%" of "%" holds one value only', shown_columns[1], shown USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'In the rows to train on there is nothing to learn.';
    END IF;
    result := CASE WHEN n > 0 THEN n || ' rows are kept for the test' ELSE 'all rows are for training and validation' END;
    tell := format('INSERT INTO %s VALUES ($1, $2, $3, $4)', kept_steps);
    EXECUTE tell USING step, what, result, statement;

    step := 2;
    what := 'pack';
    EXECUTE format('SELECT %ssource_treatments($1, $2, $3)', own) INTO treated USING source, treatments, given;
    -- What is infinite no treatment takes.
    SELECT array_agg(a.attname::text ORDER BY a.attnum), string_agg(CASE WHEN t.oid IN ('float4'::regtype, 'float8'::regtype)
            THEN format('t.%I OPERATOR(pg_catalog.=) ANY (''{%sInfinity,-Infinity}''::pg_catalog.float8[])', a.attname,
                CASE WHEN quote_ident(a.attname) = label THEN 'NaN,' ELSE '' END)
            WHEN t.oid = 'numeric'::regtype THEN format('t.%I::pg_catalog.text OPERATOR(pg_catalog.=) ANY (''{%sInfinity,-Infinity}''::pg_catalog.text[])',
                a.attname, CASE WHEN quote_ident(a.attname) = label THEN 'NaN,' ELSE '' END)
            ELSE format('NOT pg_catalog.isfinite(t.%I)', a.attname) END, ' OR NULL), pg_catalog.count(' ORDER BY a.attnum) INTO columns, made
        FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid JOIN pg_type t ON t.oid = CASE d.typtype WHEN 'd' THEN d.typbasetype ELSE d.oid END
        WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped AND coalesce(treated->>a.attname::text, '') <> 'drop'
            AND t.oid IN ('float4'::regtype, 'float8'::regtype, 'numeric'::regtype, 'date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype)
            AND quote_ident(a.attname) <> ALL (array_remove(given[2:3], NULL));
    IF made IS NOT NULL THEN
        -- One look at the rows for all columns, of which there may be hundreds.
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT ARRAY[pg_catalog.count(%s OR NULL)] FROM %s AS t', made, source) INTO infinite;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        SELECT c.name, c.n INTO named, n FROM (SELECT unnest(columns) AS name, unnest(infinite) AS n) AS c WHERE c.n > 0 LIMIT 1;
        IF named IS NOT NULL THEN
            RAISE EXCEPTION 'column "%" of "%" holds % in % %', named, shown, CASE WHEN quote_ident(named) = label THEN 'NaN or infinity'
                ELSE 'an infinite value' END, n, CASE n WHEN 1 THEN 'row' ELSE 'rows' END USING ERRCODE = 'invalid_parameter_value',
                HINT = CASE WHEN quote_ident(named) = label THEN 'Make NULL of it in a view: rows without a label are left out.'
                    ELSE 'Make NULL or a number of it in a view, or leave the column out: treatments := '
                        || quote_literal(json_build_object(named, 'drop')) || '.' END;
        END IF;
    END IF;
    statement := format('SELECT %straining_preprocessor(source_table := %L, output_table := %L, dependent_varname := %L,'
        ' independent_varname := ''*'', validation_fraction := 0.2, seed := %s, treatments := %L%s%s%s)',
        own, kept_rows, packed, label, seed, treated, coalesce(', label_kind := ' || quote_literal(label_kind), ''),
        coalesce(', group_varname := ' || quote_literal(given[2]), '') || coalesce(', time_varname := ' || quote_literal(given[3]), ''), again);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement;
    EXECUTE pg_catalog.format('SELECT pg_catalog.count(*) FROM %sdescribe_features(%L)', own,
        packed) INTO n;
    EXECUTE pg_catalog.format('SELECT s.label_kind, s.num_classes[1], s.n_rows FROM %s AS s', pg_catalog.format(names, '_packed_summary'))
        INTO kind, classes, rows;
    -- The test's rows as they are now: a run ends in another session, with other settings, and the table may change meanwhile.
    IF test_fraction OPERATOR(pg_catalog.>) 0 THEN
        EXECUTE pg_catalog.format('SELECT %svalidation_preprocessor(source_table := %L, output_table := %L, packed_table := %L%s)', own,
            test_view, test_packed,
            packed, again) INTO test_rows;
        EXECUTE pg_catalog.format(CASE WHEN kind OPERATOR(pg_catalog.=) 'class' THEN 'SELECT pg_catalog.max(c)::pg_catalog.float8 OPERATOR(pg_catalog./) pg_catalog.sum(c)::pg_catalog.float8'
            ' FROM (SELECT pg_catalog.count(*) AS c FROM %2$s GROUP BY %1$s) AS g' ELSE 'SELECT pg_catalog.stddev_pop(%1$s)::pg_catalog.float8 FROM %2$s' END,
            label, test_view) INTO guess;
    END IF;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    -- Of a table without a primary key. In 10,000 rows measures and counts repeat themselves.
    SELECT array_agg(a.attname::text ORDER BY a.attnum), string_agg(format('r.%I::pg_catalog.int8', a.attname), ', ' ORDER BY a.attnum) INTO columns, made
        FROM pg_attribute a WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
            AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) AND NOT treated ? a.attname::text
            AND quote_ident(a.attname) <> ALL (array_remove(given, NULL));
    IF made IS NOT NULL THEN
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT ARRAY(SELECT c.place FROM (SELECT pg_catalog.generate_subscripts(s.whole, 1) AS place, pg_catalog.unnest(s.whole) AS value'
            ' FROM (SELECT ARRAY[%s] AS whole FROM %s AS r LIMIT 10000) AS s) AS c GROUP BY c.place HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>=) 100'
            ' AND pg_catalog.count(DISTINCT c.value) OPERATOR(pg_catalog.=) pg_catalog.count(*) ORDER BY c.place)', made, kept_rows) INTO places;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        FOR named IN SELECT columns[p] FROM unnest(places) AS p LOOP
            RAISE NOTICE 'column "%" has another value in each row', named USING
                HINT = 'Where it only tells rows apart, leave it out: treatments := ' || quote_literal(json_build_object(named, 'drop')) || '.';
        END LOOP;
    END IF;
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE pg_catalog.format('SELECT pg_catalog.array_agg(pg_catalog.row_to_json(l)) FROM %sleakage_suspects(%L) AS l', own, packed) INTO leaks;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    FOREACH leak IN ARRAY coalesce(leaks, '{}') LOOP
        RAISE WARNING 'column "%" alone tells the label%', leak->>'feature', CASE kind WHEN 'class' THEN ' of ' || round((leak->>'share')::numeric * 100, 1)
            || ' % of the rows' ELSE '' END USING
            HINT = 'Where it is not known yet when a row is to be predicted, leave it out: treatments := '
                || quote_literal(json_build_object(leak->>'feature', 'drop')) || '.';
    END LOOP;
    result := n || CASE n WHEN 1 THEN ' column is a feature' ELSE ' columns are features' END || ', the label is ' || CASE kind WHEN 'class' THEN 'one of ' || classes || ' classes' ELSE 'a number' END;
    EXECUTE tell USING step, what, result, statement;

    step := 3;
    what := 'network';
    metrics := CASE WHEN kind <> 'class' THEN '["root_mean_squared_error", "r2_score"]'
        WHEN classes = 2 THEN '["accuracy", "auc"]' ELSE '["accuracy"]' END;
    -- The epoch is chosen by what models are compared by.
    metrics := '"metrics": ' || metrics || ', "monitor": "val_loss"' || CASE kind WHEN 'class' THEN ', "label_smoothing": 0' ELSE '' END;
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    -- The first of these of which a thread trains two in the time, as operations are counted, with the way back three times as many, and of which
    -- one iteration says that it has the time for the fewest. Of many rows few iterations are many steps.
    enough := greatest(3, least(8, ceil(1e5 / rows)));
    operations := format('SELECT d.flops FROM %sdescribe_model(%L, $1, %L) AS d WHERE d.layer_index IS NULL', own, networks, packed);
    FOREACH size IN ARRAY sizes LOOP
        statement := format('SELECT * FROM %stabular(model_arch_table := %L, packed_table := %L, recipe := ''realmlp'', options := %L, replace := true)',
            own, networks, packed, format('{"iterations": 1, %s%s}', metrics, size));
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE statement INTO network;
        EXECUTE operations INTO work USING network.model_id;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        -- Where packing has taken the time, a network of which one iteration is short is nevertheless none of the smallest.
        spare := 0.5 * greatest(seconds - extract(epoch FROM clock_timestamp() - began), 0.4 * seconds);
        CONTINUE WHEN 3 * work * rows * enough / speed > spare AND size <> sizes[array_upper(sizes, 1)];
        statement := format('SELECT * FROM %sfit(packed_table := %L, model_table := %L, model_arch_table := %L, model_id := %s,'
            ' compile_params := %L, fit_params := %L, num_iterations := 1, validation_table := %L)', own, packed, probed, networks, network.model_id,
            network.compile_params, network.fit_params, aside);
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT %sfit_together($1)', own) USING ARRAY[statement];
        EXECUTE pg_catalog.format('SELECT threads, (SELECT seconds_training FROM %s) AS seconds FROM %s',
            pg_catalog.format(names, '_probe_info'), pg_catalog.format(names, '_probe_summary')) INTO probe;
        judging := pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) began);
        EXECUTE pg_catalog.format('SELECT %sevaluate(model_table := %L, packed_table := %L)', own, probed, aside);
        judging := pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) began) OPERATOR(pg_catalog.-) judging;
        EXECUTE pg_catalog.format('SELECT %sdrop_model(%L)', own, probed);
        PERFORM pg_catalog.set_config('search_path', safe, true);
        EXIT WHEN 3 * probe.seconds <= spare;
        speed := 3 * work * rows / greatest(probe.seconds, 0.001);
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', callers, true);
    -- Networks of an earlier search go; what the user has added stays.
    EXECUTE pg_catalog.format('DELETE FROM %s WHERE name OPERATOR(pg_catalog.~~) %L', networks, 'searched {%');
    -- What a linear model makes of the columns: for comparison, and it may be the best one. Its passes get a tenth of the time, each a fraction of the
    -- probe's, unless that is small, too.
    EXECUTE pg_catalog.format('SELECT %smlp(model_arch_table := %L, packed_table := %L, hidden := ''{}'', name := ''linear''%s)', own,
        networks, packed, again) INTO n;
    EXECUTE operations INTO linear_work USING n;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    linear := format('SELECT %sfit(packed_table := %L, model_table := %L, model_arch_table := %L, model_id := %s, compile_params := %L,'
        ' fit_params := ''{"batch_size": 32, "monitor": "val_loss", "restore_best": true}'', num_iterations := %s, validation_table := %L)', own,
        packed, compared, networks, n, format('{"loss": %s, "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.01}}, %s}',
            network.compile_params::json->'loss', split_part(metrics, ', "monitor"', 1)),
        greatest(1, least(100, floor(0.2 * spare / greatest(probe.seconds * greatest(0.05, 2 * linear_work / work), 0.001)))),
        aside);
    IF NOT later THEN
        PERFORM pg_catalog.set_config('search_path', callers, true);
        EXECUTE pg_catalog.format('SELECT %sfit_together($1)', own) USING ARRAY[linear];
        PERFORM pg_catalog.set_config('search_path', safe, true);
        linear := NULL;
    END IF;
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
    -- Rows for the test are predicted by four models, the search ends with an iteration, and a model is made of the ensemble.
    ahead := 6 * judging + 0.5 * probe.seconds;
    until := extract(epoch FROM clock_timestamp() - began);
    total := greatest(0.97 * (seconds - until) - ahead, 0);
    until := until + total;
    total := total * probe.threads / greatest(probe.seconds, 0.001);
    -- Few long trainings beside many short ones; none is too short, where two of a thread can be long enough.
    iterations := greatest(3, least(enough, floor(total / (2 * probe.threads))), least(64, floor(total / 8)));
    -- Each model is judged for the ensemble, by its predictions and in the selection.
    until := until - least(2 * judging * least(total / iterations, 200), 0.3 * (until - extract(epoch FROM clock_timestamp() - began)));
    -- Twice as many as there is time for, which ends the search: the probe's iteration may have been slower than others are.
    trials := greatest(2, least(200, floor(2 * total / iterations)));
    -- Where a number has thresholds, only high frequencies find them: sigma has the range of pytabkit's space "tabarena".
    options := format('{"iterations": %s, %s%s, "dropout": [0.0, 0.15, 0.3], "weight_decay": [0.0, 0.02],'
        ' "sigma": {"type": "float", "low": 0.01, "high": 50, "scale": "log"},'
        ' "learning_rate": {"type": "float", "low": %s, "high": %s, "scale": "log"}}', iterations, metrics, size,
        CASE kind WHEN 'class' THEN 0.01 ELSE 0.05 END, CASE kind WHEN 'class' THEN 0.1 ELSE 0.3 END);
    statement := format('SELECT * FROM %stabular(model_arch_table := %L, packed_table := %L, recipe := ''realmlp'', options := %L,'
        ' name := ''searched''%s)', own, networks, packed, options, again);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO network;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    result := 'RealMLP, ' || iterations || ' iterations each' || CASE WHEN size <> '' THEN '; with' || substr(size, 2) || ', for the time' ELSE '' END;
    EXECUTE tell USING step, what, result, statement;

    step := 4;
    what := 'search';
    statement := format('SELECT * FROM %sautoml(packed_table := %L, model_table := %L, model_arch_table := %L,'
        ' model_selection_table := %L, model_id_list := ARRAY[%s], space := %L, automl_method := ''random'','
        ' automl_params := ''num_configs=%s, num_iterations=%s'', objective := ''loss'', parallel := %s, max_seconds := %s,'
        ' cut := true, validation_table := %L, seed := %s%s)',
        own, packed, model_table, networks, format(names, '_best'), network.model_id,
        -- Where others work beside it an iteration takes longer than the probe's: few trials at once, so that the search soon knows how long.
        network.space, trials, iterations, probe.threads,
        round(greatest(until - extract(epoch FROM clock_timestamp() - began), 0.1)::numeric, 2),
        aside, seed, again);
    plan := (SELECT row_to_json(p) FROM (SELECT names, source_table, kind, classes, seconds, test_fraction, began, later,
        until AS searched, ahead - 0.5 * probe.seconds AS ahead, judging, replaces, test_rows, guess, statement, linear, begun) AS p);
    made := format('SELECT %sauto_fit_end($1, %L)', own, plan);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE pg_catalog.format('SELECT %srun_closing(%L)', own, made) INTO later;
    EXECUTE statement;
    IF NOT later THEN
        EXECUTE made USING model_table;
    END IF;
    RETURN QUERY EXECUTE pg_catalog.format('SELECT t.step, t.what, t.result, t.statement FROM %s AS t ORDER BY t.step', kept_steps);
    PERFORM pg_catalog.set_config('search_path', callers, true);
END $$;
COMMENT ON FUNCTION hopper.auto_fit_within(text, text, text, double precision, jsonb, bigint, text, text, boolean, double precision, text) IS
    'part of auto_fit(): all of it, or what comes before the search where a run is made of that';

CREATE FUNCTION hopper.auto_fit_end(models text, plan json) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET standard_conforming_strings = on AS $$
DECLARE
    callers CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
    safe CONSTANT pg_catalog.text := 'pg_catalog, pg_temp';
    within pg_catalog.text := ' +- ';
    told CONSTANT pg_catalog.text := pg_catalog.current_setting('client_min_messages');
    quiet CONSTANT pg_catalog.text := CASE WHEN told OPERATOR(pg_catalog.=) ANY (ARRAY['error', 'fatal', 'panic']) THEN told ELSE 'warning' END;
    own pg_catalog.text;
    tell pg_catalog.text;
    kept_steps pg_catalog.regclass;
    -- Of the views and the table of steps: whether they are those of this call.
    known pg_catalog.bool[] := '{}';
    statement pg_catalog.text;
    -- For format(): the names of what goes with the models, and with those that the run has made.
    names pg_catalog.text;
    ended pg_catalog.text;
    kind pg_catalog.text;
    classes pg_catalog.int4;
    began pg_catalog.timestamptz;
    elapsed pg_catalog.float8;
    keys pg_catalog.int4[];
    -- The linear model's table of metrics, the models' and their own, columns of both, and its number among them.
    from_infos pg_catalog.regclass;
    infos pg_catalog.regclass;
    kept_models pg_catalog.regclass;
    columns pg_catalog.text;
    linear_key pg_catalog.int4;
    -- The tables of the search, and those of them whose policies hold for their owner, too.
    tables pg_catalog.regclass[];
    forced pg_catalog.text[];
    search pg_catalog.record;
    best pg_catalog.record;
    tested pg_catalog.record;
    alone pg_catalog.record;
    linear pg_catalog.record;
    reach pg_catalog.float8;
    n pg_catalog.int8;
BEGIN
    PERFORM pg_catalog.set_config('search_path', safe, true);
    -- As in sparkline(): a sign where both database and client can have it.
    IF getdatabaseencoding() = 'UTF8' AND pg_client_encoding() = 'UTF8' THEN
        within := format(' %s ', chr(177));
    END IF;
    own := (SELECT quote_ident(n.nspname) || '.' FROM pg_extension e JOIN pg_namespace n
        ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper');
    names := plan->>'names';
    kind := plan->>'kind';
    classes := plan->>'classes';
    began := plan->>'began';
    FOR i IN 1..2 LOOP
        statement := format(names, CASE i WHEN 1 THEN '_rows' ELSE '_steps' END);
        kept_steps := NULL;
        PERFORM pg_catalog.set_config('search_path', callers, true);
        BEGIN
            kept_steps := statement::pg_catalog.regclass;
        EXCEPTION WHEN undefined_table THEN
            IF models IS NOT NULL AND i OPERATOR(pg_catalog.=) 2 THEN
                RAISE;
            END IF;
        END;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        known := known || coalesce(strpos(obj_description(kept_steps, 'pg_class'), plan->>'begun') > 0, false);
    END LOOP;
    IF models IS NULL THEN
        -- Cancelled. Tables of a later call stay, and those of an earlier one that were to be replaced are gone.
        IF NOT true = ANY (known) THEN
            RAISE NOTICE 'tables whose names begin with "%" are not dropped', format(names, '_')
                USING DETAIL = 'Those by which the run knows them, "' || format(names, '_rows') || '" and "' || format(names, '_steps')
                    || '", are gone, or are of a later call.';
            RETURN;
        ELSIF (plan->>'replaces')::bool THEN
            IF known[2] THEN
                EXECUTE format('INSERT INTO %s VALUES (4, ''search'', ''cancelled: the models are those of an earlier call'')', kept_steps);
            END IF;
            RETURN;
        END IF;
        FOREACH statement IN ARRAY ARRAY[CASE WHEN known[2] THEN format('DROP TABLE %s', kept_steps) END, format('DROP TABLE %s', format(names, '_networks')),
            CASE WHEN known[1] THEN format('DROP VIEW %s, %s', format(names, '_rows'), format(names, '_test_rows')) END,
            format('SELECT %sdrop_packed(%L)', own, format(names, '_packed')),
            CASE WHEN (plan->>'test_rows') IS NOT NULL THEN format('SELECT %sdrop_packed(%L)', own, format(names, '_test_packed')) END] LOOP
            CONTINUE WHEN statement IS NULL;
            BEGIN
                PERFORM pg_catalog.set_config('search_path', callers, true);
                EXECUTE statement;
            EXCEPTION WHEN others THEN
                RAISE NOTICE 'not done: %', statement USING DETAIL = sqlerrm;
            END;
        END LOOP;
        PERFORM pg_catalog.set_config('search_path', callers, true);
        RETURN;
    END IF;
    tell := format('INSERT INTO %s VALUES ($1, $2, $3, $4)', kept_steps);
    EXECUTE format('SELECT %snames_like($1, ''model_table'', ''summary'')', own) INTO ended USING models;
    -- They may have the policies of those whose place they took, which are not for what the call itself adds.
    statement := format('SELECT ARRAY[%L, %L, %L, %L]::pg_catalog.regclass[]', format(ended, ''), format(ended, '_info'), format(ended, '_summary'),
        format(ended, '_trials'));
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO tables;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    forced := ARRAY(SELECT c.oid::regclass FROM pg_class c WHERE c.oid = ANY (tables) AND to_json(c)->>'relforcerowsecurity' = 'true');
    PERFORM pg_catalog.set_config('search_path', callers, true);
    FOREACH statement IN ARRAY coalesce(forced, '{}') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY', statement);
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    statement := format('SELECT pg_catalog.count(*) AS configurations, (pg_catalog.array_agg(t.value ORDER BY t.place))[1] AS best_value FROM %s AS t'
        ' WHERE t.place IS NOT NULL', format(ended, '_trials'));
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO search;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    EXECUTE tell USING 4, 'search', search.configurations || ' configurations, the best has a validation loss of ' || round(search.best_value::numeric, 4),
        plan->>'statement';

    -- The linear model is one of them, by which it may be a member, or the best.
    PERFORM pg_catalog.set_config('search_path', callers, true);
    PERFORM pg_catalog.set_config('client_min_messages', quiet, true);
    IF (plan OPERATOR(pg_catalog.->>) 'linear') IS NOT NULL THEN
        EXECUTE pg_catalog.format('SELECT %sfit_together($1)', own) USING ARRAY[plan OPERATOR(pg_catalog.->>) 'linear'];
    END IF;
    EXECUTE pg_catalog.format('SELECT %L::pg_catalog.regclass, %L::pg_catalog.regclass, %L::pg_catalog.regclass, pg_catalog.max(i.mst_key)'
        ' OPERATOR(pg_catalog.+) 1 FROM %2$s AS i', pg_catalog.format(names, '_linear_info'), pg_catalog.format(ended, '_info'),
        pg_catalog.format(ended, '')) INTO from_infos, infos, kept_models, linear_key;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    -- Not those that an event trigger has added, which fill themselves.
    SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO columns FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname
        WHERE a.attrelid = from_infos AND b.attrelid = infos AND a.attnum > 0 AND NOT a.attisdropped AND NOT b.atthasdef
            AND coalesce(to_json(b)->>'attidentity', '') = '' AND a.attname <> 'mst_key';
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE pg_catalog.format('INSERT INTO %s (mst_key, model_weights, model_arch) SELECT %s, l.model_weights, l.model_arch FROM %s AS l',
        kept_models, linear_key, pg_catalog.format(names, '_linear'));
    EXECUTE pg_catalog.format('INSERT INTO %1$s (mst_key, %2$s) SELECT %3$s, %2$s FROM %4$s AS l', infos, columns, linear_key, from_infos);
    EXECUTE pg_catalog.format('SELECT %sdrop_model(%L)', own, pg_catalog.format(names, '_linear'));
    PERFORM pg_catalog.set_config('client_min_messages', told, true);
    PERFORM pg_catalog.set_config('search_path', safe, true);

    -- As many of the best as there is time for. A run may have waited, or been paused.
    elapsed := extract(epoch FROM clock_timestamp() - began);
    IF (plan->>'later')::bool THEN
        elapsed := least(elapsed, (plan->>'searched')::float8);
    END IF;
    n := greatest(2, floor(((plan->>'seconds')::float8 - elapsed - (plan->>'ahead')::float8) / greatest(2 * (plan->>'judging')::float8, 0.001)));
    statement := format('SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) %2$s THEN pg_catalog.array_agg(t.mst_key ORDER BY t.place) END'
        ' FROM %1$s AS t WHERE t.place IS NOT NULL', format(ended, '_trials'), n);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO keys;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    statement := format('SELECT * FROM %sensemble(model_table := %L, packed_table := %L, size := 20,%s rank_by := ''loss'')', own, models,
        format(names, '_packed_validation'), CASE WHEN keys IS NOT NULL THEN ' mst_keys := ' || quote_literal(keys[1:n] || linear_key) || ',' ELSE '' END);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO best;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    EXECUTE tell USING 5, 'ensemble', 'model ' || best.mst_key || ', of ' || array_length(best.members, 1)
        || CASE WHEN best.members = ARRAY[linear_key] THEN ' member, a linear model' WHEN linear_key = ANY (best.members) THEN ' members, a linear model among them'
            WHEN array_length(best.members, 1) = 1 THEN ' member' ELSE ' members' END
        || ', has a validation loss of ' || round(best.value::numeric, 4), statement;

    IF (plan->>'test_fraction')::float8 = 0 THEN
        EXECUTE tell USING 6, 'test', 'no rows are kept: evaluate() tests on others', NULL::text;
    ELSE
        PERFORM pg_catalog.set_config('search_path', callers, true);
        statement := pg_catalog.format('SELECT * FROM %sevaluate(model_table := %L, packed_table := %L, mst_key := %s)', own, models,
            pg_catalog.format(names, '_test_packed'), best.mst_key);
        EXECUTE statement INTO tested;
        EXECUTE pg_catalog.format('SELECT * FROM %sevaluate(model_table := %L, packed_table := %L, mst_key := %s)', own, models,
            pg_catalog.format(names, '_test_packed'), best.best_member) INTO alone;
        EXECUTE pg_catalog.format('SELECT * FROM %sevaluate(model_table := %L, packed_table := %L, mst_key := %s)', own, models,
            pg_catalog.format(names, '_test_packed'), linear_key) INTO linear;
        IF classes OPERATOR(pg_catalog.=) 2 THEN
            EXECUTE pg_catalog.format('SELECT %1$sauc_reach(pg_catalog.array_agg(p.label), pg_catalog.array_agg(p.outputs[1]))'
                ' FROM %1$spredict_packed(%2$L, %3$L, %4$s) AS p', own, models, pg_catalog.format(names, '_test_packed'), best.mst_key) INTO reach;
        END IF;
        PERFORM pg_catalog.set_config('search_path', safe, true);
        n := plan->>'test_rows';
        EXECUTE tell USING 6, 'test', tested.metrics_type[1] || ' ' || round(tested.metrics[1]::numeric, 4)
            -- Of a share: how far Wilson's 95 % reach. The normal approximation is sure of all where all were right.
            || CASE kind WHEN 'class' THEN within || round(((3.8415 / n * abs(tested.metrics[1] - 0.5)
                + sqrt(3.8415 / n * tested.metrics[1] * (1 - tested.metrics[1]) + power(3.8415 / n, 2) / 4)) / (1 + 3.8415 / n))::numeric, 4) ELSE '' END
            || coalesce(', ' || tested.metrics_type[2] || ' ' || round(tested.metrics[2]::numeric, 4) || coalesce(within || round(reach::numeric, 4), ''), '')
            || '; the best model alone ' || round(alone.metrics[1]::numeric, 4) || coalesce(', ' || round(alone.metrics[2]::numeric, 4), '')
            || '; a linear model ' || round(linear.metrics[1]::numeric, 4) || coalesce(', ' || round(linear.metrics[2]::numeric, 4), '')
            || '; a constant ' || round((plan->>'guess')::numeric, 4) || CASE WHEN kind <> 'class' THEN ', 0' WHEN classes = 2 THEN ', 0.5' ELSE '' END
            || CASE WHEN classes = 2 AND reach IS NULL THEN '; auc says nothing, all rows of the test are of one class' ELSE '' END,
            statement;
    END IF;

    -- The ensemble may have a higher validation loss than the model that is the best on these rows by chance.
    statement := format('SELECT s.best_mst_key FROM %s AS s', format(ended, '_summary'));
    PERFORM pg_catalog.set_config('search_path', callers, true);
    EXECUTE statement INTO n;
    PERFORM pg_catalog.set_config('search_path', safe, true);
    -- Of one member it is that model, but for the last digits of its loss.
    IF array_length(best.members, 1) = 1 AND n = best.best_member THEN
        best.mst_key := n;
    END IF;
    EXECUTE tell USING 7, 'next', 'predict() takes model ' || best.mst_key
        || CASE WHEN n <> best.mst_key THEN ' where mst_key := ' || best.mst_key || ' is given, else model ' || n ELSE '' END
        || CASE WHEN n = linear_key OR n = best.mst_key AND best.members = ARRAY[linear_key] THEN ', the linear one' ELSE '' END
        || '; ' || round(extract(epoch FROM clock_timestamp() - began)::numeric, 1) || ' s in all', format('SELECT %spredict(model_table := %L, source_table := %L, id_col := ..., output_table := ..., mst_key := %s)',
        own, models, plan->>'source_table', best.mst_key);
    PERFORM pg_catalog.set_config('search_path', callers, true);
    FOREACH statement IN ARRAY coalesce(forced, '{}') LOOP
        EXECUTE pg_catalog.format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', statement);
    END LOOP;
END $$;
COMMENT ON FUNCTION hopper.auto_fit_end(text, json) IS
    'part of auto_fit(): what comes behind the search, told in <model_table>_steps; of a search that was cancelled (no models): what was made before it goes';

-- Errors come without the statements of auto_fit_within().
CREATE FUNCTION hopper.auto_fit(
    source_table text,
    dependent_varname text,
    model_table text,
    seconds double precision DEFAULT 120,
    treatments jsonb DEFAULT NULL,
    seed bigint DEFAULT 0,
    group_varname text DEFAULT NULL,
    time_varname text DEFAULT NULL,
    replace boolean DEFAULT false,
    test_fraction double precision DEFAULT 0.2,
    label_kind text DEFAULT NULL)
RETURNS TABLE (step integer, what text, result text, statement text)
    AS 'MODULE_PATHNAME', 'hopper_sql_within' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.auto_fit(text, text, text, double precision, jsonb, bigint, text, text, boolean, double precision, text) IS
    'from a table as it is to an ensemble of the best networks: splits, packs, searches, ensembles and tests on rows that nothing has seen; a row for each step, with the statement that does it by hand

Task: 4.9 train
source_table: table or view, one example per row
dependent_varname: column to predict; rows where it is NULL are left out
model_table: name of the table of models to make; what else is made has names that begin with it
seconds: about how long it may take
treatments: what becomes of columns, by name, as training_preprocessor() takes it
seed: another seed, other random numbers; the same seed, the same result
group_varname: column whose rows of the same value are together in training, validation or test
time_varname: column of times: the latest rows are for the test, those before them for validation
replace: take the place of what an earlier call with this model_table has made, when all is done
test_fraction: share of the rows that nothing sees before the test; 0: none, all rows are for training and validation
label_kind: ''class'' or ''value'', as training_preprocessor() takes it; by itself it is chosen by the label''s type and values, which a NOTICE says of whole numbers
Example:
SELECT step, what, result FROM hopper.auto_fit(source_table := ''points'', dependent_varname := ''y'', model_table := ''auto'', seconds := 2);';
