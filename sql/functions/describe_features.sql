CREATE FUNCTION hopper.describe_features(table_name text)
RETURNS TABLE (
    feature text,
    sql_type text,
    treatment text,
    on_null text,
    nulls bigint,
    slots integer,
    statistics text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_features' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.describe_features(text) IS
    'what becomes of the columns of a packed table before a network reads them: treatment, numbers of a row that it makes, what is done about NULL, and the statistics of the rows to train on

Task: 1.4 pack
table_name: packed table whose columns have treatments, or a table of models that were trained on such a one
Example:
SELECT hopper.training_preprocessor(source_table := ''points'', output_table := ''points_treated'', dependent_varname := ''y'',
    independent_varname := ''a, b'', treatments := ''{}'');
SELECT * FROM hopper.describe_features(table_name := ''points_treated'');';
