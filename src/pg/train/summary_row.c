/*
 * summary_row.c
 *		<out>_summary: the training run, in one row, and what it tells of the run later on.
 */
#include "pg/train/output_rows.h"

#include "utils/jsonb.h"

#include "pg/codec/rows.h"
#include "pg/train/options.h"

/* MADlib's, in its order, then ours */
static const hopper_column run_columns[] = {
	HOPPER_COLUMN_SOURCE,
	{"validation_table", TEXTOID, "packed table that models were compared by"},
	{"model", TEXTOID, "table of models",.marks = true},
	{"model_info", TEXTOID, "table with a row per configuration",.marks = true},
	HOPPER_COLUMN_Y_NAMES,
	HOPPER_COLUMN_X_NAMES,
	{"model_arch_table", TEXTOID, HOPPER_MEANS_ARCH_TABLE},
	{"model_selection_table", TEXTOID, "table of configurations"},
	{"object_table", TEXTOID, HOPPER_MEANS_OBJECT_TABLE},
	{"num_iterations", INT4OID, "passes over the training data"},
	{"metrics_compute_frequency", INT4OID, "metrics were taken at every so many iterations"},
	{"warm_start", BOOLOID, "whether training went on from earlier models"},
	{"name", TEXTOID, HOPPER_MEANS_GIVEN},
	{"description", TEXTOID, HOPPER_MEANS_GIVEN},
	{"start_training_time", TIMESTAMPTZOID, "when the call began",.marks = true},
	{"end_training_time", TIMESTAMPTZOID, "when the call ended"},
	{"madlib_version", TEXTOID, "for MADlib's sake: version of model_hopper"},
	HOPPER_COLUMN_NUM_CLASSES,
	HOPPER_COLUMN_CLASSES,
	HOPPER_COLUMN_Y_SQL_TYPES,
	HOPPER_COLUMN_CONSTANT,
	{"metrics_iters", INT4ARRAYOID, HOPPER_MEANS_METRICS_ITERS},
	HOPPER_COLUMN_SEED,
	{"threads", INT4OID, "threads that trained"},
	{"dtype", TEXTOID, "what products of layers were computed in",
	.since = "0.2.0",.before = "precision"},
	{"training_metrics_mode", TEXTOID, "how training metrics were taken: running, final or every",
	.since = "0.2.0",.before = "training_metrics"},
	{"validation_freq", INT4OID, "models were validated at every so many iterations",
	.since = "0.2.0"},
	{"numerics_class", TEXTOID, "models of one class can be continued and compared bit by bit"},
	{"seconds", FLOAT8OID, "that the call took"},
	{"seconds_busy", FLOAT8OID, "of all threads together, in which they trained or evaluated"},
	{"models_trained", INT4OID, "how many"},
	{"models_failed", INT4OID, "how many"},
	{"best_mst_key", INT4OID, "the best configuration"},
	{"best_metric", TEXTOID, "what the best configuration is the best by"},
	{"best_value", FLOAT8OID, "its value"},
	{"source_checksum", TEXTOID, "of the training data",.marks = true},
	{"validation_checksum", TEXTOID, "of the validation data"},
	{"training_rows", INT8OID, "rows trained on"},
	{"validation_rows", INT8OID, "rows validated on"},
	HOPPER_COLUMN_X_SQL_TYPES,
	HOPPER_COLUMN_X_TYPE,
	HOPPER_COLUMN_X_SHAPE,
	HOPPER_COLUMN_INPUTS,
	HOPPER_COLUMN_OUTPUTS,
	HOPPER_COLUMN_PADDING,
	HOPPER_COLUMN_SCHEMA,
	{"label_kind", TEXTOID, HOPPER_MEANS_Y_KIND},
	HOPPER_COLUMN_Y_TYPE,
	HOPPER_COLUMN_Y_SHAPE,
	{"version", TEXTOID, "of model_hopper"},
};

const hopper_layout hopper_run_layout = {
	.what = "a summary of training",.completes = true,
	.columns = run_columns,.n = lengthof(run_columns)
};

const char *
hopper_class_values_column(const hopper_packed *train)
{
	return train->class_values_column ? train->class_values_column
		: hopper_class_values_name(train->desc.y_column);
}

/* Label columns of several outputs. */
static const char *const *
output_columns(const hopper_data_desc *desc)
{
	const char **columns = palloc(desc->n_outputs * sizeof(char *));

	for (int i = 0; i < desc->n_outputs; i++)
		columns[i] = desc->outputs[i].column;
	return (const char *const *) columns;
}

/* Of the run, or of it and of others from whose states its models went on. */
static const char *
numerics_class(const hopper_training *training)
{
	bool		mixed = false;

	if (training == NULL)
		return "";
	for (int i = 0; training->results && i < training->n_configs; i++)
		mixed = mixed || training->results[i].mixed;
	return psprintf("%s%s", hopper_from_utf8(training->info.numerics_class),
					mixed ? ", mixed" : "");
}

hopper_output_row *
hopper_summary_row(const hopper_name *model, const hopper_packed *train,
				   const hopper_training *training, const hopper_run_record *record)
{
	static const hopper_run_record no_record;
	static const hopper_run_options no_options;
	static const hopper_run_info no_info;
	const hopper_data_desc *desc = &train->desc;
	const hopper_run_options *options = training ? &training->options : &no_options;
	const hopper_run_info *info = training ? &training->info : &no_info;
	const hopper_packed *valid = training ? training->valid : NULL;
	const char *kind = desc->y_kind == HOPPER_LABEL_CLASS ? "class" :
		desc->y_kind == HOPPER_LABEL_VALUE ? "value" : "array";
	hopper_name info_table = hopper_name_with_suffix(model, "info");
	const char *y_column = desc->y_column;
	Datum		classes = Int32GetDatum(desc->num_classes);
	const hopper_history *longest = NULL;
	hopper_output_row *row = hopper_new_row(&hopper_run_layout);

	if (record == NULL)
		record = &no_record;
	for (int i = 0; training && i < training->n_configs; i++)
		if (longest == NULL || training->histories[i]->n > longest->n)
			longest = training->histories[i];

	hopper_fill_text(row, "source_table", record->source_table);
	hopper_fill_text(row, "validation_table", record->validation_table);
	hopper_fill_text(row, "model", model->quoted);
	hopper_fill_text(row, "model_info", info_table.quoted);
	hopper_fill_array(row, "dependent_varname",
					  desc->n_outputs > 0
					  ? hopper_texts_datum(desc->n_outputs, output_columns(desc))
					  : hopper_texts_datum(1, &y_column));
	hopper_fill_array(row, "independent_varname",
					  hopper_texts_datum(train->n_x_columns,
										 (const char *const *) train->x_columns));
	hopper_fill_text(row, "model_arch_table", record->model_arch_table);
	hopper_fill_text(row, "model_selection_table", record->model_selection_table);
	hopper_fill_text(row, "object_table", NULL);
	hopper_fill_int(row, "num_iterations", record->num_iterations);
	hopper_fill_int(row, "metrics_compute_frequency", record->frequency);
	hopper_fill(row, "warm_start", BoolGetDatum(record->warm_start), false);
	hopper_fill_text(row, "name", record->name);
	hopper_fill_text(row, "description", record->description);
	hopper_fill(row, "start_training_time", TimestampTzGetDatum(record->started), false);
	hopper_fill(row, "end_training_time", TimestampTzGetDatum(record->ended), false);
	hopper_fill_text(row, "madlib_version", "model_hopper " HOPPER_VERSION);
	hopper_fill_array(row, "num_classes",
					  desc->y_kind == HOPPER_LABEL_CLASS
					  ? hopper_array(INT4OID, 1, &classes, NULL) : (Datum) 0);
	hopper_fill_given(row, hopper_class_values_column(train),
					  train->class_values_column ? train->class_values_type : TEXTARRAYOID,
					  train->class_values, train->class_values == (Datum) 0);
	hopper_fill_array(row, "dependent_vartype",
					  train->y_types
					  ? hopper_texts_datum(desc->n_outputs, (const char *const *) train->y_types)
					  : hopper_texts_datum(1, (const char *const *) &train->y_sql_type));
	hopper_fill(row, "normalizing_const", Float4GetDatum((float4) desc->normalizing_const), false);
	hopper_fill_array(row, "metrics_iters",
					  longest ? hopper_history_iterations(longest) : (Datum) 0);
	hopper_fill(row, "seed", Int64GetDatum((int64) options->seed), false);
	hopper_fill_int(row, "threads", options->threads);
	hopper_fill_text(row, "dtype", options->precision);
	hopper_fill_text(row, "training_metrics_mode",
					 training ? hopper_training_metrics_name(options->training_metrics) : NULL);
	/* What is not given, or zero, is the frequency of all metrics. */
	hopper_fill(row, "validation_freq",
				Int32GetDatum(options->validation_freq > 0 ? options->validation_freq
				: record->frequency), valid == NULL);
	hopper_fill_text(row, "numerics_class", numerics_class(training));
	hopper_fill_seconds(row, "seconds", info->seconds_wall);
	hopper_fill_seconds(row, "seconds_busy", info->seconds_busy);
	hopper_fill_int(row, "models_trained",
					training ? training->n_configs - training->n_failed : 0);
	hopper_fill_int(row, "models_failed", training ? training->n_failed : 0);
	hopper_fill(row, "best_mst_key", Int32GetDatum(record->best.mst_key),
				record->best.metric == NULL);
	hopper_fill_text(row, "best_metric", record->best.metric);
	hopper_fill(row, "best_value", Float8GetDatum(record->best.value),
				record->best.metric == NULL);
	hopper_fill_text(row, "source_checksum", train->checksum);
	hopper_fill_text(row, "validation_checksum", valid ? valid->checksum : NULL);
	hopper_fill(row, "training_rows", Int64GetDatum(desc->n_rows), false);
	hopper_fill(row, "validation_rows", Int64GetDatum(valid ? valid->desc.n_rows : 0),
				valid == NULL);
	hopper_fill_array(row, "independent_vartype",
					  hopper_texts_datum(train->n_x_columns,
										 (const char *const *) train->x_sql_types));
	hopper_fill_text(row, "independent_type", hopper_pack_type_name(desc->x_type));
	hopper_fill_array(row, "independent_shape", hopper_shape_datum(desc->x_rank, desc->x_shape));
	hopper_fill_text(row, "inputs", train->inputs_text);
	hopper_fill_text(row, "outputs", train->outputs_text);
	hopper_fill_text(row, "padding", train->padding_text);
	hopper_fill(row, "schema", train->schema_text
				? DirectFunctionCall1(jsonb_in, CStringGetDatum(train->schema_text)) : (Datum) 0,
				train->schema_text == NULL);
	hopper_fill_text(row, "label_kind", kind);
	hopper_fill_text(row, "label_type", hopper_pack_type_name(desc->y_type));
	hopper_fill_array(row, "label_shape", hopper_shape_datum(desc->y_rank, desc->y_shape));
	hopper_fill_text(row, "version", HOPPER_VERSION);
	return row;
}

static int32
count_cell(const hopper_name *table, int column, int32 most)
{
	return (int32) hopper_int_cell(table, 0, column, 1, most);
}

void
hopper_read_summary(const hopper_outputs *outputs, hopper_run_record *record,
					hopper_run_options *options)
{
	const hopper_name *table = &outputs->summary;
	Oid			summary = hopper_relation_oid(table, false);

	if (hopper_select("SELECT source_table, validation_table, model_arch_table,"
					  " num_iterations::pg_catalog.int4, metrics_compute_frequency,"
					  " threads::pg_catalog.int4, %s, %s, %s FROM %s",
					  hopper_column_selected(summary, HOPPER_TABLE_RUN, "training_metrics_mode"),
					  hopper_column_selected(summary, HOPPER_TABLE_RUN, "dtype"),
					  hopper_column_selected(summary, HOPPER_TABLE_RUN, "validation_freq"),
					  table->quoted) != 1)
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" does not have one row", table->shown));
	record->source_table = hopper_text_cell(table, 0, 1);
	record->validation_table = hopper_cell(0, 2);
	record->model_arch_table = hopper_text_cell(table, 0, 3);
	options->num_iterations = record->num_iterations = count_cell(table, 4, PG_INT32_MAX);
	options->metrics_compute_frequency = record->frequency = count_cell(table, 5, PG_INT32_MAX);
	/* Tables of earlier versions do not tell it. */
	if (hopper_cell(0, 9))
		options->validation_freq = count_cell(table, 9, PG_INT32_MAX);
	options->threads = count_cell(table, 6, HOPPER_MAX_THREADS);
	options->training_metrics = hopper_training_metrics_named(hopper_text_cell(table, 0, 7));
	options->precision = hopper_text_cell(table, 0, 8);
}
