-- What report() draws, as one JSON document: of a table of models, or of a run as far as its checkpoints go.
-- Of more than `most` trials it has the best hundred, and of the others one in so many.
CREATE FUNCTION hopper.report_trials(model_table text, run bigint) RETURNS TABLE (
    rank bigint, key integer, status text, value double precision, training double precision, gap double precision,
    seconds double precision, iterations integer, parameters bigint, metric text, split text, given json, error text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */ AS $$
BEGIN
    IF report_trials.run IS NULL THEN
        RETURN QUERY SELECT row_number() OVER (ORDER BY l.rank, l.mst_key), l.mst_key, l.status, coalesce(l.validation_metric, l.training_metric), l.training_metric,
            l.overfit_gap, l.seconds, l.iterations, l.parameters, l.metric,
            CASE WHEN l.validation_metric IS NOT NULL THEN 'validation' ELSE 'training' END,
            (SELECT json_object_agg(g.key, g.value) FROM (
                SELECT 'model_id' AS key, to_json(l.model_id) AS value
                UNION ALL SELECT c.key, c.value::json FROM jsonb_each(params_json(l.compile_params)) AS c
                UNION ALL SELECT f.key, f.value::json FROM jsonb_each(params_json(coalesce(l.fit_params, ''))) AS f
                WHERE f.key NOT IN ('restore_best', 'monitor')) AS g), NULL::text
            FROM leaderboard(report_trials.model_table) AS l;
    ELSE
        RETURN QUERY SELECT row_number() OVER (ORDER BY t.status = 'failed', t.value IS NULL OR t.value = 'NaN',
                CASE WHEN metric_ascends(n.metric) THEN -t.value ELSE t.value END, t.trial),
            t.trial, t.status, t.value, n.training,
            CASE WHEN metric_ascends(n.metric) THEN n.training - t.value ELSE t.value - n.training END,
            t.seconds, t.iterations, NULL::bigint, n.metric, n.split,
            (SELECT json_object_agg(g.key, g.value) FROM json_each(t.parameters::json) AS g
             WHERE g.key NOT IN ('restore_best', 'monitor', 'optimizer_params_list')), t.error
            FROM trials AS t JOIN runs AS r ON r.run = t.run, LATERAL (
                SELECT substring(r.best_metric FROM ' (.*)') AS metric, split_part(r.best_metric, ' ', 1) AS split,
                    (SELECT (m.value->>2)::double precision FROM json_array_elements(t.latest::json) AS m(value)
                     WHERE m.value->>0 = 'training ' || substring(r.best_metric FROM ' (.*)')) AS training) AS n
            WHERE t.run = report_trials.run;
    END IF;
END $$;
COMMENT ON FUNCTION hopper.report_trials(text, bigint) IS 'part of report(): trials in their order';

-- NULL where the table is not there, or is not for the caller.
CREATE FUNCTION hopper.report_summary_of(model_table text) RETURNS json
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    found json;
BEGIN
    -- leaderboard() has looked at it.
    EXECUTE 'SELECT row_to_json(s) FROM ' || regexp_replace(model_table, '("?)$', '_summary\1') || ' AS s LIMIT 1' INTO found;
    RETURN found;
EXCEPTION WHEN insufficient_privilege OR undefined_table THEN
    RETURN NULL;
END $$;
COMMENT ON FUNCTION hopper.report_summary_of(text) IS 'part of report(): what the summary of a table of models says';

CREATE FUNCTION hopper.report_validation(model_table text) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_report_validation' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.report_validation(text) IS
    'part of report(): the validation table of models, if reading it runs nobody else''s functions';

CREATE FUNCTION hopper.report_source(model_table text, of_validation boolean) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_report_source' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.report_source(text, boolean) IS
    'part of report(): the rows that were packed for training or validation, if reading them runs nobody else''s functions';

CREATE FUNCTION hopper.report_packing(model_table text, of_validation boolean) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_report_packing' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.report_packing(text, boolean) IS
    'part of report(): the call that packed the rows for training or validation, if reading it runs nobody else''s functions';

-- [{"class": "up", "counts": [98, 2]}, ...] or, as text, why not.
CREATE FUNCTION hopper.report_counts(model_table text, mst_key integer, OUT counts json, OUT why text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    PERFORM evaluate(model_table, report_validation(model_table), mst_key := report_counts.mst_key, confusion_table := 'pg_temp.hopper_report_confusion',
        replace := true);
    EXECUTE 'SELECT json_agg(json_build_object(''class'', class, ''counts'', confusion_arr) ORDER BY row_id)'
        ' FROM pg_temp.hopper_report_confusion' INTO counts;
    DROP TABLE pg_temp.hopper_report_confusion;
    IF json_array_length(counts) > 40 THEN
        why := format('There are %s classes, too many to draw: hopper.evaluate(confusion_table := ...) writes them into a table.',
            json_array_length(counts));
        counts := NULL;
    END IF;
EXCEPTION WHEN OTHERS THEN
    counts := NULL;
    why := SQLERRM;
END $$;
COMMENT ON FUNCTION hopper.report_counts(text, integer) IS 'part of report(): labels by predictions of a model on its validation rows';

-- Of classes [[bin, rows, mean probability, share that is right], ...] by tenths of the probability of the predicted class;
-- of numbers [[label, prediction], ...] of up to 400 rows.
CREATE FUNCTION hopper.report_points(model_table text, mst_key integer, of_classes boolean, OUT points json, OUT why text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
BEGIN
    IF of_classes THEN
        SELECT json_agg(json_build_array(b.bin, b.n, b.probability, b.right) ORDER BY b.bin) INTO points FROM (
            SELECT least(floor(10 * p.probability), 9) AS bin, count(*) AS n, avg(p.probability) AS probability,
                avg(CASE WHEN p.label IS NOT DISTINCT FROM p.predicted THEN 1.0 ELSE 0 END) AS right
            FROM predict_packed(report_points.model_table, report_validation(report_points.model_table), report_points.mst_key) AS p
            GROUP BY 1) AS b;
    ELSE
        SELECT json_agg(json_build_array(p.label, p.predicted) ORDER BY p.row_number) INTO points
        FROM predict_packed(report_points.model_table, report_validation(report_points.model_table), report_points.mst_key, 400) AS p;
    END IF;
EXCEPTION WHEN OTHERS THEN
    points := NULL;
    why := SQLERRM;
END $$;
COMMENT ON FUNCTION hopper.report_points(text, integer, boolean) IS 'part of report(): predictions of a model beside the labels of its validation rows';

-- Of models that read several columns {"source": ..., "metric": ..., "before": 0.9, "unseen": true, "rows": 500,
-- "features": [[name, importance, low, high], ...]}, in some two seconds: as many rows as that allows, by what
-- predictions were measured to take, 20 microseconds and half a nanosecond for each parameter.
CREATE FUNCTION hopper.report_features(model_table text, mst_key integer, parameters bigint, summary json, OUT features json, OUT why text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    columns CONSTANT integer := json_array_length(summary->'independent_varname');
    microseconds CONSTANT double precision := (5 * columns + 1) * (20 + coalesce(parameters, 0) / 2000.0);
    rows CONSTANT integer := least(1000, floor(2e6 / microseconds));
    trained text;
    source text;
BEGIN
    trained := report_source(model_table, false);
    source := coalesce(report_source(model_table, true), trained);
    IF columns < 2 THEN
        why := 'The models read one column alone.';
    ELSIF (summary->>'independent_vartype') ~ '\[\]|bytea' OR rows < 40 THEN
        why := format('It takes long for these models: SELECT * FROM hopper.feature_importance(%L, %L, mst_key := %s);',
            model_table, source, mst_key);
    ELSE
        SELECT json_build_object('source', source, 'metric', min(f.metric_type), 'before', min(f.metric_before), 'unseen', source <> trained,
                'rows', rows, 'features', json_agg(json_build_array(f.feature, f.importance, f.low, f.high) ORDER BY f.importance DESC, f.feature))
        INTO features FROM feature_importance(model_table, source, mst_key, most_rows := rows) AS f;
    END IF;
EXCEPTION WHEN OTHERS THEN
    features := NULL;
    why := SQLERRM;
END $$;
COMMENT ON FUNCTION hopper.report_features(text, integer, bigint, json) IS
    'part of report(): how much worse a model predicts when the values of a column are exchanged';

CREATE FUNCTION hopper.report_data(model_table text, run bigint) RETURNS json
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    most CONSTANT integer := 300;
    points CONSTANT integer := 50;
    summary json;
    about record;
    best record;
    total bigint;
    failed bigint;
    every bigint := 1;
    names text[];
    chosen json;
    curves json;
    visits json;
    importance json;
    no_importance text := 'Importances are those of searches: the runs of automl().';
    confusion json;
    no_confusion text;
    points_of_rows json;
    no_points text;
    features json;
    no_features text;
    packing text;
    origin timestamp with time zone;
    keys integer[];
BEGIN
    CREATE TEMPORARY TABLE hopper_report_trials (rank bigint, key integer, status text, value double precision,
        training double precision, gap double precision, seconds double precision, iterations integer, parameters bigint,
        metric text, split text, given json, error text);
    INSERT INTO pg_temp.hopper_report_trials SELECT * FROM report_trials(model_table, run);
    SELECT count(*), count(CASE WHEN t.status = 'failed' THEN 1 END) INTO total, failed FROM pg_temp.hopper_report_trials AS t;
    SELECT * INTO best FROM pg_temp.hopper_report_trials AS t WHERE t.status <> 'failed' ORDER BY t.rank LIMIT 1;
    IF model_table IS NOT NULL THEN
        summary := report_summary_of(model_table);
    END IF;
    -- There names are as messages show them, without quotes.
    SELECT r.* INTO about FROM runs AS r WHERE CASE WHEN report_data.run IS NULL
        THEN r.model_table IN (SELECT c.relname FROM pg_class c WHERE c.oid = report_data.model_table::regclass
                UNION ALL SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.oid = report_data.model_table::regclass) AND r.state = 'done'
            AND (summary->>'start_training_time')::timestamp with time zone BETWEEN r.started - interval '1 second' AND r.ended
        ELSE r.run = report_data.run END ORDER BY r.run DESC LIMIT 1;
    IF model_table IS NULL AND about.run IS NULL THEN
        RAISE EXCEPTION 'there is no run %, or it is another role''s', run
            USING ERRCODE = 'undefined_object', HINT = 'See SELECT run, state, model_table FROM hopper.runs;';
    END IF;
    -- What a search has chosen says more than what came of it.
    IF run IS NULL AND about.search::json->>'method' <> 'grid' THEN
        UPDATE pg_temp.hopper_report_trials AS t SET given = (SELECT json_object_agg(g.key, g.value)
            FROM json_each(p.parameters::json) AS g WHERE g.key <> 'optimizer_params_list')
        FROM trials AS p WHERE p.run = about.run AND p.trial = t.key AND p.parameters IS NOT NULL;
    END IF;
    UPDATE pg_temp.hopper_report_trials AS t SET status = 'ensemble', given = '{}'
    WHERE report_data.run IS NULL AND t.seconds = 0 AND t.status = 'done' AND NOT EXISTS (
        SELECT 1 FROM trials AS p WHERE p.run = about.run AND p.trial = t.key) AND about.run IS NOT NULL;
    IF total > most THEN
        every := ceil((total - 100)::numeric / (most - 100));
        DELETE FROM pg_temp.hopper_report_trials AS t WHERE t.rank > 100 AND (t.rank - 100) % every <> 0;
    END IF;
    keys := ARRAY(SELECT t.key FROM pg_temp.hopper_report_trials AS t);

    -- In what the trials differ.
    names := ARRAY(SELECT g.key FROM pg_temp.hopper_report_trials AS t, json_each_text(t.given) AS g
        GROUP BY g.key HAVING count(DISTINCT g.value) > 1 OR count(g.value) < count(DISTINCT t.key) ORDER BY g.key);
    IF model_table IS NOT NULL THEN
        BEGIN
            SELECT json_agg(json_build_object('parameter', i.parameter, 'importance', i.importance) ORDER BY i.rank)
            INTO importance FROM param_importance(model_table) AS i;
            no_importance := 'Nothing can be told of importances.';
        EXCEPTION WHEN wrong_object_type OR insufficient_privilege OR undefined_table OR undefined_column THEN
            NULL;
        END;
    END IF;

    -- The learning curves of what trials are compared by; of the best with those of training.
    IF run IS NULL THEN
        SELECT json_agg(c ORDER BY c.key <> best.key, c.key, c.split DESC) INTO curves FROM (
            SELECT l.mst_key AS key, l.split, json_agg(json_build_array(l.iteration, l.value::text) ORDER BY l.iteration) AS points
            FROM (SELECT v.*, max(v.iteration) OVER () / points + 1 AS step, max(v.iteration) OVER (PARTITION BY v.mst_key) AS last
                  FROM learning_curves(model_table) AS v
                  WHERE v.metric = best.metric AND v.mst_key = ANY (keys)
                      AND (v.split = best.split OR v.mst_key = best.key)) AS l
            WHERE l.iteration % l.step = 0 OR l.iteration IN (1, l.last) GROUP BY 1, 2) AS c;
    ELSE
        SELECT json_agg(c ORDER BY c.key <> best.key, c.key, c.split DESC) INTO curves FROM (
            SELECT l.trial AS key, l.split, json_agg(json_build_array(l.iteration, l.value::text) ORDER BY l.iteration) AS points
            FROM (SELECT v.*, max(v.iteration) OVER () / points + 1 AS step, max(v.iteration) OVER (PARTITION BY v.trial) AS last
                  FROM trial_metrics AS v
                  WHERE v.run = report_data.run AND v.metric = best.metric AND v.trial = ANY (keys)
                      AND (v.split = best.split OR v.trial = best.key)) AS l
            WHERE l.iteration % l.step = 0 OR l.iteration IN (1, l.last) GROUP BY 1, 2) AS c;
    END IF;

    -- The longest visits, in the order of time.
    IF model_table IS NOT NULL THEN
        SELECT min(t.started) INTO origin FROM run_timeline(model_table) AS t;
        SELECT json_agg(json_build_array(v.lane - 1, v.mst_key, round(v.began::numeric, 6), round((v.began + v.seconds)::numeric, 6), v.kind)
                ORDER BY v.began) INTO visits
        FROM (SELECT dense_rank() OVER (ORDER BY t.segment, t.worker) AS lane, t.mst_key, t.kind,
                  extract(epoch FROM t.started - origin) AS began, t.seconds_read + t.seconds_train + t.seconds_evaluate AS seconds
              FROM run_timeline(model_table) AS t WHERE t.mst_key = ANY (keys)
              ORDER BY t.seconds_train + t.seconds_evaluate DESC LIMIT 1500) AS v;
    END IF;

    no_confusion := CASE WHEN summary IS NULL THEN 'The models of a run can be evaluated when it has ended.'
        WHEN (summary->>'validation_table') IS NULL THEN 'There are no validation data: predictions on rows that a model has seen say little.'
        ELSE 'Labels are numbers: there are no classes to confuse.' END;
    no_points := no_confusion;
    no_features := CASE WHEN summary IS NULL THEN 'The models of a run can be evaluated when it has ended.' ELSE 'No model was trained.' END;
    IF summary IS NOT NULL AND best.key IS NOT NULL THEN
        SELECT f.features, f.why INTO features, no_features FROM report_features(model_table, best.key, best.parameters, summary) AS f;
    END IF;
    IF (summary->>'validation_table') IS NOT NULL AND best.key IS NOT NULL THEN
        IF summary->>'label_kind' = 'class' THEN
            SELECT c.counts, c.why INTO confusion, no_confusion FROM report_counts(model_table, best.key) AS c;
        END IF;
        SELECT p.points, p.why INTO points_of_rows, no_points FROM report_points(model_table, best.key, summary->>'label_kind' = 'class') AS p;
    END IF;

    IF summary IS NOT NULL THEN
        BEGIN
            SELECT nullif(concat_ws(E'\n', p.training, nullif(p.validation, p.training)), '') INTO packing
            FROM (SELECT report_packing(model_table, false) || ';' AS training, report_packing(model_table, true) || ';' AS validation) AS p;
        EXCEPTION WHEN insufficient_privilege OR undefined_table THEN
            packing := NULL;
        END;
    END IF;

    SELECT json_agg(json_build_object('key', t.key, 'rank', t.rank, 'status', t.status, 'value', t.value::text, 'training', t.training::text,
        'gap', t.gap::text, 'seconds', t.seconds::text, 'iterations', t.iterations, 'parameters', t.parameters, 'given', t.given,
        'error', left(t.error, 200)) ORDER BY t.rank) INTO chosen FROM pg_temp.hopper_report_trials AS t;
    DROP TABLE pg_temp.hopper_report_trials;
    RETURN json_build_object('title', coalesce(model_table, about.model_table), 'run', about.run, 'state', about.state,
        'name', coalesce(about.name, summary->>'name'), 'description', coalesce(about.description, summary->>'description'),
        'owner', about.owner, 'started', coalesce(about.started::text, summary->>'start_training_time'), 'statement', about.statement, 'packing', packing,
        'search', about.search::json, 'packed_table', coalesce(summary->>'source_table', about.packed_table),
        'validation_table', coalesce(summary->>'validation_table', about.validation_table), 'data', about.data, 'summary', summary,
        'metric', CASE WHEN best.metric IS NOT NULL THEN best.split || ' ' || best.metric ELSE 'value' END, 'split', coalesce(best.split, 'training'),
        'ascends', metric_ascends(best.metric), 'best', best.key, 'total', total, 'failed', failed, 'every', every, 'names', to_json(coalesce(names, '{}')),
        'trials', coalesce(chosen, '[]'), 'curves', coalesce(curves, '[]'), 'visits', coalesce(visits, '[]'), 'importance', coalesce(importance, '[]'),
        'no_importance', no_importance, 'features', features, 'no_features', no_features, 'confusion', coalesce(confusion, '[]'), 'no_confusion', no_confusion,
        'points', coalesce(points_of_rows, '[]'), 'no_points', no_points);
END $$;
COMMENT ON FUNCTION hopper.report_data(text, bigint) IS 'part of report(): all that it shows';
