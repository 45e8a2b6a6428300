-- An architecture given as text gets our messages where it is no JSON; one of type json has passed
-- the server's parser already.
CREATE FUNCTION hopper.load_model(
    model_arch_table text,
    model_arch text,
    model_weights bytea DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.load_model(text, text, bytea, text, text) IS
    'checks a Keras architecture (model.to_json()) and weights (float32 of model.get_weights(), concatenated) and adds them to a table, which is made on first use; returns model_id';

CREATE FUNCTION hopper.load_model(
    model_arch_table text,
    model_arch json,
    model_weights bytea DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.load_model(text, json, bytea, text, text) IS
    'checks a Keras architecture (model.to_json()) and weights (float32 of model.get_weights(), concatenated) and adds them to a table, which is made on first use; returns model_id';
