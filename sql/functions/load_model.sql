CREATE FUNCTION hopper.load_model(
    model_arch_table text,
    model_arch hopper.text_or_json,
    model_weights bytea DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    replace boolean DEFAULT false) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.load_model(text, hopper.text_or_json, bytea, text, text, boolean) IS
    'checks a Keras architecture (model.to_json()) and weights (float32 of model.get_weights(), concatenated) and adds them to a table, which is made on first use; returns model_id

Task: 2.1 architectures
model_arch_table: table of architectures, which is made on first use
model_arch: Keras'' JSON, as model.to_json() writes it, or a few lines by hand
model_weights: float32 values of model.get_weights(), one array after the other; without them a model starts from its initializers
name: a name, kept with the result
description: a text, kept with the result
replace: put it in the place of the model of that name, which keeps its model_id; without one of that name, add it
Example:
SELECT hopper.load_model(model_arch_table := ''networks'', name := ''small'', model_arch :=
    ''{"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 16, "activation": "relu"}},
        {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}]}}'');';
