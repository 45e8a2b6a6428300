CREATE FUNCTION hopper.explain_fit(
    packed_table text DEFAULT NULL,
    model_table text DEFAULT NULL,
    model_selection_table text DEFAULT NULL,
    num_iterations integer DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    threads integer DEFAULT NULL,
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    measure boolean DEFAULT false,
    dtype text DEFAULT 'fp32')
RETURNS TABLE (
    item text,
    mst_key integer,
    predicted double precision,
    measured double precision,
    unit text)
    AS 'MODULE_PATHNAME', 'hopper_sql_explain_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.explain_fit(text, text, text, integer, boolean, text, integer, integer,
    text, integer, boolean, text) IS
    'what fit_multiple_model would take, without training; with measure, beside what a run took';
