CREATE TYPE hopper.fit_result AS (
    model_table text,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    models_trained integer,
    models_failed integer,
    seconds double precision);
COMMENT ON TYPE hopper.fit_result IS
    'what a training run returns: its best configuration, and how many models were trained';

CREATE FUNCTION hopper.fit(
    packed_table text,
    model_table text,
    model_arch_table text,
    model_id integer,
    compile_params text,
    fit_params text,
    num_iterations integer,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    seed bigint DEFAULT 0,
    threads integer DEFAULT NULL,
    dtype text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus hopper.integers DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.fit(text, text, text, integer, text, text, integer, boolean, text,
    integer, boolean, text, text, bigint, integer, text, text, integer,
    boolean, hopper.integers) IS
    'train one model on a packed table; its tables are those of fit_multiple_model, with mst_key 1';
