CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id hopper.integers,
    source_table text,
    id_col text,
    independent_varname hopper.columns,
    output_table text,
    pred_type hopper.pred_type DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    class_values hopper.texts DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0,
    replace hopper.replacement DEFAULT 'false',
    on_null text DEFAULT 'error',
    layer text DEFAULT NULL,
    pad_value double precision DEFAULT NULL,
    pad_side text DEFAULT 'post',
    truncate text DEFAULT NULL)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict_byom(text, hopper.integers, text, text, hopper.columns, text,
    hopper.pred_type, boolean, hopper.texts, double precision, hopper.replacement, text, text,
    double precision, text, text) IS
    'predict with the weights of an architecture table: all classes (prob) or the most probable one (response); returns the number of rows written

Task: 7.5 predict
model_arch_table: table of architectures, made by load_model()
model_id: number of an architecture in model_arch_table
source_table: table or view with rows to predict
id_col: column that tells the rows apart; it is copied to the output
independent_varname: columns of features, in the order of the model''s input; of several inputs the columns of each: ''{"image": "pixels", "numbers": ["age", "income"]}''; of a model that prepares its columns one for each input
output_table: name of the table to make
pred_type: ''prob'': every class with its probability; ''response'': the most probable one; an integer: so many of the most probable; a number below 1: those that are more probable
use_gpus: not yet: true is an error
class_values: names of the classes, in the order of the outputs; without them classes are numbers. Of a model with several outputs a row for each, filled up with NULL
normalizing_const: features are divided by it when a model reads them, such as 255 for bytes of images
replace: true: take the place of the output_table that is there, once all rows are predicted; ''rows'': put the predictions in the place of its rows, so that it stays as it is with its views, indexes, grants and columns of your own
on_null: rows of which a feature is NULL, NaN or infinite: ''error'', or ''null'' (they get no prediction)
layer: name of a layer of the architecture, whose output is written instead, as real[]; by itself what the model predicts
pad_value: what sequences that are shorter than the model''s input are filled up with; by itself they are refused
pad_side: ''post'': the padding follows the values; ''pre'': it comes before them
truncate: what longer sequences lose: ''post'' their end, ''pre'' their beginning; by itself they are refused
Example:
SELECT hopper.load_model(model_arch_table := ''trained'',
    model_weights := (SELECT model_weights FROM models WHERE mst_key = 1), model_arch :=
    ''{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 16, "activation": "relu", "batch_input_shape": [null, 2]}},
        {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}'');
SELECT hopper.predict_byom(model_arch_table := ''trained'', model_id := 1, source_table := ''points_test'', id_col := ''id'',
    independent_varname := ''a, b'', output_table := ''predicted_byom'', class_values := ARRAY[''down'', ''up'']);';
