CREATE FUNCTION hopper.model_columns(model_arch_table text, model_id hopper.integers)
RETURNS TABLE (
    independent_varname text,
    treatments jsonb)
    AS 'MODULE_PATHNAME', 'hopper_sql_model_columns' LANGUAGE C STABLE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.model_columns(text, hopper.integers) IS
    'what a Keras model asks of the columns of a table that are its inputs: their names in order, and treatments that do what its StringLookup, IntegerLookup, Hashing and TextVectorization do, as arguments of training_preprocessor()

Task: 2.3 architectures
model_arch_table: table of architectures, made by load_model()
model_id: number of an architecture in model_arch_table
Example:
SELECT c.* FROM hopper.model_columns(model_arch_table := ''networks'', model_id := 1) AS c;';
