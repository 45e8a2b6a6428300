CREATE FUNCTION hopper.create_predict_function(
    model_table text,
    function_name text,
    mst_key bigint DEFAULT NULL,
    on_null text DEFAULT 'error',
    replace boolean DEFAULT false,
    pred_type text DEFAULT 'response',
    by_row boolean DEFAULT NULL)
RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_create_predict_function' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.create_predict_function(text, text, bigint, text, boolean, text, boolean) IS
    'makes an SQL function over the columns that a model reads, or over rows that have them, which returns the most probable class in the label''s type, or the value; returns its signature

Task: 7.7 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
function_name: name of the function to make
mst_key: which configuration (model selection tuple) of model_table; by itself the best one, whichever that is in the statement that calls the function
on_null: rows that lack a feature: ''error'', or ''null'' (the function returns NULL)
replace: take the place of a function with the same name and arguments
pred_type: ''response'': the function returns the most probable class, or the value; ''columns'': also a column with the probability of each class
by_row: the function takes a row, of a table or a view, and finds the columns by their names: guess(points); by itself where a model reads more columns than a function has arguments
Example:
SELECT hopper.create_predict_function(''models'', ''guess'', replace := true);';
