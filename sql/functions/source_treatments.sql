CREATE FUNCTION hopper.source_treatments(source regclass, treatments jsonb, named text[], left_out text DEFAULT NULL) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
-- A key says nothing of other rows; columns that have another part are no features anyway. Without what 9.4 has not for jsonb; of a
-- name that comes twice the last counts.
SELECT coalesce(json_object_agg(c.name, c.treatment ORDER BY c.given)::text::jsonb, '{}')
FROM (SELECT a.attname::text AS name, to_json('drop'::text) AS treatment, false AS given FROM pg_attribute a
      WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND (quote_ident(a.attname) = $4
          OR quote_ident(a.attname) <> ALL (array_remove($3, NULL))
          AND EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = $1 AND i.indisprimary AND a.attnum = ANY (i.indkey)))
      UNION ALL SELECT e.key, e.value::text::json, true FROM jsonb_each($2) AS e) AS c
$$;
COMMENT ON FUNCTION hopper.source_treatments(regclass, jsonb, text[], text) IS
    'part of auto_fit() and cross_validate(): treatments that also leave out the primary key of the table, and a column; not those that packing is told of otherwise';
