-- Prediction on the segments: what predict() and predict_byom() call there; not for users.
CREATE FUNCTION hopper.segment_predict(rows anytable, description bytea) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_predict' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_predict(anytable, bytea) IS
    'internal: predictions for rows where they lie';
