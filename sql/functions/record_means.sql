CREATE FUNCTION hopper.record_means(model_table text, output_table text, began timestamp with time zone, metric text, trials integer[],
    means double precision[]) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_record_means' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.record_means(text, text, timestamp with time zone, text, integer[], double precision[]) IS
    'part of cross_validate(): hopper.runs has the run that has trained these models, of the last fold, with the means of all folds, the best first';
