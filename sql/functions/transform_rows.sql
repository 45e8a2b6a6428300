CREATE FUNCTION hopper.transform_rows(table_name text, source_table text)
RETURNS TABLE (
    row_number bigint,
    features real[])
    AS 'MODULE_PATHNAME', 'hopper_sql_transform_rows' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.transform_rows(text, text) IS
    'the numbers that a network reads of each row of a table: what treatments make of its columns

Task: 1.5 pack
table_name: packed table whose columns have treatments, or a table of models that were trained on such a one
source_table: table or view with these columns, in whatever order and among others
Example:
SELECT * FROM hopper.transform_rows(''points_treated'', ''points'') LIMIT 3;';
