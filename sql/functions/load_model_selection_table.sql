CREATE FUNCTION hopper.load_model_selection_table(
    model_arch_table text,
    model_selection_table text,
    model_id_list hopper.integers,
    compile_params_list hopper.texts,
    fit_params_list hopper.texts,
    replace boolean DEFAULT false) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model_selection_table' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.load_model_selection_table(text, text, hopper.integers, hopper.texts, hopper.texts, boolean) IS
    'makes a table of configurations to train, every combination of three lists; returns their number

Task: 3.2 configurations
model_arch_table: table of architectures, made by load_model()
model_selection_table: table of configurations to make
model_id_list: numbers of architectures to try
compile_params_list: compile parameters to try
fit_params_list: fit parameters to try
replace: take the place of the model_selection_table that is there
Example:
SELECT hopper.load_model_selection_table(model_arch_table := ''networks'', model_selection_table := ''few_configs'',
    model_id_list := ARRAY[1],
    compile_params_list := ARRAY[$$loss=''categorical_crossentropy'', optimizer=''Adam(lr=0.01)'', metrics=[''accuracy'']$$],
    fit_params_list := ARRAY[''batch_size=16'', ''batch_size=64'']);';
