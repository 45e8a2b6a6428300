-- A relation of a tracker's schema that is no view of ours stands in the way; p_views: our names.
CREATE FUNCTION hopper.tracker_schema(p_schema text, p_views text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
DECLARE
    taken text;
    stranger text;
BEGIN
    IF p_schema IS NULL OR p_schema = '' THEN
        RAISE EXCEPTION 'schema must not be NULL or empty' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = p_schema) THEN
        EXECUTE format('CREATE SCHEMA %I', p_schema);
    END IF;
    -- What another role has put there would run with the rights of those who read the views.
    SELECT r.rolname INTO stranger FROM pg_namespace n, LATERAL (
        SELECT n.nspowner AS owner UNION ALL SELECT relowner FROM pg_class WHERE relnamespace = n.oid
        UNION ALL SELECT typowner FROM pg_type WHERE typnamespace = n.oid
        UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = n.oid
        UNION ALL SELECT oprowner FROM pg_operator WHERE oprnamespace = n.oid) AS o JOIN pg_roles r ON r.oid = o.owner
    WHERE n.nspname = p_schema AND r.rolname <> current_user AND NOT r.rolsuper LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'role "%" owns schema "%", or something in it', stranger, p_schema
            USING ERRCODE = 'insufficient_privilege', HINT = 'Give another schema: the views need one of your own.';
    END IF;
    SELECT c.relname INTO taken FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = p_schema AND c.relname = ANY (p_views) AND c.relkind <> 'v' LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "%" has a "%" that is no view', p_schema, taken
            USING ERRCODE = 'duplicate_table', HINT = 'Give another schema: the views need one of their own.';
    END IF;
END $$;
COMMENT ON FUNCTION hopper.tracker_schema(text, text[]) IS
    'part of optuna_views() and mlflow_views(): makes the schema where it is not there';

-- What a tool is told to open. Its user, host and port are this session's.
CREATE FUNCTION hopper.tracker_url(p_schema text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
WITH part AS (
    SELECT name, string_agg(CASE WHEN c ~ '^[A-Za-z0-9_.-]$' THEN c
        ELSE upper(regexp_replace(encode(convert_to(c, 'UTF8'), 'hex'), '(..)', '%\1', 'g')) END, '' ORDER BY at) AS text
    FROM (SELECT name, at, substr(value, at, 1) AS c
          FROM (VALUES ('user', current_user::text), ('database', current_database()::text),
                       ('schema', '"' || replace(p_schema, '"', '""') || '"')) AS v(name, value),
               generate_series(1, length(value)) AS at) AS letter
    GROUP BY name)
SELECT 'postgresql+psycopg2://' || (SELECT text FROM part WHERE name = 'user') || '@' ||
    coalesce(host(inet_server_addr()), 'localhost') || ':' || current_setting('port') || '/' ||
    (SELECT text FROM part WHERE name = 'database') || '?options=-csearch_path%3D' ||
    CASE WHEN p_schema ~ '^[a-z_][a-z0-9_]*$' THEN p_schema ELSE (SELECT text FROM part WHERE name = 'schema') END
$$;
COMMENT ON FUNCTION hopper.tracker_url(text) IS
    'part of optuna_views() and mlflow_views(): the address that a tool is given';

CREATE FUNCTION hopper.optuna_views(schema text DEFAULT 'hopper_optuna') RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
DECLARE
    -- Names, and texts of enumerations, are those of Optuna's schema of version v3.2.0.a.
    views CONSTANT text[] := ARRAY['studies', 'study_directions', 'study_user_attributes',
        'study_system_attributes', 'trials', 'trial_params', 'trial_values',
        'trial_intermediate_values', 'trial_user_attributes', 'trial_system_attributes',
        'trial_heartbeats', 'version_info', 'alembic_version'];
    -- As an administrator may have renamed it.
    own CONSTANT text := (SELECT quote_ident(n.nspname) || '.' FROM pg_extension e JOIN pg_namespace n
        ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper');
    enumeration record;
    query record;
    url text;
BEGIN
    EXECUTE 'SELECT ' || own || 'tracker_schema($1, $2)' USING schema, views;
    FOR enumeration IN SELECT * FROM (VALUES
        ('studydirection', '''NOT_SET'', ''MINIMIZE'', ''MAXIMIZE'''),
        ('trialstate', '''RUNNING'', ''COMPLETE'', ''PRUNED'', ''FAIL'', ''WAITING'''),
        ('trialvaluetype', '''FINITE'', ''INF_POS'', ''INF_NEG'''),
        ('trialintermediatevaluetype', '''FINITE'', ''INF_POS'', ''INF_NEG'', ''NAN''')) AS e(name, labels)
    LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
                       WHERE n.nspname = schema AND t.typname = enumeration.name) THEN
            EXECUTE format('CREATE TYPE %I.%I AS ENUM (%s)', schema, enumeration.name, enumeration.labels);
        END IF;
    END LOOP;
    FOR query IN SELECT * FROM (VALUES
        ('studies', $q$
            SELECT r.run AS study_id,
                format('%%s: %%s', r.run, coalesce(nullif(r.name, ''), r.model_table)) AS study_name
            FROM hopper.runs r $q$),
        ('study_directions', $q$
            SELECT r.run AS study_direction_id,
                (CASE WHEN r.best_metric IS NULL THEN 'MINIMIZE'
                      WHEN hopper.metric_ascends(substring(r.best_metric FROM ' (.*)')) THEN 'MAXIMIZE'
                      ELSE 'MINIMIZE' END)::%1$I.studydirection AS direction,
                r.run AS study_id, 0 AS objective
            FROM hopper.runs r $q$),
        ('study_user_attributes', $q$
            SELECT r.run * 16 + a.at AS study_user_attribute_id, r.run AS study_id, a.key,
                to_json(a.value)::text AS value_json
            FROM hopper.runs r, LATERAL (VALUES (1, 'model_table', r.model_table),
                (2, 'packed_table', r.packed_table), (3, 'validation_table', r.validation_table),
                (4, 'data', r.data), (5, 'owner', r.owner::text), (6, 'state', r.state),
                (7, 'method', r.search::json->>'method'), (8, 'description', r.description),
                (9, 'error', r.error)) AS a(at, key, value)
            WHERE a.value IS NOT NULL $q$),
        ('study_system_attributes', $q$
            SELECT r.run AS study_system_attribute_id, r.run AS study_id,
                'study:metric_names'::text AS key, json_build_array(r.best_metric)::text AS value_json
            FROM hopper.runs r WHERE r.best_metric IS NOT NULL $q$),
        ('trials', $q$
            SELECT t.id AS trial_id, t.trial AS number, t.run AS study_id,
                (CASE WHEN t.status = 'failed' THEN 'FAIL'
                      WHEN t.status IN ('done', 'stopped') AND t.value IS NOT NULL AND t.value <> 'NaN' THEN 'COMPLETE'
                      WHEN t.status IN ('done', 'stopped') OR r.state IN ('failed', 'cancelled') THEN 'FAIL'
                      WHEN t.status = 'training' THEN 'RUNNING' ELSE 'WAITING' END)::%1$I.trialstate AS state,
                coalesce(t.started, r.started)::timestamp AS datetime_start,
                CASE WHEN t.status IN ('done', 'stopped', 'failed')
                     THEN coalesce(t.at, r.ended)::timestamp END AS datetime_complete
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run $q$),
        ('trial_params', $q$
            SELECT t.id::numeric * 1000 + p.at AS param_id, t.id AS trial_id, p.name AS param_name,
                CASE p.type WHEN 'choice'
                     THEN (SELECT c.at - 1 FROM json_array_elements(p.choices) WITH ORDINALITY AS c(value, at)
                           WHERE c.value::jsonb = p.value LIMIT 1)
                     ELSE (p.value #>> '{}')::double precision END::double precision AS param_value,
                CASE p.type WHEN 'choice' THEN json_build_object('name', 'CategoricalDistribution',
                         'attributes', json_build_object('choices', (
                             SELECT json_agg(CASE WHEN json_typeof(c.value) IN ('array', 'object')
                                             THEN to_json(c.value::text) ELSE c.value END ORDER BY c.at)
                             FROM json_array_elements(p.choices) WITH ORDINALITY AS c(value, at))))
                     WHEN 'int' THEN json_build_object('name', 'IntDistribution',
                         'attributes', json_build_object('log', p.logarithmic, 'step',
                             CASE WHEN p.logarithmic THEN 1 ELSE coalesce(p.step, 1)::bigint END,
                             'low', p.low::bigint, 'high', p.high::bigint))
                     ELSE json_build_object('name', 'FloatDistribution',
                         'attributes', json_build_object('step',
                             CASE WHEN NOT p.logarithmic THEN p.step END,
                             'low', p.low, 'high', p.high, 'log', p.logarithmic))
                END::text AS distribution_json
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run, LATERAL (
                SELECT d.at, d.value->>'parameter' AS name, d.value->>'type' AS type,
                    d.value->>'scale' LIKE '%%log%%' AS logarithmic,
                    (d.value->>'low')::double precision AS low, (d.value->>'high')::double precision AS high,
                    (d.value->>'step')::double precision AS step, d.value->'choices' AS choices,
                    t.parameters::jsonb -> (d.value->>'parameter') AS value
                FROM json_array_elements(r.search::json->'space') WITH ORDINALITY AS d(value, at)) AS p
            WHERE p.type <> 'constant' AND p.value IS NOT NULL
                AND (p.type = 'choice' OR jsonb_typeof(p.value) = 'number') $q$),
        ('trial_values', $q$
            SELECT t.id AS trial_value_id, t.id AS trial_id, 0 AS objective,
                CASE WHEN t.value NOT IN ('Infinity', '-Infinity') THEN t.value END AS value,
                (CASE t.value WHEN 'Infinity' THEN 'INF_POS' WHEN '-Infinity' THEN 'INF_NEG'
                      ELSE 'FINITE' END)::%1$I.trialvaluetype AS value_type
            FROM hopper.trials t
            WHERE t.value IS NOT NULL AND t.value <> 'NaN' AND t.status IN ('done', 'stopped') $q$),
        ('trial_intermediate_values', $q$
            SELECT t.id::numeric * 2147483648 + m.iteration AS trial_intermediate_value_id, t.id AS trial_id,
                m.iteration AS step,
                CASE WHEN m.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN m.value END AS intermediate_value,
                (CASE m.value WHEN 'NaN' THEN 'NAN' WHEN 'Infinity' THEN 'INF_POS' WHEN '-Infinity' THEN 'INF_NEG'
                      ELSE 'FINITE' END)::%1$I.trialintermediatevaluetype AS intermediate_value_type
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run, LATERAL (
                SELECT * FROM hopper.trial_metrics v WHERE v.run = t.run AND v.trial = t.trial) AS m
            WHERE m.split || ' ' || m.metric = r.best_metric $q$),
        ('trial_user_attributes', $q$
            SELECT t.id::numeric * 16 + a.at AS trial_user_attribute_id, t.id AS trial_id, a.key, a.value_json
            FROM hopper.trials t, LATERAL (VALUES (1, 'mst_key', t.trial::text),
                (2, 'iterations', t.iterations::text), (3, 'seconds', t.seconds::text),
                (4, 'compile_params', to_json(t.compile_params)::text),
                (5, 'fit_params', to_json(t.fit_params)::text), (6, 'digest', to_json(t.digest)::text),
                (7, 'error', to_json(t.error)::text)) AS a(at, key, value_json)
            WHERE a.value_json IS NOT NULL $q$),
        ('trial_system_attributes', $q$
            SELECT 0 AS trial_system_attribute_id, 0::bigint AS trial_id, ''::text AS key, ''::text AS value_json
            WHERE false $q$),
        ('trial_heartbeats', $q$
            SELECT 0 AS trial_heartbeat_id, 0::bigint AS trial_id, now()::timestamp AS heartbeat WHERE false $q$),
        ('version_info', $q$
            SELECT 1 AS version_info_id, 12 AS schema_version, '5.0.0'::text AS library_version $q$),
        ('alembic_version', $q$ SELECT 'v3.2.0.a'::text AS version_num $q$)) AS q(name, text)
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %1$I.', schema) || query.name || ' AS ' ||
            regexp_replace(format(query.text, schema), '\mhopper\.(?=runs|trial|metric)', own, 'g');
    END LOOP;
    EXECUTE 'SELECT ' || own || 'tracker_url($1)' INTO url USING schema;
    RETURN url;
END $$;
COMMENT ON FUNCTION hopper.optuna_views(text) IS
    'makes a schema of views in which Optuna and optuna-dashboard find the runs that their role may see as studies; returns the address to open

Task: 6.7 compare
schema: name of the schema to make, or to make anew: it holds these views alone
Example:
SELECT hopper.optuna_views();';
