CREATE FUNCTION hopper.predict_value(model_table text, mst_key bigint, on_null text, features text[], VARIADIC columns "any")
RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_value' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_value(text, bigint, text, text[], "any") IS
    'predict one row, given as the columns that the model reads: the most probable class or the value, as text; what functions of create_predict_function() call

Task: 7.9 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
mst_key: which configuration (model selection tuple) of model_table
on_null: where a feature is infinite, or NULL or NaN and no treatment fills that in: ''error'', or ''null'' (NULL)
features: names of the columns that follow, by which those of the model are found; NULL: they are the model''s features, in its order; an empty list: the row has them by their names
columns: a value for each column that the model was trained with, or one row of them, ROW(...), which may be more than a function has arguments
Example:
SELECT hopper.predict_value(''models'', 1, ''error'', NULL, 0.5, 0.8);';
