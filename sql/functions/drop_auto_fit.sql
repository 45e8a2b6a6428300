CREATE FUNCTION hopper.drop_auto_fit(model_table text) RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
-- Types, too, would be found in the caller's path, by which what is dropped is looked up.
DECLARE
    own CONSTANT pg_catalog.text := (SELECT pg_catalog.quote_ident(n.nspname) OPERATOR(pg_catalog.||) '.' FROM pg_catalog.pg_extension AS e
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace WHERE e.extname OPERATOR(pg_catalog.=) 'model_hopper');
    names pg_catalog.text;
    ending pg_catalog.text;
    called pg_catalog.text;
    made pg_catalog.regclass;
    tables pg_catalog.int4;
    dropped pg_catalog.int4 := 0;
BEGIN
    IF model_table IS NULL THEN
        RAISE EXCEPTION 'model_table must not be NULL' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    EXECUTE pg_catalog.format('SELECT %snames_like(%L, ''model_table'', ''packed_validation_summary'')', own, model_table) INTO names;
    EXECUTE pg_catalog.format('SELECT pg_catalog.to_regclass(%L)', pg_catalog.format(names, '_steps')) INTO made;
    IF pg_catalog.strpos(pg_catalog.obj_description(made, 'pg_class'), 'what auto_fit() did') OPERATOR(pg_catalog.=) 1 THEN
        FOREACH ending IN ARRAY ARRAY['_rows', '_test_rows', '_networks', '_best', '_best_summary', '_steps'] LOOP
            called := pg_catalog.format(names, ending);
            EXECUTE pg_catalog.format('SELECT pg_catalog.to_regclass(%L)', called) INTO made;
            CONTINUE WHEN made IS NULL;
            EXECUTE pg_catalog.format('DROP %s %s', CASE WHEN ending OPERATOR(pg_catalog.~) 'rows$' THEN 'VIEW' ELSE 'TABLE' END, called);
            dropped := dropped OPERATOR(pg_catalog.+) 1;
        END LOOP;
        FOREACH called IN ARRAY ARRAY[pg_catalog.format('SELECT %sdrop_packed(%L)', own, pg_catalog.format(names, '_packed')),
            pg_catalog.format('SELECT %sdrop_packed(%L)', own, pg_catalog.format(names, '_test_packed')),
            pg_catalog.format('SELECT %sdrop_model(%L)', own, model_table)] LOOP
            EXECUTE called INTO tables;
            dropped := dropped OPERATOR(pg_catalog.+) tables;
        END LOOP;
    ELSE
        RAISE NOTICE 'auto_fit() has made no "%", nothing was dropped', model_table;
    END IF;
    RETURN dropped;
END $$;
COMMENT ON FUNCTION hopper.drop_auto_fit(text) IS
    'drops all that auto_fit() made: the models and all tables and views whose names begin with theirs; returns how many, 0 where there are none

Task: 8.51 models
model_table: table of models as auto_fit() was told it
Example:
SELECT count(*) FROM hopper.auto_fit(source_table := ''points'', dependent_varname := ''y'', model_table := ''auto_to_drop'', seconds := 1);
SELECT hopper.drop_auto_fit(model_table := ''auto_to_drop'');';
