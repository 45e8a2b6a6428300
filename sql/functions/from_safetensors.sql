CREATE FUNCTION hopper.from_safetensors(model_arch hopper.text_or_json, file bytea, input_shape hopper.integers DEFAULT NULL) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_from_safetensors' LANGUAGE C IMMUTABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.from_safetensors(hopper.text_or_json, bytea, hopper.integers) IS
    'the weights in a .safetensors file, as load_model() takes them: float32 values in the order of Keras'' get_weights()

Task: 8.01 models
model_arch: Keras'' JSON of the model that the weights belong to
file: contents of the file; its tensors are found by the names layer/weight or, where it has other names, by their order
input_shape: shape of an example, where model_arch does not say it: independent_shape of the summary
Example:
SELECT model_weights = hopper.from_safetensors(model_arch, file := hopper.to_safetensors(model_arch, model_weights,
    input_shape := ARRAY[2]), input_shape := ARRAY[2]) FROM models;';
