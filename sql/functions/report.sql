-- Its parts are found by the path that is set here, the extension's schema under whichever name.
CREATE FUNCTION hopper.report_within(model_table text, run bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on AS $$
DECLARE
    page text;
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, ' || (SELECT quote_ident(n.nspname) FROM pg_extension e
        JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'model_hopper') || ', pg_temp', true);
    EXECUTE 'SELECT report_page($1, $2)' INTO page USING model_table, run;
    RETURN page;
END $$;
COMMENT ON FUNCTION hopper.report_within(text, bigint) IS 'part of report(): with a path of its own';

CREATE FUNCTION hopper.report(model_table text) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_report' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.report(text) IS
    'one page of HTML on a run: the winner, leaderboard, learning curves, importance of parameters and features, overfitting, cost, confusion matrix, where the models were when, and statements to repeat it; it needs nothing beside itself

Task: 6.9 compare
model_table: table of models that training writes
run: number of a run, also of one that goes on
Example:
SELECT length(hopper.report(model_table := ''models'')) > 1000 AS written;';

CREATE FUNCTION hopper.report(run bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_report_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.report(bigint) IS 'one page of HTML on a run by its number';
