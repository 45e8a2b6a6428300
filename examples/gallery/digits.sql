-- The search whose report is digits.html: widths, optimizers, learning rates and batch sizes of a network on
-- scikit-learn's digits. From the folder of the repository:
--
--   createdb gallery && psql -d gallery -f examples/gallery/digits.sql
CREATE EXTENSION IF NOT EXISTS model_hopper;
SET client_min_messages = warning;
CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[]);
\copy digits FROM 'examples/digits.csv' CSV HEADER
SELECT hopper.training_preprocessor(source_table := 'digits', output_table := 'digits_packed', dependent_varname := 'label',
    independent_varname := 'pixels', normalizing_const := 16, validation_fraction := 0.2);
SELECT hopper.load_model(model_arch_table := 'networks', name := 'digits', model_arch := $$
    {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Flatten", "config": {}},
        {"class_name": "Dense", "config": {"units": {"hopper": "units"}, "activation": "relu"}},
        {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}} $$);
SELECT best_mst_key, best_value FROM hopper.automl(packed_table := 'digits_packed', model_table := 'digits_search',
    model_arch_table := 'networks', model_selection_table := 'digits_best', model_id_list := ARRAY[1], space := $$ {
    "parameters": {
        "units": {"type": "int", "low": 8, "high": 64, "step": 8},
        "learning_rate": {"type": "float", "low": 0.0001, "high": 0.3, "scale": "log"},
        "optimizer": ["Adam", "SGD", "RMSprop"],
        "batch_size": [16, 32, 64]},
    "compile_params": {"loss": "categorical_crossentropy", "metrics": ["accuracy"],
        "optimizer": {"class_name": {"hopper": "optimizer"}, "config": {"learning_rate": {"hopper": "learning_rate"}}}},
    "fit_params": {"batch_size": {"hopper": "batch_size"}}} $$,
    automl_method := 'hyperband', automl_params := 'R=27, eta=3', objective := 'accuracy',
    validation_table := 'digits_packed_validation', name := 'Digits',
    description := 'Which small network reads the digits best?');
\pset tuples_only on
\pset format unaligned
\o digits.html
SELECT hopper.report('digits_search');
\o
