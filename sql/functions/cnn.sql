CREATE FUNCTION hopper.cnn(
    model_arch_table text,
    packed_table text,
    filters hopper.integers DEFAULT '{32,64}',
    kernel_size bigint DEFAULT 3,
    pooling bigint DEFAULT 2,
    hidden hopper.integers DEFAULT '{64}',
    activation text DEFAULT 'relu',
    dropout double precision DEFAULT 0,
    batch_norm boolean DEFAULT false,
    name text DEFAULT NULL,
    replace boolean DEFAULT false) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_cnn' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.cnn(text, text, hopper.integers, bigint, bigint, hopper.integers, text,
    double precision, boolean, text, boolean) IS
    'writes a convolutional network that fits a packed table of images, checks it and adds it to a table of architectures; returns model_id

Task: 2.5 architectures
model_arch_table: table of architectures, which is made on first use
packed_table: packed table of images, made by training_preprocessor(): its features give the input, its labels the last layer (one sigmoid unit for two classes, softmax over more; linear for numbers)
filters: filters of the convolutions, one number per convolution; each is followed by pooling
kernel_size: height and width of the convolutions'' windows
pooling: height and width of the windows of which the largest value is kept; 1: no pooling
hidden: units of the dense layers behind the convolutions, one number per layer; may be empty
activation: activation of convolutions and hidden layers
dropout: share of the dense layers'' values that training sets to zero, from 0 to below 1
batch_norm: normalizes the values of convolutions and hidden layers by the batch
name: a name, kept with the result; NULL: "cnn 32-64" after the convolutions
replace: put it in the place of the model of that name, which keeps its model_id; without one of that name, add it
Example:
CREATE TABLE pictures AS
SELECT i AS id, ARRAY[[i % 2, 0], [0, 1 - i % 2]]::real[] AS x, i % 2 AS y FROM generate_series(1, 100) AS i;
SELECT hopper.training_preprocessor(source_table := ''pictures'', output_table := ''pictures_packed'',
    dependent_varname := ''y'', independent_varname := ''x'');
SELECT hopper.cnn(model_arch_table := ''networks'', packed_table := ''pictures_packed'', filters := ARRAY[8, 16],
    hidden := 32);';
