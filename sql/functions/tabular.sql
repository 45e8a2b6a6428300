CREATE TYPE hopper.tabular_result AS (
    model_id integer,
    compile_params text,
    fit_params text,
    space text);
COMMENT ON TYPE hopper.tabular_result IS
    'what tabular() writes: an architecture''s number and the configuration that belongs to it';

CREATE FUNCTION hopper.tabular(
    model_arch_table text,
    packed_table text,
    recipe text DEFAULT 'realmlp',
    options hopper.text_or_json DEFAULT NULL,
    name text DEFAULT NULL,
    replace boolean DEFAULT false) RETURNS hopper.tabular_result
    AS 'MODULE_PATHNAME', 'hopper_sql_tabular' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.tabular(text, text, text, hopper.text_or_json, text, boolean) IS
    'writes a published network for tables, RealMLP, TabM or a ResNet, with the configuration that belongs to it

Task: 2.2 architectures
model_arch_table: table of architectures, which is made on first use
packed_table: packed table of rows of numbers, made by training_preprocessor(): its labels tell classes from numbers
recipe: ''realmlp'': periodic embeddings, learnt slopes and schedules as its authors tuned them; ''realmlp_small'': without embeddings of numbers, dropout and decay; ''resnet'': a plain residual network; ''tabm'': 32 members of an ensemble in one network, whose layers differ by scales, with a head each, ''tabm_mini'': the same with scales of the features alone
options: a JSON object of what is to differ from the recipe''s defaults, and of what the columns are: "categories" is the number of ids by place in the row ({"3": 20}), "texts" of words ({"4": {"ids": 1000, "length": 20}}), "one_hot" a list of places; others are hidden, dropout, activation, learning_rate, weight_decay, label_smoothing, batch_size, iterations (those of the run, over which schedules stretch), embedding, members (of TabM), frequencies, sigma and frequency_lr_factor (of embedded numbers: how many cosines, 0 for none; the deviation of the first ones, and how fast they learn), metrics, monitor, restore_best and so on. A list of choices, or an object with type, low and high, is a range for a search
name: a name, kept with the result; NULL: that of the recipe
replace: put it in the place of the model of that name, which keeps its model_id; without one of that name, add it
Example:
SELECT model_id, compile_params, fit_params FROM hopper.tabular(model_arch_table := ''networks'',
    packed_table := ''points_packed'', options := ''{"iterations": 20, "hidden": [32, 32]}'');';
