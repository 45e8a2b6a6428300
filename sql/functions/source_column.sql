CREATE FUNCTION hopper.source_column(source regclass, given text, argument text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named text;
BEGIN
    IF given IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT quote_ident(a.attname) INTO named FROM pg_attribute a
    WHERE a.attrelid = source AND a.attnum > 0 AND NOT a.attisdropped
        AND (given IN (a.attname::text, '"' || replace(a.attname, '"', '""') || '"') OR lower(given) = a.attname)
    ORDER BY a.attname::text <> given LIMIT 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of "%" does not exist', given, (SELECT c.relname FROM pg_class c WHERE c.oid = source)
            USING ERRCODE = 'undefined_column', HINT = argument || CASE WHEN argument LIKE '%varname' THEN ' names a column.'
                ELSE ' names the column to predict.' END;
    END IF;
    RETURN named;
END $$;
COMMENT ON FUNCTION hopper.source_column(regclass, text, text) IS
    'part of auto_fit() and cross_validate(): the name of a column of a table, quoted where it must be; NULL where none is given';
