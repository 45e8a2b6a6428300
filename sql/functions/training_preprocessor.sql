CREATE FUNCTION hopper.training_preprocessor(
    source_table text,
    output_table text,
    dependent_varname text,
    independent_varname text,
    buffer_size int DEFAULT NULL,
    normalizing_const real DEFAULT 1.0,
    num_classes hopper.integers DEFAULT NULL,
    distribution_rules text DEFAULT NULL,
    partitions int DEFAULT NULL,
    seed bigint DEFAULT 0,
    validation_fraction float8 DEFAULT NULL,
    fold_column text DEFAULT NULL,
    image_shape int[] DEFAULT NULL,
    starts int[] DEFAULT NULL
) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hopper_sql_training_preprocessor';

COMMENT ON FUNCTION hopper.training_preprocessor(
    text, text, text, text, int, real, hopper.integers, text, int, bigint, float8, text, int[], int[]) IS
'packs a table or view for training into <output_table> and <output_table>_summary, on request also a part of its rows into <output_table>_validation; returns the number of rows';
