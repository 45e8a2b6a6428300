CREATE FUNCTION hopper.predict(
    model_table text,
    source_table text,
    id_col text,
    independent_varname text DEFAULT NULL,
    output_table text DEFAULT NULL,
    pred_type text DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, text, boolean, integer) IS
    'predict the rows of an unpacked table, whose features are found by the names that the model was trained with: all classes (prob) or the most probable one (response)';

CREATE FUNCTION hopper.predict(
    model_table text,
    source_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type integer,
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_top' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, integer, boolean, integer) IS
    'predict the rows of an unpacked table: the pred_type most probable classes';

CREATE FUNCTION hopper.predict(
    model_table text,
    source_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type double precision,
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_threshold' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, double precision, boolean, integer) IS
    'predict the rows of an unpacked table: the classes that are more probable than pred_type';
