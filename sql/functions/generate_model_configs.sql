CREATE FUNCTION hopper.generate_model_configs(
    model_arch_table text,
    model_selection_table text,
    model_id_list hopper.integers DEFAULT NULL,
    compile_params_grid hopper.text_or_json DEFAULT NULL,
    fit_params_grid hopper.text_or_json DEFAULT NULL,
    search_type text DEFAULT 'grid',
    num_configs bigint DEFAULT NULL,
    seed bigint DEFAULT NULL,
    replace boolean DEFAULT false,
    from_run text DEFAULT NULL,
    mst_keys hopper.integers DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_generate_model_configs' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.generate_model_configs(text, text, hopper.integers, hopper.text_or_json,
    hopper.text_or_json, text, bigint, bigint, boolean, text, hopper.integers) IS
    'adds configurations by grid or random search to a selection table, which is made on first use; returns the number added

Task: 3.1 configurations
model_arch_table: table of architectures, made by load_model()
model_selection_table: table of configurations, which is made on first use
model_id_list: numbers of architectures to try
compile_params_grid: a list of values for each compile parameter: loss, metrics, optimizer_params_list
fit_params_grid: a list of values for each fit parameter: batch_size, epochs and so on; by itself the defaults
search_type: ''grid'': every combination; ''random'': num_configs of them drawn by chance
num_configs: how many to draw, for random search
seed: another seed, other random numbers; the same seed, the same result
replace: begin a new table in the place of the one that is there, instead of adding to it
from_run: instead of the grids, a table of models: what the chosen ones have is combined, each architecture with each of their compile and fit parameters, in a new table
mst_keys: the chosen ones of from_run, such as the leaderboard''s first
Example:
SELECT hopper.generate_model_configs(model_arch_table := ''networks'', model_selection_table := ''configs'',
    model_id_list := ARRAY[1],
    compile_params_grid := $$ {''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],
        ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.01, 0.001]}]} $$,
    fit_params_grid := $$ {''batch_size'': [16, 64]} $$);';
