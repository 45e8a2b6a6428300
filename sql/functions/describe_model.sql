CREATE FUNCTION hopper.describe_model(model_arch_table text, model_id hopper.integers, packed_table text DEFAULT NULL)
RETURNS TABLE (
    layer_index integer,
    layer text,
    class_name text,
    output_shape text,
    parameters bigint,
    trainable bigint,
    flops bigint,
    inputs text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_model' LANGUAGE C STABLE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.describe_model(text, hopper.integers, text) IS
    'the layers of a stored architecture with shapes, parameters and operations an example, then a row with the totals and whose rules hold, those of Keras 2 or 3

Task: 2.3 architectures
model_arch_table: table of architectures, made by load_model()
model_id: number of an architecture in model_arch_table
packed_table: packed table, made by training_preprocessor(): gives the input''s shape where the architecture does not; one that it does not fit is refused
model_arch: instead of the three: Keras'' JSON
Example:
SELECT * FROM hopper.describe_model(''{"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Dense", "config": {"units": 2, "activation": "softmax", "batch_input_shape": [null, 2]}}]}}'');';

CREATE FUNCTION hopper.describe_model(model_arch hopper.text_or_json)
RETURNS TABLE (
    layer_index integer,
    layer text,
    class_name text,
    output_shape text,
    parameters bigint,
    trainable bigint,
    flops bigint,
    inputs text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_architecture' LANGUAGE C IMMUTABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.describe_model(hopper.text_or_json) IS
    'the layers of a Keras architecture with shapes, parameters and operations an example, then a row with the totals and whose rules hold, those of Keras 2 or 3';
