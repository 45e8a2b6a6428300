-- What an update from 0.1.0 does before all functions are created or replaced: functions that are no
-- more, or whose arguments or columns have changed, are dropped here; tables are altered.

-- What hops call on segments has other arguments, and visits lie elsewhere.
-- greenplum: DROP AGGREGATE hopper.segment_visit(bigint, integer, boolean, boolean, integer, integer, integer, bytea);
-- greenplum: DROP FUNCTION hopper.segment_collect(internal, bigint, integer, boolean, boolean, integer, integer, integer, bytea);
-- aggregate: segment_visit
-- greenplum: ALTER TABLE hopper.journal_visits SET DISTRIBUTED BY (run);

-- Tables that it does not have.
-- file: runs.sql

-- Types that it does not have.
-- type: integers
-- type: texts
-- type: text_or_json
-- type: columns
-- type: pad_length
-- type: pred_type
-- type: replacement
-- type: untyped
-- type: automl_result
-- type: tabular_result

-- Arguments that have another name or type.
ALTER TYPE hopper.fit_result RENAME ATTRIBUTE model_output_table TO model_table;
DROP FUNCTION hopper.check_configs(text, text);
DROP FUNCTION hopper.delete_model(text, integer);
DROP FUNCTION hopper.describe_model(text, integer);
DROP FUNCTION hopper.describe_model(text);
DROP FUNCTION hopper.describe_model(json);
DROP FUNCTION hopper.evaluate(text, text, text, boolean, integer, text);
DROP FUNCTION hopper.explain_fit(text, text, text, integer, boolean, text, integer, integer,
    text, integer, boolean, text);
DROP FUNCTION hopper.fit(text, text, text, integer, text, text, integer, boolean, text,
    integer, boolean, text, text, bigint, integer, text, text, integer,
    boolean, integer[]);
DROP FUNCTION hopper.fit_multiple_model(text, text, text, integer, boolean, text, integer,
    boolean, text, text, boolean, bigint, integer, text, text, integer,
    boolean, integer[]);
DROP FUNCTION hopper.generate_model_configs(text, text, integer[], text, text, text, integer, integer);
DROP FUNCTION hopper.sparkline(double precision[], integer);
DROP FUNCTION hopper.layers();
DROP FUNCTION hopper.leaderboard(text, integer);
DROP FUNCTION hopper.learning_curves(text);
DROP FUNCTION hopper.load_model(text, text, bytea, text, text);
DROP FUNCTION hopper.load_model(text, json, bytea, text, text);
DROP FUNCTION hopper.load_model_selection_table(text, text, integer[], text[], text[]);
DROP FUNCTION hopper.predict(text, text, text, text, text, text, boolean, integer);
DROP FUNCTION hopper.predict(text, text, text, text, text, integer, boolean, integer);
DROP FUNCTION hopper.predict(text, text, text, text, text, double precision, boolean, integer);
DROP FUNCTION hopper.predict_byom(text, integer, text, text, text, text, text, boolean,
    text[], double precision);
DROP FUNCTION hopper.predict_byom(text, integer, text, text, text, text, integer, boolean,
    text[], double precision);
DROP FUNCTION hopper.predict_byom(text, integer, text, text, text, text, double precision, boolean,
    text[], double precision);
DROP FUNCTION hopper.predict_row(text, integer, anyarray);
DROP FUNCTION hopper.predict_row(text, integer, bytea);
DROP FUNCTION hopper.run_timeline(text);
DROP FUNCTION hopper.training_preprocessor(
    text, text, text, text, int, real, int[], text, int, bigint, float8, text, int[], int[]);
DROP FUNCTION hopper.validation_preprocessor(text, text, text, text, text, int, text);
