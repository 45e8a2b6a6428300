/*
 * output_rows.c
 *		The columns of the tables that training leaves behind, and what is put into them.
 */
#include "pg/train/output_rows.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/timestamp.h"

#include "pg/codec/rows.h"
#include "pg/server/words.h"
#include "pg/train/options.h"
#include "pg/train/results.h"

/* --- a row --- */

void
hopper_put(hopper_output_row *row, const char *name, Oid type, Datum value, bool isnull)
{
	if (row->n == HOPPER_OUTPUT_COLUMNS)
		elog(ERROR, "too many columns in an output table");
	row->names[row->n] = name;
	row->types[row->n] = type;
	row->expressions[row->n] = NULL;
	row->values[row->n] = value;
	row->nulls[row->n] = isnull;
	row->n++;
}

static void
put_text(hopper_output_row *row, const char *name, const char *value)
{
	hopper_put(row, name, TEXTOID, value ? CStringGetTextDatum(value) : (Datum) 0, value == NULL);
}

void
hopper_put_int(hopper_output_row *row, const char *name, int32 value)
{
	hopper_put(row, name, INT4OID, Int32GetDatum(value), false);
}

static void
put_float(hopper_output_row *row, const char *name, double value)
{
	hopper_put(row, name, FLOAT8OID, Float8GetDatum(value), false);
}

/* The clock's digits below a microsecond only fill the screen. */
static void
put_seconds(hopper_output_row *row, const char *name, double seconds)
{
	put_float(row, name, hopper_round_seconds(seconds));
}

/* The type is an array's; (Datum) 0 is NULL. */
static void
put_array(hopper_output_row *row, const char *name, Oid type, Datum value)
{
	hopper_put(row, name, type, value, value == (Datum) 0);
}

static Datum
text_array(int n, const char *const *texts)
{
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		values[i] = CStringGetTextDatum(texts[i]);
	return PointerGetDatum(construct_array(values, n, TEXTOID, -1, false, 'i'));
}

static Datum
shape_array(int rank, const int64_t *shape)
{
	Datum	   *values = palloc(Max(rank, 1) * sizeof(Datum));

	for (int i = 0; i < rank; i++)
		values[i] = Int32GetDatum((int32) shape[i]);
	return PointerGetDatum(construct_array(values, rank, INT4OID, sizeof(int32), true, 'i'));
}

void
hopper_output_create(const hopper_name *table, const hopper_output_row *row,
					 const char *distribution)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "CREATE TABLE %s AS SELECT ", table->quoted);
	for (int i = 0; i < row->n; i++)
	{
		if (row->expressions[i])
			appendStringInfo(&query, "%s%s AS %s", i ? ", " : "", row->expressions[i],
							 hopper_identifier(row->names[i]));
		else
			appendStringInfo(&query, "%sNULL::%s AS %s", i ? ", " : "",
							 hopper_format_type_qualified(row->types[i]),
							 hopper_identifier(row->names[i]));
	}
	appendStringInfo(&query, " WITH NO DATA%s", distribution);
	hopper_exec("%s", query.data);
}

void
hopper_output_insert(const hopper_name *table, const hopper_output_row *row)
{
	Oid			relation = hopper_relation_oid(table, false);
	StringInfoData query;
	StringInfoData selected;
	Oid			types[HOPPER_OUTPUT_COLUMNS];
	Datum		values[HOPPER_OUTPUT_COLUMNS];
	char		nulls[HOPPER_OUTPUT_COLUMNS];
	int			n = 0;
	SPIPlanPtr	plan;
	int			rc;

	initStringInfo(&query);
	initStringInfo(&selected);
	appendStringInfo(&query, "INSERT INTO %s (", table->quoted);
	for (int i = 0; i < row->n; i++)
	{
		const char *column = hopper_column_there(relation, row->names[i]);

		/* An earlier version's table has no place for it, and misses it as little. */
		if (column == NULL && (row->nulls[i] || !hopper_column_needed(row->names[i])))
			continue;
		types[n] = row->types[i];
		values[n] = row->values[i];
		nulls[n] = row->nulls[i] ? 'n' : ' ';
		appendStringInfo(&query, "%s%s", n ? ", " : "",
						 hopper_identifier(column ? column : row->names[i]));
		appendStringInfo(&selected, "%s$%d", n ? ", " : "", n + 1);
		n++;
	}
	appendStringInfo(&query, ") SELECT %s", selected.data);
	/* A generic plan: a custom one would hold copies of the values, which may be a gigabyte. */
	plan = SPI_prepare_cursor(query.data, n, types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "inserting into an output table failed: %s",
			 SPI_result_code_string(SPI_result));
	rc = SPI_execute_plan(plan, values, nulls, false, 0);
	if (rc < 0)
		elog(ERROR, "inserting into an output table failed: %s", SPI_result_code_string(rc));
	/* A trigger or a rule has done something else. */
	if (rc != SPI_OK_INSERT || SPI_processed != 1)
		hopper_outputs_refuse_table(table, "take");
	SPI_freeplan(plan);
	pfree(selected.data);
	pfree(query.data);
}

/* --- the columns --- */

hopper_output_row *
hopper_info_row(const hopper_training *training, int at)
{
	static const hopper_config no_config;
	static const hopper_model_result no_result;
	static hopper_history no_history;
	const hopper_config *config = training ? &training->configs[at] : &no_config;
	const hopper_model_result *result = training ? &training->results[at] : &no_result;
	const hopper_history *history = training ? training->histories[at] : &no_history;
	const hopper_point *last[2];
	const char *metrics[HOPPER_MAX_METRICS];
	bool		failed = result->status == HOPPER_MODEL_FAILED;
	hopper_output_row *row = palloc0(sizeof(hopper_output_row));

	for (int split = 0; split < 2; split++)
	{
		const hopper_point *kept;

		last[split] = hopper_history_last(history, split);
		if (failed || last[split] == NULL)
			continue;
		/* What an earlier run validated is not what these weights would reach. */
		kept = hopper_history_at(history, history->n - 1);
		/* The best iteration's weights, with what they reached. */
		if (result->kept_iteration != result->iterations)
			kept = hopper_history_find(history, result->kept_iteration);
		last[split] = kept && kept->known[split] ? kept : NULL;
	}
	for (int i = 0; i < result->n_metrics; i++)
		metrics[i] = hopper_from_utf8(result->metrics_type[i]);

#define FINAL_METRIC(name, split) \
	hopper_put(row, name, FLOAT8OID, \
			   last[split] ? Float8GetDatum(hopper_point_metric(history, last[split], split, 0)) \
			   : (Datum) 0, \
			   last[split] == NULL || (last[split]->has_metric[split] & 1) == 0)
#define FINAL_LOSS(name, split) \
	hopper_put(row, name, FLOAT8OID, \
			   last[split] ? Float8GetDatum(last[split]->loss[split]) : (Datum) 0, \
			   last[split] == NULL)

	/* MADlib's, in its order */
	hopper_put_int(row, "mst_key", config->mst_key);
	hopper_put_int(row, "model_id", config->model_id);
	put_text(row, "compile_params",
			 config->compile_params ? hopper_from_utf8(config->compile_params) : NULL);
	put_text(row, "fit_params", config->fit_params ? hopper_from_utf8(config->fit_params) : NULL);
	put_text(row, "model_type", "model_hopper");
	put_float(row, "model_size", result->n_parameters * sizeof(float) / 1024.0);
	put_array(row, "metrics_elapsed_time", FLOAT8ARRAYOID, hopper_history_elapsed(history));
	put_array(row, "metrics_type", TEXTARRAYOID,
			  result->n_metrics ? text_array(result->n_metrics, metrics) : (Datum) 0);
	put_text(row, "loss_type", result->loss_type[0] ? hopper_from_utf8(result->loss_type) : NULL);
	FINAL_METRIC("training_metrics_final", HOPPER_SPLIT_TRAIN);
	FINAL_LOSS("training_loss_final", HOPPER_SPLIT_TRAIN);
	put_array(row, "training_metrics", FLOAT8ARRAYOID,
			  hopper_history_metric(history, HOPPER_SPLIT_TRAIN, 0));
	put_array(row, "training_loss", FLOAT8ARRAYOID,
			  hopper_history_loss(history, HOPPER_SPLIT_TRAIN));
	FINAL_METRIC("validation_metrics_final", HOPPER_SPLIT_VALID);
	FINAL_LOSS("validation_loss_final", HOPPER_SPLIT_VALID);
	put_array(row, "validation_metrics", FLOAT8ARRAYOID,
			  hopper_history_metric(history, HOPPER_SPLIT_VALID, 0));
	put_array(row, "validation_loss", FLOAT8ARRAYOID,
			  hopper_history_loss(history, HOPPER_SPLIT_VALID));

	/* ours */
	put_array(row, "metrics_iters", INT4ARRAYOID, hopper_history_iterations(history));
	put_array(row, "training_metrics_all", FLOAT8ARRAYOID,
			  hopper_history_metrics(history, HOPPER_SPLIT_TRAIN, result->n_metrics));
	put_array(row, "validation_metrics_all", FLOAT8ARRAYOID,
			  hopper_history_metrics(history, HOPPER_SPLIT_VALID, result->n_metrics));
	put_text(row, "status", failed ? "failed" : result->stopped ? "stopped" : "done");
	put_text(row, "error", failed ? hopper_from_utf8(result->error) : NULL);
	put_text(row, "error_detail",
			 failed && result->error_detail[0] ? hopper_from_utf8(result->error_detail) : NULL);
	hopper_put_int(row, "iterations", result->iterations);
	put_seconds(row, "seconds_training", result->seconds_training);
	put_seconds(row, "seconds_evaluating", result->seconds_evaluating);
	put_seconds(row, "seconds_waiting", result->seconds_waiting);
	hopper_put(row, "examples_per_second", FLOAT8OID,
			   Float8GetDatum(result->seconds_training > 0
							  ? result->examples / result->seconds_training : 0),
			   result->seconds_training <= 0);
	hopper_put(row, "parameters", INT8OID, Int64GetDatum(result->n_parameters), false);
	put_text(row, "state_digest", failed ? NULL : result->digest);
	hopper_put(row, "best_iteration", INT4OID, Int32GetDatum(result->best_iteration),
			   result->best_iteration == 0);
	hopper_put(row, "learning_rate", FLOAT8OID, Float8GetDatum(result->learning_rate), failed);
	return row;
}

const char *
hopper_class_values_column(const hopper_packed *train)
{
	return train->class_values_column ? train->class_values_column
		: hopper_class_values_name(train->desc.y_column);
}

/* "(SELECT <column> FROM <packed>_summary)": a column of the label's own type. */
static char *
class_values_expression(const hopper_packed *train)
{
	hopper_name summary;

	if (train->class_values_column == NULL)
		return "NULL::pg_catalog.text[]";
	summary = hopper_name_with_suffix(&train->table, "summary");
	return psprintf("(SELECT %s FROM %s)", hopper_identifier(train->class_values_column),
					summary.quoted);
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
	for (int i = 0; i < training->n_configs; i++)
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
	hopper_output_row *row = palloc0(sizeof(hopper_output_row));

	if (record == NULL)
		record = &no_record;
	for (int i = 0; training && i < training->n_configs; i++)
		if (longest == NULL || training->histories[i]->n > longest->n)
			longest = training->histories[i];

	/* MADlib's, in its order */
	put_text(row, "source_table", record->source_table);
	put_text(row, "validation_table", record->validation_table);
	put_text(row, "model", model->quoted);
	put_text(row, "model_info", info_table.quoted);
	put_array(row, "dependent_varname", TEXTARRAYOID,
			  desc->n_outputs > 0 ? text_array(desc->n_outputs, output_columns(desc))
			  : text_array(1, &y_column));
	put_array(row, "independent_varname", TEXTARRAYOID,
			  text_array(train->n_x_columns, (const char *const *) train->x_columns));
	put_text(row, "model_arch_table", record->model_arch_table);
	put_text(row, "model_selection_table", record->model_selection_table);
	put_text(row, "object_table", NULL);
	hopper_put_int(row, "num_iterations", record->num_iterations);
	hopper_put_int(row, "metrics_compute_frequency", record->frequency);
	hopper_put(row, "warm_start", BOOLOID, BoolGetDatum(record->warm_start), false);
	put_text(row, "name", record->name);
	put_text(row, "description", record->description);
	hopper_put(row, "start_training_time", TIMESTAMPTZOID, TimestampTzGetDatum(record->started),
			   false);
	hopper_put(row, "end_training_time", TIMESTAMPTZOID, TimestampTzGetDatum(record->ended), false);
	put_text(row, "madlib_version", "model_hopper " HOPPER_VERSION);
	put_array(row, "num_classes", INT4ARRAYOID,
			  desc->y_kind == HOPPER_LABEL_CLASS
			  ? PointerGetDatum(construct_array(&classes, 1, INT4OID, sizeof(int32), true, 'i'))
			  : (Datum) 0);
	hopper_put(row, hopper_class_values_column(train),
			   train->class_values_column ? train->class_values_type : TEXTARRAYOID,
			   train->class_values, train->class_values == (Datum) 0);
	/* The values are those that were read before the training, whatever is in the table now. */
	if (training == NULL)
		row->expressions[row->n - 1] = class_values_expression(train);
	put_array(row, "dependent_vartype", TEXTARRAYOID,
			  train->y_types
			  ? text_array(desc->n_outputs, (const char *const *) train->y_types)
			  : text_array(1, (const char *const *) &train->y_sql_type));
	hopper_put(row, "normalizing_const", FLOAT4OID,
			   Float4GetDatum((float4) desc->normalizing_const), false);
	put_array(row, "metrics_iters", INT4ARRAYOID,
			  longest ? hopper_history_iterations(longest) : (Datum) 0);

	/* ours */
	hopper_put(row, "seed", INT8OID, Int64GetDatum((int64) options->seed), false);
	hopper_put_int(row, "threads", options->threads);
	put_text(row, "dtype", options->precision);
	put_text(row, "training_metrics_mode",
			 training ? hopper_training_metrics_name(options->training_metrics) : NULL);
	/* What is not given, or zero, is the frequency of all metrics. */
	hopper_put(row, "validation_freq", INT4OID,
			   Int32GetDatum(options->validation_freq > 0 ? options->validation_freq
							 : record->frequency), valid == NULL);
	put_text(row, "numerics_class", numerics_class(training));
	put_seconds(row, "seconds", info->seconds_wall);
	put_seconds(row, "seconds_busy", info->seconds_busy);
	hopper_put_int(row, "models_trained", training ? training->n_configs - training->n_failed : 0);
	hopper_put_int(row, "models_failed", training ? training->n_failed : 0);
	hopper_put(row, "best_mst_key", INT4OID, Int32GetDatum(record->best.mst_key),
			   record->best.metric == NULL);
	put_text(row, "best_metric", record->best.metric);
	hopper_put(row, "best_value", FLOAT8OID, Float8GetDatum(record->best.value),
			   record->best.metric == NULL);
	put_text(row, "source_checksum", train->checksum);
	put_text(row, "validation_checksum", valid ? valid->checksum : NULL);
	hopper_put(row, "training_rows", INT8OID, Int64GetDatum(desc->n_rows), false);
	hopper_put(row, "validation_rows", INT8OID, Int64GetDatum(valid ? valid->desc.n_rows : 0),
			   valid == NULL);
	put_array(row, "independent_vartype", TEXTARRAYOID,
			  text_array(train->n_x_columns, (const char *const *) train->x_sql_types));
	put_text(row, "independent_type", hopper_pack_type_name(desc->x_type));
	put_array(row, "independent_shape", INT4ARRAYOID, shape_array(desc->x_rank, desc->x_shape));
	put_text(row, "inputs", train->inputs_text);
	put_text(row, "outputs", train->outputs_text);
	put_text(row, "padding", train->padding_text);
	put_text(row, "label_kind", kind);
	put_text(row, "label_type", hopper_pack_type_name(desc->y_type));
	put_array(row, "label_shape", INT4ARRAYOID, shape_array(desc->y_rank, desc->y_shape));
	put_text(row, "version", HOPPER_VERSION);
	return row;
}
