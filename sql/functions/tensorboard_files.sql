CREATE FUNCTION hopper.tensorboard_events(tags text[], steps bigint[], times double precision[], "values" double precision[],
    names text[], given text[], began double precision, failed boolean) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_tensorboard_events' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.tensorboard_events(text[], bigint[], double precision[], double precision[], text[], text[],
    double precision, boolean) IS 'part of tensorboard_files(): the bytes of an event file';

CREATE FUNCTION hopper.tensorboard_within(model_table text) RETURNS TABLE (path text, content bytea)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, ' || (SELECT quote_ident(n.nspname) FROM pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper') || ', pg_temp', true);
    RETURN QUERY EXECUTE $q$
        WITH began AS (
            SELECT coalesce(extract(epoch FROM min(started)), 0)::double precision AS at FROM run_timeline($1)
        ), board AS (
            SELECT l.mst_key, l.status, g.names, g.given FROM leaderboard($1) AS l, LATERAL (
                SELECT array_agg(e.key ORDER BY e.key) AS names, array_agg(e.value ORDER BY e.key) AS given FROM (
                    SELECT 'model_id' AS key, l.model_id::text AS value
                    UNION ALL SELECT c.key, c.value FROM jsonb_each_text(params_json(l.compile_params)) AS c
                    UNION ALL SELECT f.key, f.value FROM jsonb_each_text(params_json(coalesce(l.fit_params, ''))) AS f) AS e
                WHERE e.value IS NOT NULL) AS g
        ), curve AS (
            SELECT c.mst_key, array_agg(c.tag ORDER BY c.iteration, c.tag) AS tags, array_agg(c.iteration::bigint ORDER BY c.iteration, c.tag) AS steps,
                array_agg(coalesce(c.seconds, 0) ORDER BY c.iteration, c.tag) AS seconds, array_agg(c.value ORDER BY c.iteration, c.tag) AS points
            FROM (SELECT *, CASE split WHEN 'validation' THEN 'val_' ELSE '' END || metric AS tag FROM learning_curves($1) WHERE value IS NOT NULL) AS c
            GROUP BY c.mst_key
        )
        SELECT format('%s/events.out.tfevents.%s.model_hopper', board.mst_key, floor(began.at)),
            tensorboard_events(coalesce(curve.tags, '{}'), coalesce(curve.steps, '{}'),
                ARRAY(SELECT began.at + s FROM unnest(curve.seconds) AS s), coalesce(curve.points, '{}'),
                board.names, board.given, began.at, board.status = 'failed')
        FROM began, board LEFT JOIN curve ON curve.mst_key = board.mst_key ORDER BY board.mst_key $q$ USING model_table;
END $$;
COMMENT ON FUNCTION hopper.tensorboard_within(text) IS 'part of tensorboard_files(): with a path of its own';

CREATE FUNCTION hopper.tensorboard_files(model_table text) RETURNS TABLE (path text, content bytea)
    AS 'MODULE_PATHNAME', 'hopper_sql_tensorboard_files' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.tensorboard_files(text) IS
    'the learning curves and parameters of a run''s models as TensorBoard''s event files, a folder for each model; write them where TensorBoard looks

Task: 6.10 compare
model_table: table of models that training writes
Example:
SELECT path, length(content) FROM hopper.tensorboard_files(model_table := ''models'');';
