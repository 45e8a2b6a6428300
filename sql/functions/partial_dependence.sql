CREATE FUNCTION hopper.partial_dependence(
    model_table text,
    source_table text,
    feature text,
    mst_key bigint DEFAULT NULL,
    class_value text DEFAULT NULL,
    points bigint DEFAULT 20,
    most_rows bigint DEFAULT 200,
    seed bigint DEFAULT 0)
RETURNS TABLE (
    feature_value text,
    prediction double precision,
    low double precision,
    high double precision,
    rows bigint,
    class_explained text)
    AS 'MODULE_PATHNAME', 'hopper_sql_partial_dependence' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.partial_dependence(text, text, text, bigint, text, bigint, bigint, bigint) IS
    'what a model predicts on average if all rows had the same value in one column, for values of that column: the mean, and between which two numbers four fifths of the rows lie

Task: 7.62 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
source_table: table or view with the columns that the model reads
feature: one of these columns
mst_key: which configuration (model selection tuple) of model_table; by itself the best
class_value: the class whose probability is meant; by itself the last of two
points: so many values: quantiles of numbers and times, of text the most frequent ones
most_rows: so many rows are looked at, chosen by what is in them
seed: another seed, other rows
Example:
SELECT feature_value, prediction FROM hopper.partial_dependence(model_table := ''models'', source_table := ''points_test'', feature := ''a'', mst_key := 1, points := 5);';
