-- What the functions of madlib.sql, which includes this file, share. They are in its transaction and in schema madlib.

-- ---------------------------------------------------------------- arguments

-- What a list of columns names.
CREATE FUNCTION madlib.names_in(list text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.array_agg(CASE WHEN name LIKE '"%'
        THEN pg_catalog.replace(pg_catalog.substr(name, 2, pg_catalog.length(name) - 2), '""', '"') ELSE name END ORDER BY i)
    FROM (SELECT pg_catalog.btrim(m[1]) AS name, i
          FROM pg_catalog.regexp_matches(list, '("(?:[^"]|"")*"|[^,"]+)', 'g') WITH ORDINALITY AS r(m, i)) AS names
    WHERE name <> ''
$$;
COMMENT ON FUNCTION madlib.names_in(text) IS 'names of columns in a list';

-- Several labels are of the outputs by their order; here outputs have names, which nothing asks for if no model has them.
CREATE FUNCTION madlib.outputs_in(list text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN pg_catalog.array_length(madlib.names_in(list), 1) > 1
        THEN (SELECT '{' || pg_catalog.string_agg(pg_catalog.to_json(name) || ': ' || pg_catalog.to_json(name), ', ' ORDER BY i) || '}'
              FROM pg_catalog.unnest(madlib.names_in(list)) WITH ORDINALITY AS n(name, i))
        ELSE list END
$$;
COMMENT ON FUNCTION madlib.outputs_in(text) IS 'label columns as model_hopper reads them';

-- Any label but an array is a class in MADlib. Numbers with a fraction are values here: nothing is trained on
-- classes of them.
CREATE FUNCTION madlib.label_kind_of(source_table text, dependent_varname text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN pg_catalog.bool_or(pg_catalog.format_type(atttypid, NULL) LIKE '%[]'
        OR pg_catalog.format_type(atttypid, NULL) IN ('real', 'double precision', 'numeric')) THEN NULL ELSE 'class' END
    FROM pg_catalog.pg_attribute
    WHERE attrelid = source_table::pg_catalog.regclass
      AND attname::text = ANY (madlib.names_in(dependent_varname)) AND attnum > 0 AND NOT attisdropped
$$;
COMMENT ON FUNCTION madlib.label_kind_of(text, text) IS 'how MADlib takes label columns';

-- 'metrics': ['a', 'b'] are two alternatives in a grid of MADlib's; [['a'], ['b']] says so here.
CREATE FUNCTION madlib.metrics_of(params text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    flat text := substring(params FROM '[''"]metrics[''"]\s*:\s*(\[[^][]*\])');
BEGIN
    RETURN CASE WHEN flat IS NULL THEN params
        ELSE replace(params, flat, regexp_replace(flat, '(''[^'']*''|"[^"]*")', '[\1]', 'g')) END;
END $$;
COMMENT ON FUNCTION madlib.metrics_of(text) IS 'a grid as model_hopper reads it';

-- MADlib does so on PostgreSQL without a word.
CREATE FUNCTION madlib.rules_of(distribution_rules text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF distribution_rules IS NULL OR distribution_rules = 'all_segments' OR pg_catalog.version() LIKE '%Greenplum%' THEN
        RETURN distribution_rules;
    END IF;
    RAISE NOTICE 'distribution_rules "%" has no effect: PostgreSQL keeps all data in one place', distribution_rules;
    RETURN 'all_segments';
END $$;
COMMENT ON FUNCTION madlib.rules_of(text) IS 'distribution rules that this server has';

-- Kernel 9.4 has to_regclass() of a constant alone.
CREATE FUNCTION madlib.relation(name text) RETURNS regclass LANGUAGE plpgsql STABLE AS $$
DECLARE
    found regclass;
BEGIN
    EXECUTE 'SELECT pg_catalog.to_regclass(' || pg_catalog.quote_literal(name) || ')' INTO found;
    RETURN found;
END $$;
COMMENT ON FUNCTION madlib.relation(text) IS 'the table of a name, NULL where there is none';

-- 'a.b' or '"B"' with a suffix
CREATE FUNCTION madlib.companion(name text, suffix text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN name LIKE '%"' THEN pg_catalog.left(name, -1) || '_' || suffix || '"' ELSE name || '_' || suffix END
$$;
COMMENT ON FUNCTION madlib.companion(text, text) IS 'name of a table that goes with another';

-- Tables of custom functions are in this schema, for who may create them here.
CREATE FUNCTION madlib.object_table_of(object_table text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT 'madlib.' || pg_catalog.quote_ident(pg_catalog.btrim(object_table, '"'))
$$;
COMMENT ON FUNCTION madlib.object_table_of(text) IS 'where MADlib has a table of custom functions';

CREATE FUNCTION madlib.usage(name text, functions text, topic text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN topic IN ('usage', 'help', '?', '') OR topic IS NULL THEN
            (SELECT pg_catalog.string_agg('madlib.' || p.proname || E'(\n    '
                || pg_catalog.replace(pg_catalog.pg_get_function_arguments(p.oid), ', ', E',\n    ') || ')', E'\n' ORDER BY p.oid)
             FROM pg_catalog.pg_proc p
             WHERE p.pronamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = 'madlib') AND p.proname = name
               AND p.prorettype = 'void'::pg_catalog.regtype)
            || coalesce(E'\n\nIt is, by the names of schema hopper:\n'
                || (SELECT pg_catalog.string_agg(line, E'\n') FROM hopper.help(functions) AS line WHERE functions IS NOT NULL), '')
        ELSE 'Say ''usage'' for arguments and an example.' END
$$;
COMMENT ON FUNCTION madlib.usage(text, text, text) IS 'what fn(''usage'') prints';

-- ---------------------------------------------------------------- tables

-- MADlib's summaries have names as they were given; hopper's have schemas.
CREATE FUNCTION madlib.name_packed(source_table text, output_table text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    EXECUTE 'UPDATE ' || madlib.companion(output_table, 'summary') || ' SET source_table = $1, output_table = $2'
        USING source_table, output_table;
END $$;
COMMENT ON FUNCTION madlib.name_packed(text, text) IS 'gives the summary of a packed table the names that were given';

-- A model's _info and _summary with MADlib's columns, in its order. What model_hopper knows beside that is then in
-- _metrics and _run, where its functions find it (src/pg/train/beside.c); when they change the model, the two get their
-- names again. `columns` is a query's list over the run "r", its configurations "i" and $1, which is `given`, with
-- "class_values" for the columns of classes. Of a single model there is no _info.
CREATE FUNCTION madlib.show_model(model text, given json, columns text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    in_schema text;
    name text;
    metrics text;
    run text;
    index_name text;
    labels text[];
    outputs json;
    classes text;
BEGIN
    SELECT n.nspname, c.relname INTO in_schema, name FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = model::pg_catalog.regclass;
    EXECUTE format('ALTER TABLE %I.%I RENAME TO %I', in_schema, name || '_info', name || '_metrics');
    EXECUTE format('ALTER TABLE %I.%I RENAME TO %I', in_schema, name || '_summary', name || '_run');
    metrics := format('%I.%I', in_schema, name || '_metrics');
    run := format('%I.%I', in_schema, name || '_run');
    SELECT c.relname INTO index_name FROM pg_catalog.pg_index JOIN pg_catalog.pg_class c ON c.oid = indexrelid
    WHERE indrelid = metrics::pg_catalog.regclass AND indisprimary;
    IF index_name = name || '_info_pkey' THEN
        EXECUTE format('ALTER INDEX %I.%I RENAME TO %I', in_schema, index_name, name || '_metrics_pkey');
    END IF;
    EXECUTE format('SELECT dependent_varname, outputs::json FROM %s', run) INTO labels, outputs;
    IF outputs IS NULL THEN
        classes := format('r.%I', labels[1] || '_class_values');
    ELSE
        SELECT string_agg(format('(SELECT array_agg(v ORDER BY n) FROM pg_catalog.json_array_elements_text($1->''outputs''->%s->''classes'')'
                ' WITH ORDINALITY AS c(v, n)) AS %I', i - 1, label || '_class_values'), ', ' ORDER BY i) INTO classes
        FROM unnest(labels) WITH ORDINALITY AS l(label, i);
    END IF;
    EXECUTE format('CREATE TABLE %I.%I AS SELECT %s FROM %s AS r%s', in_schema, name || '_summary',
            replace(columns, 'class_values', classes), run,
            CASE WHEN columns LIKE '%i.model_id%' THEN ', ' || metrics || ' AS i' ELSE '' END)
        USING json_build_object('outputs', outputs, 'given', given);
    IF columns NOT LIKE '%i.model_id%' THEN
        EXECUTE format('CREATE TABLE %I.%I (mst_key integer PRIMARY KEY, model_id integer, compile_params text,'
            ' fit_params text, model_type text, model_size double precision, metrics_elapsed_time double precision[],'
            ' metrics_type text[], loss_type text, training_metrics_final double precision,'
            ' training_loss_final double precision, training_metrics double precision[], training_loss double precision[],'
            ' validation_metrics_final double precision, validation_loss_final double precision,'
            ' validation_metrics double precision[], validation_loss double precision[])', in_schema, name || '_info');
        EXECUTE format('INSERT INTO %I.%I SELECT mst_key, model_id, compile_params, fit_params, ''madlib_keras'', model_size,'
            ' metrics_elapsed_time, metrics_type, loss_type, training_metrics_final, training_loss_final, training_metrics,'
            ' training_loss, validation_metrics_final, validation_loss_final, validation_metrics, validation_loss'
            ' FROM %s WHERE status <> ''failed'' ORDER BY mst_key', in_schema, name || '_info', metrics);
    END IF;
END $$;
COMMENT ON FUNCTION madlib.show_model(text, json, text) IS 'gives a model tables in MADlib''s shape';

-- Appending to a table whose summary was dropped makes that again.
CREATE FUNCTION madlib.make_configs_summary(model_arch_table text, model_selection_table text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    summary text := madlib.companion(model_selection_table, 'summary');
BEGIN
    IF madlib.relation(model_selection_table) IS NOT NULL AND madlib.relation(summary) IS NULL THEN
        EXECUTE 'CREATE TABLE ' || summary || ' (model_arch_table varchar, object_table varchar)';
        EXECUTE 'INSERT INTO ' || summary || ' (model_arch_table) VALUES ($1)'
            USING (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_class c
                   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                   WHERE c.oid = model_arch_table::pg_catalog.regclass);
    END IF;
END $$;
COMMENT ON FUNCTION madlib.make_configs_summary(text, text) IS 'the summary of configurations that has none';
CREATE FUNCTION madlib.note_object_table(model_selection_table text, object_table text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF object_table IS NOT NULL THEN
        EXECUTE 'UPDATE ' || madlib.companion(model_selection_table, 'summary') || ' SET object_table = $1'
            USING madlib.object_table_of(object_table);
    END IF;
END $$;
COMMENT ON FUNCTION madlib.note_object_table(text, text) IS 'writes down where custom functions are';

-- MADlib has the tables of functions in its own schema and wants a superuser; who may not create them here gets them in his own.
CREATE FUNCTION madlib.add_function(object_table text, name text, description text, object bytea)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    place text := madlib.object_table_of(object_table);
BEGIN
    IF NOT has_schema_privilege('madlib', 'CREATE') THEN
        RAISE NOTICE 'the table of custom functions is not in schema "madlib", where you may not create it';
        place := object_table;
    END IF;
    IF madlib.relation(place) IS NULL THEN
        EXECUTE 'CREATE TABLE ' || place || ' (id serial, name text PRIMARY KEY, description text, object bytea)';
        EXECUTE 'GRANT SELECT ON ' || place || ' TO PUBLIC';
    END IF;
    EXECUTE 'INSERT INTO ' || place || ' (name, description, object) VALUES ($1, $2, $3)' USING name, description, object;
END $$;
COMMENT ON FUNCTION madlib.add_function(text, text, text, bytea) IS 'writes a row of a table of custom functions';

-- MADlib's predictions have these columns alone, and the id.
CREATE FUNCTION madlib.drop_other_columns(output_table text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    other text;
BEGIN
    FOR other IN
        SELECT a.attname FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = output_table::pg_catalog.regclass AND a.attnum > 1 AND NOT a.attisdropped
          AND a.attname NOT IN ('class_name', 'class_value', 'prob', 'rank')
          AND EXISTS (SELECT 1 FROM pg_catalog.pg_attribute c WHERE c.attrelid = a.attrelid AND c.attname = 'class_name')
    LOOP
        EXECUTE format('ALTER TABLE %s DROP COLUMN %I', output_table, other);
    END LOOP;
END $$;
COMMENT ON FUNCTION madlib.drop_other_columns(text) IS 'leaves MADlib''s columns in a table of predictions';
CREATE FUNCTION madlib.output_layers(model_arch json) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.array_agg(layer->>0 ORDER BY i)
    FROM pg_catalog.json_array_elements(model_arch->'config'->'output_layers') WITH ORDINALITY AS l(layer, i)
$$;
COMMENT ON FUNCTION madlib.output_layers(json) IS 'layers that end an architecture';
-- Several outputs, each predicted into pg_temp.madlib_output_<i> as the values of its last layer: rows for each, one below
-- another. `classes` has a list of names, or null, for each.
CREATE FUNCTION madlib.join_outputs(output_table text, names text[], classes json, pred_type hopper.pred_type)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    kind text := pred_type::text;
    id text;
    layer text;
    parts text := '';
BEGIN
    FOR n IN 1 .. array_length(names, 1) LOOP
        SELECT max(attname::text) FILTER (WHERE attnum = 1), max(attname::text) FILTER (WHERE attnum = 2) INTO id, layer
        FROM pg_catalog.pg_attribute
        WHERE attrelid = ('pg_temp.madlib_output_' || n)::pg_catalog.regclass;
        parts := parts || CASE WHEN n > 1 THEN ' UNION ALL ' ELSE '' END || format(
            'SELECT p.%1$I, %2$L::text AS class_name, CASE WHEN v.i <= json_array_length($1->%3$s)'
            ' THEN $1->%3$s->>(v.i - 1)::integer ELSE (v.i - 1)::text END AS class_value,'
            ' v.prob::double precision AS prob, row_number() OVER (PARTITION BY p.%1$I ORDER BY v.prob DESC)::integer AS rank'
            ' FROM pg_temp.madlib_output_%4$s AS p, unnest(p.%5$I) WITH ORDINALITY AS v(prob, i)',
            id, names[n], n - 1, n, layer);
    END LOOP;
    EXECUTE format('CREATE TABLE %s AS SELECT %I, class_name, class_value, prob%s FROM (%s) AS o WHERE %s', output_table, id,
            CASE WHEN kind = 'response' THEN '' ELSE ', rank' END, parts,
            CASE WHEN kind = 'prob' THEN 'true' WHEN kind = 'response' THEN 'rank = 1'
                 WHEN kind LIKE '%.%' THEN 'prob > ' || kind::double precision ELSE 'rank <= ' || kind::integer END)
        USING (SELECT json_agg(CASE WHEN json_typeof(c) = 'array' THEN c ELSE '[]'::json END ORDER BY i)
               FROM json_array_elements(classes) WITH ORDINALITY AS e(c, i));
    FOR n IN 1 .. array_length(names, 1) LOOP
        EXECUTE 'DROP TABLE pg_temp.madlib_output_' || n;
    END LOOP;
END $$;
COMMENT ON FUNCTION madlib.join_outputs(text, text[], json, hopper.pred_type) IS 'predictions of several outputs in one table';
