CREATE FUNCTION hopper.to_safetensors(model_arch hopper.text_or_json, model_weights bytea, input_shape hopper.integers DEFAULT NULL) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_to_safetensors' LANGUAGE C IMMUTABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.to_safetensors(hopper.text_or_json, bytea, hopper.integers) IS
    'weights as a .safetensors file, with names, shapes and the architecture, for Keras, PyTorch and others

Task: 8.0 models
model_arch: Keras'' JSON, as tables of models and of architectures have it
model_weights: float32 values in the order of Keras'' get_weights(), as these tables have them
input_shape: shape of an example, where model_arch does not say it: independent_shape of the summary
Example:
SELECT length(hopper.to_safetensors(model_arch, model_weights, input_shape := ARRAY[2])) FROM models;';
