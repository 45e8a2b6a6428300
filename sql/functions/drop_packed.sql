CREATE FUNCTION hopper.drop_packed(packed_table text) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_drop_packed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.drop_packed(text) IS
    'drops a packed table, its summary and the rows that its split put aside; returns the number of tables, 0 where there are none

Task: 1.3 pack
packed_table: packed table, made by training_preprocessor() or validation_preprocessor()
Example:
SELECT hopper.validation_preprocessor(source_table := ''points_test'', output_table := ''packed_to_drop'',
    packed_table := ''points_packed'');
SELECT hopper.drop_packed(packed_table := ''packed_to_drop'');';
