CREATE FUNCTION hopper.mlflow_views(
    schema text DEFAULT 'hopper_mlflow',
    revision text DEFAULT 'dc11669786a5',
    untested boolean DEFAULT false)
RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
DECLARE
    filled CONSTANT text[] := ARRAY['experiments', 'experiment_tags', 'runs', 'params', 'metrics',
        'latest_metrics', 'tags', 'datasets', 'inputs', 'input_tags', 'alembic_version'];
    -- What its pages ask beside: models, traces and evaluations, of which there are none. MLflow looks for
    -- the tables among them by a call that sees no views.
    empty CONSTANT text[] := ARRAY[
        'assessments (assessment_id text, trace_id text, name text, assessment_type text, value text, error
         text, created_timestamp bigint, last_updated_timestamp bigint, source_type text, source_id text,
         run_id text, span_id text, rationale text, overrides text, valid boolean, assessment_metadata text,
         experiment_id integer, trace_timestamp_ms bigint, aggregate_value float8, is_numeric_value boolean)',
        'endpoint_bindings (endpoint_id text, resource_type text, resource_id text, created_at bigint,
         created_by text, last_updated_at bigint, last_updated_by text, display_name text)',
        'endpoint_model_mappings (mapping_id text, endpoint_id text, model_definition_id text, weight float8,
         created_by text, created_at bigint, linkage_type text, fallback_order integer)',
        'endpoint_tags (key text, value text, endpoint_id text)',
        'endpoints (endpoint_id text, name text, created_by text, created_at bigint, last_updated_by text,
         last_updated_at bigint, routing_strategy text, fallback_config_json text, experiment_id integer,
         usage_tracking boolean, workspace text)',
        'entity_associations (association_id text, source_type text, source_id text, destination_type text,
         destination_id text, created_time bigint)',
        'evaluation_dataset_records (dataset_record_id text, dataset_id text, inputs json, expectations json,
         tags json, source json, source_id text, source_type text, created_time bigint, last_update_time
         bigint, created_by text, last_updated_by text, input_hash text, outputs json)',
        'evaluation_dataset_tags (dataset_id text, key text, value text)',
        'evaluation_datasets (dataset_id text, name text, schema text, profile text, digest text,
         created_time bigint, last_update_time bigint, created_by text, last_updated_by text, workspace text)',
        'issues (issue_id text, experiment_id integer, name text, description text, status text, severity
         text, root_causes text, source_run_id text, categories text, created_timestamp bigint,
         last_updated_timestamp bigint, created_by text)',
        'jobs (id text, creation_time bigint, job_name text, params text, timeout float8, status integer,
         result text, retry_count integer, last_update_time bigint, workspace text, status_details json,
         creator text, executor_backend text, lease_expires_at bigint, status_message text, progress json,
         progress_updated_at bigint, token_hash text, scoped_permissions json, next_attempt_at bigint)',
        'logged_model_metrics (model_id text, metric_name text, metric_timestamp_ms bigint, metric_step
         bigint, metric_value float8, experiment_id integer, run_id text, dataset_uuid text, dataset_name
         text, dataset_digest text)',
        'logged_model_params (model_id text, experiment_id integer, param_key text, param_value text)',
        'logged_model_tags (model_id text, experiment_id integer, tag_key text, tag_value text)',
        'logged_models (model_id text, experiment_id integer, name text, artifact_location text,
         creation_timestamp_ms bigint, last_updated_timestamp_ms bigint, status integer, lifecycle_stage
         text, model_type text, source_run_id text, status_message text)',
        'model_definitions (model_definition_id text, name text, secret_id text, provider text, model_name
         text, created_by text, created_at bigint, last_updated_by text, last_updated_at bigint, workspace
         text)',
        'model_version_tags (key text, value text, name text, version integer, workspace text)',
        'model_versions (name text, version integer, creation_time bigint, last_updated_time bigint,
         description text, user_id text, current_stage text, source text, run_id text, status text,
         status_message text, run_link text, storage_location text, workspace text)',
        'online_scoring_configs (online_scoring_config_id text, scorer_id text, sample_rate float8,
         experiment_id integer, filter_string text)',
        'registered_model_aliases (alias text, version integer, name text, workspace text)',
        'registered_model_tags (key text, value text, name text, workspace text)',
        'registered_models (name text, creation_time bigint, last_updated_time bigint, description text,
         workspace text)',
        'scorer_versions (scorer_id text, scorer_version integer, serialized_scorer text, creation_time
         bigint)',
        'scorers (experiment_id integer, scorer_name text, scorer_id text)',
        'secrets (secret_id text, secret_name text, encrypted_value bytea, wrapped_dek bytea, kek_version
         integer, masked_value text, provider text, auth_config text, description text, created_by text,
         created_at bigint, last_updated_by text, last_updated_at bigint, workspace text)',
        'span_metrics (trace_id text, span_id text, key text, value float8)',
        'spans (trace_id text, experiment_id integer, span_id text, parent_span_id text, name text, type
         text, status text, start_time_unix_nano bigint, end_time_unix_nano bigint, duration_ns bigint,
         content text, input_cost float8, output_cost float8, total_cost float8, model_name text,
         model_provider text)',
        'sql_assessment_daily_rollups (id bigint, experiment_id integer, rollup_day date, metric_name text,
         grouping_set text, sample_count bigint, sum_value float8, min_value float8, max_value float8)',
        'sql_span_cost_daily_rollups (id bigint, experiment_id integer, rollup_day date, metric_name text,
         grouping_set text, model_name text, model_provider text, sample_count bigint, sum_value float8,
         min_value float8, max_value float8)',
        'sql_trace_metric_daily_rollups (id bigint, experiment_id integer, rollup_day date, metric_name text,
         grouping_set text, trace_status text, sample_count bigint, sum_value float8, min_value float8,
         max_value float8, p50_value float8, p90_value float8, p99_value float8)',
        'sql_trace_rollup_rebuild_queue (experiment_id integer, rollup_day date, rollup_family text)',
        'trace_info (request_id text, experiment_id integer, timestamp_ms bigint, execution_time_ms bigint,
         status text, client_request_id text, request_preview text, response_preview text,
         db_payload_generation integer, trace_name text, session_id text, input_tokens bigint, output_tokens
         bigint, total_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint,
         cache_creation_input_tokens_above_1hr bigint, input_cost float8, output_cost float8, total_cost
         float8)',
        'trace_metrics (request_id text, key text, value float8)',
        'trace_request_metadata (key text, value text, request_id text)',
        'trace_tags (key text, value text, request_id text)',
        'webhook_events (webhook_id text, entity text, action text)',
        'webhooks (webhook_id text, name text, description text, url text, status text, secret text,
         creation_timestamp bigint, last_updated_timestamp bigint, deleted_timestamp bigint, workspace text)'];
    -- As an administrator may have renamed it.
    own CONSTANT text := (SELECT quote_ident(n.nspname) || '.' FROM pg_extension e JOIN pg_namespace n
        ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper');
    query record;
    url text;
    relation text;
BEGIN
    IF revision IS NULL OR revision <> 'dc11669786a5' AND NOT coalesce(untested, false) THEN
        RAISE EXCEPTION 'revision "%" of MLflow''s schema is not known', coalesce(revision, 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'Known is dc11669786a5, of MLflow 3.17.',
            HINT = 'MLflow names the revision that it expects. untested => true makes the views for it as they are.';
    END IF;
    EXECUTE 'SELECT ' || own || 'tracker_schema($1, $2)' USING schema, filled;
    FOR query IN SELECT * FROM (VALUES
        ('experiments', $q$
            SELECT 0::bigint AS experiment_id, 'Default'::text AS name, 'default'::text AS workspace,
                ''::text AS artifact_location, 'active'::text AS lifecycle_stage,
                0::bigint AS creation_time, 0::bigint AS last_update_time
            UNION ALL
            SELECT r.run, format('%s: %s', r.run, coalesce(nullif(r.name, ''), r.model_table)), 'default', '', 'active',
                (extract(epoch FROM r.created) * 1000)::bigint,
                (extract(epoch FROM coalesce(r.ended, r.started, r.created)) * 1000)::bigint
            FROM hopper.runs r $q$),
        ('experiment_tags', $q$
            SELECT a.key, a.value, r.run AS experiment_id
            FROM hopper.runs r, LATERAL (VALUES ('mlflow.note.content', r.description),
                ('hopper.model_table', r.model_table), ('hopper.state', r.state),
                ('hopper.method', r.search::json->>'method'), ('hopper.statement', r.statement)) AS a(key, value)
            WHERE a.value IS NOT NULL $q$),
        ('runs', $q$
            SELECT t.uuid AS run_uuid, format('%s %s', r.model_table, t.trial) AS name, 'LOCAL'::text AS source_type,
                r.function AS source_name, ''::text AS entry_point_name, r.owner::text AS user_id,
                CASE WHEN t.status = 'failed' THEN 'FAILED'
                     WHEN t.status IN ('done', 'stopped') THEN 'FINISHED'
                     WHEN r.state IN ('failed', 'cancelled') THEN 'KILLED'
                     WHEN t.status = 'training' AND r.state = 'running' THEN 'RUNNING' ELSE 'SCHEDULED' END AS status,
                (extract(epoch FROM coalesce(t.started, r.started, r.created)) * 1000)::bigint AS start_time,
                CASE WHEN t.status IN ('done', 'stopped', 'failed')
                     THEN (extract(epoch FROM coalesce(t.at, r.ended, r.started)) * 1000)::bigint END AS end_time,
                NULL::bigint AS deleted_time, ''::text AS source_version, 'active'::text AS lifecycle_stage,
                ''::text AS artifact_uri, t.run AS experiment_id
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run $q$),
        ('params', $q$
            SELECT p.key, left(p.value, 8000) AS value, t.uuid AS run_uuid
            FROM hopper.trials t, LATERAL json_each_text(t.parameters::json) AS p
            WHERE p.value IS NOT NULL $q$),
        ('metrics', $q$
            SELECT CASE m.split WHEN 'validation' THEN 'val_' ELSE '' END || m.metric AS key, v.value,
                (extract(epoch FROM m.at) * 1000)::bigint AS timestamp, m.iteration::bigint AS step, v.is_nan,
                t.uuid AS run_uuid
            FROM hopper.trials t, LATERAL (
                SELECT * FROM hopper.trial_metrics v WHERE v.run = t.run AND v.trial = t.trial) AS m,
                LATERAL (SELECT m.value = 'NaN' AS is_nan, CASE m.value WHEN 'NaN' THEN 0
                    WHEN 'Infinity' THEN 1.7976931348623157e308 WHEN '-Infinity' THEN -1.7976931348623157e308
                    ELSE m.value END AS value) AS v $q$),
        ('latest_metrics', $q$
            SELECT regexp_replace(regexp_replace(m.value->>0, '^training ', ''), '^validation ', 'val_') AS key, v.value,
                (extract(epoch FROM t.at) * 1000)::bigint AS timestamp, (m.value->>1)::bigint AS step, v.is_nan,
                t.uuid AS run_uuid
            FROM hopper.trials t, LATERAL json_array_elements(t.latest::json) AS m(value),
                LATERAL (SELECT m.value->>2 = 'NaN' AS is_nan, CASE m.value->>2 WHEN 'NaN' THEN 0
                    WHEN 'Infinity' THEN 1.7976931348623157e308 WHEN '-Infinity' THEN -1.7976931348623157e308
                    ELSE (m.value->>2)::double precision END AS value) AS v $q$),
        ('tags', $q$
            SELECT a.key, a.value, t.uuid AS run_uuid
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run, LATERAL (VALUES
                ('mlflow.runName', format('%s %s', r.model_table, t.trial)), ('mlflow.user', r.owner::text),
                ('mlflow.source.name', r.function), ('mlflow.source.type', 'LOCAL'),
                ('mlflow.note.content', t.error), ('hopper.model_table', r.model_table),
                ('hopper.mst_key', t.trial::text), ('hopper.iterations', t.iterations::text),
                ('hopper.compile_params', t.compile_params), ('hopper.fit_params', t.fit_params),
                ('hopper.digest', t.digest)) AS a(key, value)
            WHERE a.value IS NOT NULL $q$),
        ('datasets', $q$
            SELECT format('%s %s', r.run, d.split) AS dataset_uuid, r.run AS experiment_id, d.name,
                d.digest, 'postgresql'::text AS dataset_source_type,
                json_build_object('table', d.name)::text AS dataset_source,
                NULL::text AS dataset_schema, NULL::text AS dataset_profile
            FROM hopper.runs r, LATERAL (VALUES ('training', r.packed_table, split_part(r.data, ' ', 1)),
                ('validation', r.validation_table, split_part(r.data, ' ', 2))) AS d(split, name, digest)
            WHERE d.name IS NOT NULL AND d.digest <> '' $q$),
        ('inputs', $q$
            SELECT t.uuid || left(d.split, 1) AS input_uuid, 'DATASET'::text AS source_type,
                format('%s %s', r.run, d.split) AS source_id, 'RUN'::text AS destination_type,
                t.uuid AS destination_id, 0::bigint AS step
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run, LATERAL (VALUES
                ('training', r.packed_table), ('validation', r.validation_table)) AS d(split, name)
            WHERE d.name IS NOT NULL $q$),
        ('input_tags', $q$
            SELECT t.uuid || left(d.split, 1) AS input_uuid, 'mlflow.data.context'::text AS name,
                d.split AS value
            FROM hopper.trials t JOIN hopper.runs r ON r.run = t.run, LATERAL (VALUES
                ('training', r.packed_table), ('validation', r.validation_table)) AS d(split, name)
            WHERE d.name IS NOT NULL $q$)) AS q(name, text)
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %I.%I AS ', schema, query.name) ||
            regexp_replace(query.text, '\mhopper\.(?=runs|trial)', own, 'g');
    END LOOP;
    EXECUTE format('CREATE OR REPLACE VIEW %I.alembic_version AS SELECT %L::text AS version_num', schema, revision);
    FOREACH relation IN ARRAY empty LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I.%s', schema, relation);
    END LOOP;
    EXECUTE 'SELECT ' || own || 'tracker_url($1)' INTO url USING schema;
    RETURN url;
END $$;
COMMENT ON FUNCTION hopper.mlflow_views(text, text, boolean) IS
    'makes a schema of views in which MLflow finds the runs that their role may see as experiments, and their trials as runs; returns the address to open

Task: 6.8 compare
schema: name of the schema to make, or to make anew: it holds these views, and tables that stay empty
revision: of MLflow''s schema; MLflow names the one that it expects
untested: make them for a revision that is not known
Example:
SELECT hopper.mlflow_views();';
