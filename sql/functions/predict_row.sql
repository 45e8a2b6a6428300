CREATE FUNCTION hopper.predict_row(model_table text, mst_key integer, features anyarray)
RETURNS TABLE (class_value text, prob double precision, value double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_row(text, integer, anyarray) IS
    'predict one row, given as an array of numbers: its classes, the most probable first, or the value of a regression';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key integer, features bytea)
RETURNS TABLE (class_value text, prob double precision, value double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_row(text, integer, bytea) IS
    'predict one row, given as an image: its classes, the most probable first, or the value of a regression';
