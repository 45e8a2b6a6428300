CREATE FUNCTION hopper.predict_outputs(model_table text, mst_key bigint, on_null text, features text[], classes text[], VARIADIC columns "any")
RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_outputs' LANGUAGE C STABLE PARALLEL RESTRICTED COST 200;
COMMENT ON FUNCTION hopper.predict_outputs(text, bigint, text, text[], text[], "any") IS
    'predict one row, given as the columns that the model reads: the probabilities of its classes in their order, or the value; what functions of create_predict_function() with pred_type ''columns'' call

Task: 7.95 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
mst_key: which configuration (model selection tuple) of model_table
on_null: where a feature is infinite, or NULL or NaN and no treatment fills that in: ''error'', or ''null'' (NULL)
features: names of the columns that follow, by which those of the model are found; NULL: they are the model''s features, in its order; an empty list: the row has them by their names
classes: whose probabilities are expected, so that a model of other classes is an error; NULL: those of the model
columns: a value for each column that the model was trained with, or one row of them, ROW(...), which may be more than a function has arguments
Example:
SELECT hopper.predict_outputs(''models'', 1, ''error'', NULL, NULL, 0.5, 0.8);';
