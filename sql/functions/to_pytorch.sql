CREATE FUNCTION hopper.to_pytorch(model_table text, mst_key bigint DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_to_pytorch' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.to_pytorch(text, bigint) IS
    'a trained model as Python source for PyTorch: a module that reads the file of to_safetensors() and takes examples as they stand in the table

Task: 8.3 models
model_table: table of models that training writes; its companions are _info, _summary and _state
mst_key: which configuration (model selection tuple) of model_table; by itself the best
Example:
SELECT length(hopper.to_pytorch(model_table := ''models'', mst_key := 1));';

CREATE FUNCTION hopper.to_pytorch(model_arch hopper.text_or_json, input_shape hopper.integers DEFAULT NULL) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_to_pytorch_arch' LANGUAGE C IMMUTABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.to_pytorch(hopper.text_or_json, hopper.integers) IS
    'an architecture as Python source for PyTorch, without what training data say: constants and classes

Task: 8.31 models
model_arch: Keras'' JSON, as tables of models and of architectures have it
input_shape: shape of an example, where model_arch does not say it: independent_shape of the summary
Example:
SELECT length(hopper.to_pytorch(model_arch, input_shape := ARRAY[2])) FROM models;';
