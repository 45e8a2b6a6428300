CREATE FUNCTION hopper.mlp(
    model_arch_table text,
    packed_table text,
    hidden hopper.integers DEFAULT '{64,32}',
    activation text DEFAULT 'relu',
    dropout double precision DEFAULT 0,
    batch_norm boolean DEFAULT false,
    name text DEFAULT NULL,
    replace boolean DEFAULT false) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_mlp' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.mlp(text, text, hopper.integers, text, double precision, boolean, text,
    boolean) IS
    'writes a multilayer perceptron that fits a packed table, checks it and adds it to a table of architectures; returns model_id

Task: 2.2 architectures
model_arch_table: table of architectures, which is made on first use
packed_table: packed table, made by training_preprocessor(): its features give the input, with an embedding of eight numbers for each category of columns that are indexes, and for each word, of a text their mean; its labels the last layer (one sigmoid unit for two classes, softmax over more; linear for numbers), of several labels one for each, with the name of its output
hidden: units of the hidden layers, one number per layer; an empty list makes a linear model
activation: activation of the hidden layers
dropout: share of the hidden layers'' values that training sets to zero, from 0 to below 1
batch_norm: normalizes the hidden layers'' values by the batch
name: a name, kept with the result; NULL: "mlp 64-32" after the hidden layers
replace: put it in the place of the model of that name, which keeps its model_id; without one of that name, add it
Example:
SELECT hopper.mlp(model_arch_table := ''networks'', packed_table := ''points_packed'', hidden := ARRAY[32, 16],
    dropout := 0.1);';
