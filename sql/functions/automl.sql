CREATE TYPE hopper.automl_result AS (
    model_table text,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    configurations integer,
    failed integer,
    iterations bigint,
    seconds double precision);
COMMENT ON TYPE hopper.automl_result IS
    'what a search returns: its best configuration, and what it trained';

CREATE FUNCTION hopper.automl(
    packed_table text,
    model_table text,
    model_arch_table text,
    model_selection_table text,
    model_id_list hopper.integers,
    compile_params_grid hopper.text_or_json DEFAULT NULL,
    fit_params_grid hopper.text_or_json DEFAULT NULL,
    automl_method text DEFAULT 'hyperband',
    automl_params hopper.text_or_json DEFAULT NULL,
    seed bigint DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency bigint DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    use_caching boolean DEFAULT false,
    objective text DEFAULT NULL,
    space hopper.text_or_json DEFAULT NULL,
    parallel bigint DEFAULT 8,
    max_configs bigint DEFAULT NULL,
    max_iterations bigint DEFAULT NULL,
    max_seconds double precision DEFAULT NULL,
    target double precision DEFAULT NULL,
    threads bigint DEFAULT NULL,
    replace boolean DEFAULT false,
    first_table text DEFAULT NULL,
    from_run text DEFAULT NULL,
    constraints text DEFAULT NULL,
    keep bigint DEFAULT NULL,
    cut boolean DEFAULT false)
RETURNS hopper.automl_result
    AS 'MODULE_PATHNAME', 'hopper_sql_automl' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.automl(text, text, text, text, hopper.integers, hopper.text_or_json,
    hopper.text_or_json, text, hopper.text_or_json, bigint, boolean, text, bigint, text, text,
    boolean, text, hopper.text_or_json, bigint, bigint, bigint, double precision, double precision,
    bigint, boolean, text, text, text, bigint, boolean) IS
    'searches for the best configuration with far less training than a whole grid: Hyperband and others

Task: 5.1 search
packed_table: packed table, made by training_preprocessor()
model_table: name of the table of models to make, with the companions _info, _summary, _state, _trials, _rungs and _decisions
model_arch_table: table of architectures, made by load_model(); those that a space fills in are added to it
model_selection_table: name of a table to make; at the end it holds the best configuration
model_id_list: numbers of architectures to try; with space they may hold its parameters: "units": {"hopper": "units1"}
compile_params_grid: values or ranges of compile parameters, as for generate_model_configs()
fit_params_grid: values or ranges of fit parameters; the best iteration by the objective is kept unless restore_best is False among them
automl_method: name of an algorithm, see search_algorithms()
automl_params: its arguments, such as ''R=27, eta=3''; by itself the defaults
seed: another seed, other random numbers; the same seed, the same search
use_gpus: train on the machine''s GPUs; an error where there is none
validation_table: packed table of rows that are not trained on, to compare the models by
metrics_compute_frequency: metrics are taken at every so many iterations and at the last one that a configuration trains at a time
name: a name, kept with the result
description: a text, kept with the result
use_caching: accepted for MADlib''s sake
objective: metric that the search compares by, one of those in the grid, or several with weights: ''accuracy, 0.1 * loss''; by itself the loss
space: instead of the grids, a search space as JSON
parallel: configurations under way at once, a part of the search: another number, another search
max_configs: ends the search after so many configurations
max_iterations: ends it after so many iterations that all configurations together have trained
max_seconds: begins nothing more after so many seconds, nor what would be less than half trained by then, going by what others have taken
target: ends it when the objective reaches this value
threads: threads that train at once; by itself hopper.threads
replace: take the place of the model_table and model_selection_table that are there
first_table: table with a column parameters, as <model_table>_trials has it: these configurations are tried first
from_run: model_table of an earlier search for the same: what it measured is known, and not tried again
constraints: what a good configuration has to keep, such as ''overfit_gap <= 0.05, parameters <= 100000''
keep: how many of the best models keep their weights; by itself all
cut: at the end of max_seconds trials end with the iteration that they are in, but for those of restore_best=False; not on Greenplum
Example:
SELECT * FROM hopper.automl(packed_table := ''points_packed'', model_table := ''searched'', model_arch_table := ''networks'',
    model_selection_table := ''searched_best'', model_id_list := ARRAY[1],
    compile_params_grid := $$ {''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],
        ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.0001, 0.1, ''log'']}]} $$,
    fit_params_grid := $$ {''batch_size'': [16, 64]} $$,
    automl_method := ''hyperband'', automl_params := ''R=9, eta=3'', validation_table := ''points_packed_validation'');';

CREATE FUNCTION hopper.search_algorithms() RETURNS TABLE (
    algorithm text,
    what text,
    arguments text)
    AS 'MODULE_PATHNAME', 'hopper_sql_list' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.search_algorithms() IS
    'the algorithms of automl(), and their arguments with defaults

Task: 5.2 search
Example:
SELECT algorithm, arguments FROM hopper.search_algorithms();';

CREATE FUNCTION hopper.hyperband_schedule(
    schedule_table text,
    r bigint,
    eta bigint DEFAULT 3,
    skip_last bigint DEFAULT 0,
    additional boolean DEFAULT false,
    variant text DEFAULT 'floor')
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_hyperband_schedule' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.hyperband_schedule(text, bigint, bigint, bigint, boolean, text) IS
    'writes the brackets (s) and rounds (i) of Hyperband into a table, with configurations and iterations; returns the iterations trained in all

Task: 5.3 search
schedule_table: name of the table to make
r: the most iterations of a configuration
eta: one in so many configurations goes on to the next round
skip_last: so many last rounds of each bracket are left out
additional: MADlib''s meaning: survivors train r_i more iterations in a round, not up to r_i
variant: how configurations are counted: floor, as the authors'' code and MADlib do, or jmlr, as the paper does
Example:
SELECT hopper.hyperband_schedule(schedule_table := ''schedule'', r := 81, eta := 3);
SELECT * FROM schedule ORDER BY s DESC, i;';


CREATE FUNCTION hopper.describe_space(
    model_arch_table text,
    model_id_list hopper.integers,
    compile_params_grid hopper.text_or_json DEFAULT NULL,
    fit_params_grid hopper.text_or_json DEFAULT NULL,
    space hopper.text_or_json DEFAULT NULL)
RETURNS TABLE (
    parameter text,
    type text,
    scale text,
    low double precision,
    high double precision,
    step double precision,
    choices text,
    number_of_values bigint,
    condition text,
    used_in text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_space' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.describe_space(text, hopper.integers, hopper.text_or_json,
    hopper.text_or_json, hopper.text_or_json) IS
    'what automl() may choose: a row for each parameter, with its range or choices and when it applies; mistakes are refused with their path

Task: 5.4 search
model_arch_table: table of architectures, made by load_model()
model_id_list: numbers of architectures to try
compile_params_grid: values or ranges of compile parameters, as for generate_model_configs()
fit_params_grid: values or ranges of fit parameters
space: instead of the grids, a search space as JSON
Example:
SELECT parameter, type, low, high, choices, condition FROM hopper.describe_space(model_arch_table := ''networks'',
    model_id_list := 1, space := ''{"parameters": {"lr": {"type": "float", "low": 0.0001, "high": 0.1, "scale": "log"},
        "batch": [16, 64]},
      "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"],
        "optimizer": {"class_name": "Adam", "config": {"learning_rate": {"hopper": "lr"}}}},
      "fit_params": {"batch_size": {"hopper": "batch"}}}'');';

CREATE FUNCTION hopper.best_config(model_table text)
RETURNS TABLE (
    mst_key integer,
    value double precision,
    iterations integer,
    parameters jsonb,
    model_id integer,
    compile_params text,
    fit_params text,
    objectives double precision[],
    constraints double precision[])
    AS 'MODULE_PATHNAME', 'hopper_sql_best_config' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.best_config(text) IS
    'the best configuration of a search: the first by its objectives among those that keep the constraints

Task: 5.6 search
model_table: table of models that automl() made
Example:
SELECT mst_key, value, parameters FROM hopper.best_config(model_table := ''searched'');';

CREATE FUNCTION hopper.param_importance(model_table text)
RETURNS TABLE (
    rank integer,
    parameter text,
    importance double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_param_importance' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.param_importance(text) IS
    'which parameters made a search''s good results good, as shares of one (PED-ANOVA); zeros where nothing can be told

Task: 5.7 search
model_table: table of models that automl() made
Example:
SELECT parameter, importance FROM hopper.param_importance(model_table := ''searched'');';


CREATE FUNCTION hopper.explain_automl(
    packed_table text,
    model_arch_table text,
    model_id_list hopper.integers,
    compile_params_grid hopper.text_or_json DEFAULT NULL,
    fit_params_grid hopper.text_or_json DEFAULT NULL,
    automl_method text DEFAULT 'hyperband',
    automl_params hopper.text_or_json DEFAULT NULL,
    seed bigint DEFAULT NULL,
    validation_table text DEFAULT NULL,
    objective text DEFAULT NULL,
    space hopper.text_or_json DEFAULT NULL,
    parallel bigint DEFAULT 8,
    max_configs bigint DEFAULT NULL,
    max_iterations bigint DEFAULT NULL,
    threads bigint DEFAULT NULL,
    constraints text DEFAULT NULL)
RETURNS TABLE (
    item text,
    predicted double precision,
    unit text)
    AS 'MODULE_PATHNAME', 'hopper_sql_explain_automl' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.explain_automl(text, text, hopper.integers, hopper.text_or_json,
    hopper.text_or_json, text, hopper.text_or_json, bigint, text, text, hopper.text_or_json, bigint,
    bigint, bigint, bigint, text) IS
    'what automl() would take, without training: configurations, iterations and seconds, and how long all of them would train to the end

Task: 5.5 search
packed_table: packed table, made by training_preprocessor()
model_arch_table: table of architectures, made by load_model()
model_id_list: numbers of architectures to try
compile_params_grid: values or ranges of compile parameters, as for generate_model_configs()
fit_params_grid: values or ranges of fit parameters
automl_method: name of an algorithm, see search_algorithms()
automl_params: its arguments, such as ''R=27, eta=3''; by itself the defaults
seed: another seed, other random numbers; the same seed, the same search
validation_table: packed table of rows that are not trained on, to compare the models by
objective: metric that the search compares by, or several with weights; by itself the loss
space: instead of the grids, a search space as JSON
parallel: configurations under way at once
max_configs: ends the search after so many configurations
max_iterations: ends it after so many iterations of all configurations together
threads: threads that train at once; by itself hopper.threads
constraints: what a good configuration has to keep
Example:
SELECT * FROM hopper.explain_automl(packed_table := ''points_packed'', model_arch_table := ''networks'', model_id_list := 1,
    compile_params_grid := $$ {''loss'': [''categorical_crossentropy''], ''metrics'': [[''accuracy'']],
        ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.0001, 0.1, ''log'']}]} $$,
    fit_params_grid := $$ {''batch_size'': [16, 64]} $$, automl_params := ''R=27, eta=3'');';
