CREATE FUNCTION hopper.load_model_selection_table(
    model_arch_table text,
    model_selection_table text,
    model_id_list hopper.integers,
    compile_params_list text[],
    fit_params_list text[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model_selection_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.load_model_selection_table(text, text, hopper.integers, text[], text[]) IS
    'makes a table of configurations to train, every combination of three lists; returns their number';
