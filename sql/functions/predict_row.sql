CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, features anyarray, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, anyarray, text) IS
    'predict one row, given as an array of numbers: its classes, the most probable first, or the value of a regression

A model with several outputs gives these rows for each of them, whose name is in column output. One with several inputs needs source_row.

Task: 7.2 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
mst_key: which configuration (model selection tuple) of model_table; by itself the best
features: one example, as an array of numbers, as a bytea, or as JSON: an array, or an object that has the features by their names, ''{"a": 0.5, "b": 0.8}''
source_row: one example, as a row whose columns have the names of the features, in whatever order
on_null: where a feature is infinite, or NULL or NaN and no treatment fills that in: ''error'', or ''null'' (one row of NULLs)
Example:
SELECT * FROM hopper.predict_row(model_table := ''models'', mst_key := 1, features := ARRAY[0.5, 0.8]);
SELECT * FROM hopper.predict_row(model_table := ''models'', mst_key := 1, source_row := (SELECT t FROM points_test t LIMIT 1));
SELECT * FROM hopper.predict_row(model_table := ''models'', features := ''{"a": 0.5, "b": 0.8}'');';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, features bytea, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, bytea, text) IS
    'predict one row, given as an image: its classes, the most probable first, or the value of a regression';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, source_row record, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, record, text) IS
    'predict one row of a table, view or subquery, whose features are found by their names: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, features anyarray, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, anyarray, text) IS
    'predict one row with the best model, given as an array of numbers: its classes, the most probable first, or the value of a regression';

CREATE FUNCTION hopper.predict_row(model_table text, features bytea, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bytea, text) IS
    'predict one row with the best model, given as an image: its classes, the most probable first, or the value of a regression';

CREATE FUNCTION hopper.predict_row(model_table text, source_row record, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, record, text) IS
    'predict one row of a table, view or subquery with the best model, whose features are found by their names: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, features text, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, text, text) IS
    'predict one row, given as text: JSON, an array such as {1,2}, or bytes such as \x0102: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, features text, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, text, text) IS
    'predict one row with the best model, given as text: JSON, an array such as {1,2}, or bytes such as \x0102: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, features jsonb, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, jsonb, text) IS
    'predict one row, given as JSON: an object that has the features by their names, or an array: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, features jsonb, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, jsonb, text) IS
    'predict one row with the best model, given as JSON: an object that has the features by their names, or an array: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key bigint, features json, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, bigint, json, text) IS
    'predict one row, given as JSON: an object that has the features by their names, or an array: its classes, the most probable first, or values';

CREATE FUNCTION hopper.predict_row(model_table text, features json, on_null text DEFAULT 'error')
RETURNS TABLE (class_value text, prob double precision, value double precision, output text)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_row(text, json, text) IS
    'predict one row with the best model, given as JSON: an object that has the features by their names, or an array: its classes, the most probable first, or values';
