CREATE FUNCTION hopper.predict(
    model_table text,
    source_table text,
    id_col text DEFAULT NULL,
    independent_varname hopper.columns DEFAULT NULL,
    output_table text DEFAULT NULL,
    pred_type hopper.pred_type DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    mst_key bigint DEFAULT NULL,
    replace hopper.replacement DEFAULT 'false',
    on_null text DEFAULT 'error',
    layer text DEFAULT NULL)
RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_predict' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.predict(text, text, text, hopper.columns, text, hopper.pred_type,
    boolean, bigint, hopper.replacement, text, text) IS
    'predict the rows of an unpacked table, whose features are found by the names that the model was trained with: all classes (prob) or the most probable one (response); returns the number of rows written

Task: 7.1 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
source_table: table or view with rows to predict
id_col: column that tells the rows apart, which must be given; it is copied to the output
independent_varname: columns of features; by itself those that the model was trained with, by their names
output_table: name of the table to make, which must be given
pred_type: ''prob'': every class with its probability, in a row of its own; ''columns'': one row, with a column prob_<class> for each class; ''response'': the most probable one; an integer: so many of the most probable; a number below 1: those that are more probable; of a model with a class at each step ''prob'' gives the probabilities of all of them
use_gpus: not yet: true is an error
mst_key: which configuration (model selection tuple) of model_table; by itself the best
replace: true: take the place of the output_table that is there, once all rows are predicted; ''rows'': put the predictions in the place of its rows, so that it stays as it is with its views, indexes, grants and columns of your own
on_null: rows of which a feature is infinite, or NULL or NaN where no treatment fills that in: ''error'', or ''null'' (they get no prediction)
layer: name of a layer of the architecture, whose output becomes a column real[] of its name; by itself what the model predicts
Example:
SELECT hopper.predict(model_table := ''models'', source_table := ''points_test'', id_col := ''id'',
    output_table := ''predicted'', pred_type := ''response'', mst_key := 1);';
