CREATE FUNCTION hopper.validation_preprocessor(
    source_table text,
    output_table text,
    dependent_varname text DEFAULT NULL,
    independent_varname text DEFAULT NULL,
    packed_table text DEFAULT NULL,
    buffer_size int DEFAULT NULL,
    distribution_rules text DEFAULT NULL
) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hopper_sql_validation_preprocessor';

COMMENT ON FUNCTION hopper.validation_preprocessor(text, text, text, text, text, int, text) IS
'packs a table or view for validation with the columns, classes, constant, types and shapes of a packed training table; returns the number of rows';
