CREATE FUNCTION hopper.training_preprocessor(
    source_table text,
    output_table text,
    dependent_varname hopper.columns,
    independent_varname hopper.columns,
    buffer_size bigint DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0,
    num_classes hopper.integers DEFAULT NULL,
    distribution_rules text DEFAULT NULL,
    partitions bigint DEFAULT NULL,
    seed bigint DEFAULT 0,
    validation_fraction float8 DEFAULT NULL,
    fold_column text DEFAULT NULL,
    image_shape hopper.integers DEFAULT NULL,
    starts hopper.integers DEFAULT NULL,
    replace boolean DEFAULT false,
    label_kind text DEFAULT NULL,
    null_labels text DEFAULT 'error',
    bytea_type text DEFAULT NULL,
    weight_varname text DEFAULT NULL,
    pad_to hopper.pad_length DEFAULT NULL,
    pad_value float8 DEFAULT 0,
    pad_side text DEFAULT 'post',
    truncate text DEFAULT NULL,
    treatments jsonb DEFAULT NULL,
    group_varname text DEFAULT NULL,
    time_varname text DEFAULT NULL
) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hopper_sql_training_preprocessor';

COMMENT ON FUNCTION hopper.training_preprocessor(text, text, hopper.columns, hopper.columns, bigint,
    double precision, hopper.integers, text, bigint, bigint, float8, text, hopper.integers,
    hopper.integers, boolean, text, text, text, text, hopper.pad_length, float8, text, text, jsonb, text, text) IS
'packs a table or view for training into <output_table> and <output_table>_summary, on request also a part of its rows into <output_table>_validation; returns the number of rows

Task: 1.1 pack
source_table: table, view, materialized view or foreign table, one example per row
output_table: name of the packed table; <output_table>_summary is made with it
dependent_varname: column of the label: what a model is to predict; of a model with several outputs the column of each: ''price, has_left'', or by names of outputs ''{"price": "price", "churn": "has_left"}''
independent_varname: column of features, or several columns of numbers: ''age, income'', with text, dates and NULLs among them, which treatments make numbers of; ''*'': all columns but the label, the primary key and those that other arguments name; of a model with several inputs the columns of each: ''{"image": "pixels", "numbers": ["age", "income"]}''
buffer_size: about how many rows one packed value holds; by itself some 4 MB of them
normalizing_const: features are divided by it when a model reads them, such as 255 for bytes of images
num_classes: number of classes where a network has more outputs than the rows have classes, of several outputs a list of them; by itself as many as there are
distribution_rules: Greenplum: ''all_segments'', ''gpu_segments'' or the name of a table of segments; elsewhere NULL or ''all_segments''
partitions: number of parts that models visit one after the other; by itself one per 256 MB, at least 4
seed: another seed, other random numbers; the same seed, the same result
validation_fraction: between 0 and 1: this part of each class goes to <output_table>_validation
fold_column: boolean column: rows where it is true go to <output_table>_validation
image_shape: shape of an example, such as ARRAY[32, 32, 3] for height, width, channels; bytea needs it
starts: first partition of each group of partitions at which models start; by itself every partition
replace: take the place of the packed table that is there
label_kind: ''class'' or ''value'' (numbers to be predicted); by itself integers, boolean, text and enums are classes, other numbers values, and so are integers of 20 values or more beside treatments
null_labels: rows whose label is NULL: ''error'', ''skip'' (left out) or ''class'' (NULL is a class, as in MADlib)
bytea_type: type of the numbers in bytea, little-endian: ''uint8'', ''int16'', ''int32'', ''int64'', ''float32'' or ''float64''; by itself uint8
weight_varname: column of the rows'' weights, Keras'' sample_weight: numbers from 0 on by which the loss of a row is multiplied; by itself all rows count alike
pad_to: steps that sequences of unequal length are filled up to: a number, ''longest'', or by input ''{"words": 40}''; by itself all arrays must have the same shape
pad_value: what shorter sequences are filled up with; 0 is what an Embedding with mask_zero and a Masking layer leave out
pad_side: ''post'': the padding follows the values; ''pre'': it comes before them
truncate: what is cut off a sequence of more than pad_to steps, here and in prediction: ''post'' its end, ''pre'' its beginning; by itself such sequences are refused
treatments: what becomes of columns, by name: ''{"age": "log", "plan": {"treatment": "index", "min_frequency": 20}, "note": {"treatment": "words", "length": 100}, "id": "drop"}''; ''{}'': what their types suggest; by itself so too where a column is no number or ''*'' is given, else numbers are packed as they are
group_varname: column whose rows of the same value all go to one side of validation_fraction: no customer is in training and validation
time_varname: column of times: the latest rows go to validation, by validation_fraction
Example:
SELECT hopper.training_preprocessor(source_table := ''points'', output_table := ''points_packed'',
    dependent_varname := ''y'', independent_varname := ''a, b'', validation_fraction := 0.2);';
