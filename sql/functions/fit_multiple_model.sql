CREATE FUNCTION hopper.fit_multiple_model(
    packed_table text,
    model_table text,
    model_selection_table text,
    num_iterations integer,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    use_caching boolean DEFAULT false,
    seed bigint DEFAULT 0,
    threads integer DEFAULT NULL,
    dtype text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus hopper.integers DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit_multiple_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit_multiple_model(text, text, text, integer, boolean, text, integer,
    boolean, text, text, boolean, bigint, integer, text, text, integer,
    boolean, hopper.integers) IS
    'train all configurations of a model selection table together on a packed table';
