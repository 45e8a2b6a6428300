CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    source_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type text DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, text, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: all classes (prob) or the most probable one (response)';

CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    source_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type integer,
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom_top' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, integer, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: the pred_type most probable classes';

CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    source_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type double precision,
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom_threshold' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, double precision, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: the classes that are more probable than pred_type';
