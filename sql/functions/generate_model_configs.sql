CREATE FUNCTION hopper.generate_model_configs(
    model_arch_table text,
    model_selection_table text,
    model_id_list hopper.integers,
    compile_params_grid text,
    fit_params_grid text,
    search_type text DEFAULT 'grid',
    num_configs integer DEFAULT NULL,
    seed bigint DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_generate_model_configs' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.generate_model_configs(text, text, hopper.integers, text, text, text, integer, bigint) IS
    'adds configurations by grid or random search to a selection table, which is made on first use; returns the number added';
