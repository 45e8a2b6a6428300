/*
 * summary_row.c
 *		<out>_summary: the training run, in one row, and what it tells of the run later on.
 */
#include "pg/train/output_rows.h"

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

	hopper_fill(row, "source_table", hopper_text_param(record->source_table));
	hopper_fill(row, "validation_table", hopper_text_param(record->validation_table));
	hopper_fill(row, "model", hopper_text_param(model->quoted));
	hopper_fill(row, "model_info", hopper_text_param(info_table.quoted));
	hopper_fill(row, "dependent_varname",
				desc->n_outputs > 0 ? hopper_texts_param(desc->n_outputs, output_columns(desc))
				: hopper_texts_param(1, &y_column));
	hopper_fill(row, "independent_varname",
				hopper_texts_param(train->n_x_columns, train->x_columns));
	hopper_fill(row, "model_arch_table", hopper_text_param(record->model_arch_table));
	hopper_fill(row, "model_selection_table", hopper_text_param(record->model_selection_table));
	hopper_fill(row, "object_table", HOPPER_NULL(TEXTOID));
	hopper_fill(row, "num_iterations", HOPPER_INT4(record->num_iterations));
	hopper_fill(row, "metrics_compute_frequency", HOPPER_INT4(record->frequency));
	hopper_fill(row, "warm_start", HOPPER_BOOL(record->warm_start));
	hopper_fill(row, "name", hopper_text_param(record->name));
	hopper_fill(row, "description", hopper_text_param(record->description));
	hopper_fill(row, "start_training_time", HOPPER_TIME(record->started));
	hopper_fill(row, "end_training_time", HOPPER_TIME(record->ended));
	hopper_fill(row, "madlib_version", hopper_text_param("model_hopper " HOPPER_VERSION));
	hopper_fill(row, "num_classes",
				HOPPER_IF(desc->y_kind == HOPPER_LABEL_CLASS,
						  hopper_array_param(hopper_array(INT4OID, 1, &classes, NULL))));
	hopper_fill_given(row, hopper_class_values_column(train), (hopper_param) {
		train->class_values_column ? train->class_values_type : TEXTARRAYOID,
		train->class_values, train->class_values == (Datum) 0});
	hopper_fill(row, "dependent_vartype",
				train->y_types ? hopper_texts_param(desc->n_outputs, train->y_types)
				: hopper_texts_param(1, &train->y_sql_type));
	hopper_fill(row, "normalizing_const",
				HOPPER_PARAM(FLOAT4OID, Float4GetDatum((float4) desc->normalizing_const)));
	hopper_fill(row, "metrics_iters",
				longest ? hopper_history_iterations(longest) : hopper_array_param((Datum) 0));
	hopper_fill(row, "seed", HOPPER_INT8((int64) options->seed));
	hopper_fill(row, "threads", HOPPER_INT4(options->threads));
	hopper_fill(row, "dtype", hopper_text_param(options->precision));
	hopper_fill(row, "training_metrics_mode", hopper_text_param(
		training ? hopper_training_metrics_name(options->training_metrics) : NULL));
	/* What is not given, or zero, is the frequency of all metrics. */
	hopper_fill(row, "validation_freq",
				HOPPER_IF(valid, HOPPER_INT4(options->validation_freq > 0
											 ? options->validation_freq : record->frequency)));
	hopper_fill(row, "numerics_class", hopper_text_param(numerics_class(training)));
	hopper_fill(row, "seconds", HOPPER_SECONDS(info->seconds_wall));
	hopper_fill(row, "seconds_busy", HOPPER_SECONDS(info->seconds_busy));
	hopper_fill(row, "models_trained",
				HOPPER_INT4(training ? training->n_configs - training->n_failed : 0));
	hopper_fill(row, "models_failed", HOPPER_INT4(training ? training->n_failed : 0));
	hopper_fill(row, "best_mst_key",
				HOPPER_IF(record->best.metric, HOPPER_INT4(record->best.mst_key)));
	hopper_fill(row, "best_metric", hopper_text_param(record->best.metric));
	hopper_fill(row, "best_value",
				HOPPER_IF(record->best.metric, HOPPER_FLOAT8(record->best.value)));
	hopper_fill(row, "source_checksum", hopper_text_param(train->checksum));
	hopper_fill(row, "validation_checksum", hopper_text_param(valid ? valid->checksum : NULL));
	hopper_fill(row, "training_rows", HOPPER_INT8(desc->n_rows));
	hopper_fill(row, "validation_rows",
				HOPPER_IF(valid, HOPPER_INT8(valid ? valid->desc.n_rows : 0)));
	hopper_fill(row, "independent_vartype",
				hopper_texts_param(train->n_x_columns, train->x_sql_types));
	hopper_fill(row, "independent_type", hopper_text_param(hopper_pack_type_name(desc->x_type)));
	hopper_fill(row, "independent_shape",
				hopper_numbers_param(INT4OID, desc->x_rank, desc->x_shape));
	hopper_fill(row, "inputs", hopper_text_param(train->inputs_text));
	hopper_fill(row, "outputs", hopper_text_param(train->outputs_text));
	hopper_fill(row, "padding", hopper_text_param(train->padding_text));
	hopper_fill(row, "schema", train->schema_text
				? HOPPER_PARAM(JSONBOID, hopper_value_of(JSONBOID, train->schema_text))
				: HOPPER_NULL(JSONBOID));
	hopper_fill(row, "label_kind", hopper_text_param(hopper_label_kind_name(desc->y_kind)));
	hopper_fill(row, "label_type", hopper_text_param(hopper_pack_type_name(desc->y_type)));
	hopper_fill(row, "label_shape", hopper_numbers_param(INT4OID, desc->y_rank, desc->y_shape));
	hopper_fill(row, "version", hopper_text_param(HOPPER_VERSION));
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
