CREATE FUNCTION hopper.validation_preprocessor(
    source_table text,
    output_table text,
    dependent_varname hopper.columns DEFAULT NULL,
    independent_varname hopper.columns DEFAULT NULL,
    packed_table text DEFAULT NULL,
    buffer_size bigint DEFAULT NULL,
    distribution_rules text DEFAULT NULL,
    replace boolean DEFAULT false,
    null_labels text DEFAULT 'error'
) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hopper_sql_validation_preprocessor';

COMMENT ON FUNCTION hopper.validation_preprocessor(text, text, hopper.columns, hopper.columns, text,
    bigint, text, boolean, text) IS
'packs a table or view for validation with the columns, classes, constant, types and shapes of a packed training table; returns the number of rows

Task: 1.2 pack
source_table: table, view, materialized view or foreign table, one example per row
output_table: name of the packed table; <output_table>_summary is made with it
dependent_varname: column of the label; by itself that of packed_table, and so are weights
independent_varname: columns of features; by itself those of packed_table, by their names
packed_table: packed training table whose classes, shape and constant the rows are given; it must be given
buffer_size: about how many rows one packed value holds; by itself some 4 MB of them
distribution_rules: Greenplum: ''all_segments'', ''gpu_segments'' or the name of a table of segments; elsewhere NULL or ''all_segments''
replace: take the place of the packed table that is there
null_labels: rows whose label is NULL: ''error'' (unless packed_table has the class of NULL), ''skip'' (left out) or ''class''
Example:
SELECT hopper.validation_preprocessor(source_table := ''points_test'', output_table := ''points_test_packed'',
    dependent_varname := ''y'', independent_varname := ''a, b'', packed_table := ''points_packed'');';
