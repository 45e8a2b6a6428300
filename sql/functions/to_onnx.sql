CREATE FUNCTION hopper.to_onnx(model_table text, mst_key bigint DEFAULT NULL) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_to_onnx' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.to_onnx(text, bigint) IS
    'a trained model as an ONNX file (opset 17), which ONNX Runtime and others run: it takes examples as they stand in the table, as float32

Task: 8.2 models
model_table: table of models that training writes; its companions are _info, _summary and _state
mst_key: which configuration (model selection tuple) of model_table; by itself the best
Example:
SELECT length(hopper.to_onnx(model_table := ''models'', mst_key := 1));';

CREATE FUNCTION hopper.to_onnx(model_arch hopper.text_or_json, model_weights bytea, input_shape hopper.integers DEFAULT NULL) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_to_onnx_arch' LANGUAGE C IMMUTABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.to_onnx(hopper.text_or_json, bytea, hopper.integers) IS
    'an architecture with its weights as an ONNX file (opset 17), without what training data say: constants and classes

Task: 8.21 models
model_arch: Keras'' JSON, as tables of models and of architectures have it
model_weights: float32 values in the order of Keras'' get_weights(), as these tables have them
input_shape: shape of an example, where model_arch does not say it: independent_shape of the summary
Example:
SELECT length(hopper.to_onnx(model_arch, model_weights, input_shape := ARRAY[2])) FROM models;';
