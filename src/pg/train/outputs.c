/*
 * outputs.c
 *		Making, emptying and filling the output tables of a training run.
 */
#include "pg/train/outputs.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "pg/codec/rows.h"
#include "pg/train/results.h"
#include "pg/server/words.h"
#include "pg/train/options.h"

/*
 * A state in one value. Small, so that the copies that the server makes of it on its way into the
 * table do not count.
 */
#define STATE_PART_BYTES (4 * 1024 * 1024)
#define MAX_COLUMNS 64

/* --- rows of output tables: one list of columns makes the table and fills it --- */

typedef struct output_row
{
	int			n;
	const char *names[MAX_COLUMNS];
	Oid			types[MAX_COLUMNS];
	const char *expressions[MAX_COLUMNS];	/* what the column is made of, or NULL */
	Datum		values[MAX_COLUMNS];
	bool		nulls[MAX_COLUMNS];
} output_row;

static void
put(output_row *row, const char *name, Oid type, Datum value, bool isnull)
{
	if (row->n == MAX_COLUMNS)
		elog(ERROR, "too many columns in an output table");
	row->names[row->n] = name;
	row->types[row->n] = type;
	row->expressions[row->n] = NULL;
	row->values[row->n] = value;
	row->nulls[row->n] = isnull;
	row->n++;
}

static void
put_text(output_row *row, const char *name, const char *value)
{
	put(row, name, TEXTOID, value ? CStringGetTextDatum(value) : (Datum) 0, value == NULL);
}

static void
put_int(output_row *row, const char *name, int32 value)
{
	put(row, name, INT4OID, Int32GetDatum(value), false);
}

static void
put_float(output_row *row, const char *name, double value)
{
	put(row, name, FLOAT8OID, Float8GetDatum(value), false);
}

/* The clock's digits below a microsecond only fill the screen. */
static void
put_seconds(output_row *row, const char *name, double seconds)
{
	put_float(row, name, hopper_round_seconds(seconds));
}

/* The type is an array's; (Datum) 0 is NULL. */
static void
put_array(output_row *row, const char *name, Oid type, Datum value)
{
	put(row, name, type, value, value == (Datum) 0);
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

static void
create_table(const hopper_name *table, const output_row *row, const char *distribution)
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
hopper_outputs_refuse_table(const hopper_name *table, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("\"%s\" does not %s rows as training needs it", table->shown, what),
			 errhint("Look for triggers, rules and policies of row-level security on it.")));
}

static void
insert_row(const hopper_name *table, const output_row *row)
{
	Oid			relation = hopper_relation_oid(table, false);
	StringInfoData query;
	StringInfoData selected;
	Oid			types[MAX_COLUMNS];
	Datum		values[MAX_COLUMNS];
	char		nulls[MAX_COLUMNS];
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
		if (column == NULL && row->nulls[i])
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

/* One configuration; `training` is NULL where only the columns are wanted. */
static output_row *
info_row(const hopper_training *training, int at)
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
	output_row *row = palloc0(sizeof(output_row));

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
	put(row, name, FLOAT8OID, \
		last[split] ? Float8GetDatum(hopper_point_metric(history, last[split], split, 0)) \
		: (Datum) 0, \
		last[split] == NULL || (last[split]->has_metric[split] & 1) == 0)
#define FINAL_LOSS(name, split) \
	put(row, name, FLOAT8OID, last[split] ? Float8GetDatum(last[split]->loss[split]) : (Datum) 0, \
		last[split] == NULL)

	/* MADlib's, in its order */
	put_int(row, "mst_key", config->mst_key);
	put_int(row, "model_id", config->model_id);
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
	put_int(row, "iterations", result->iterations);
	put_seconds(row, "seconds_training", result->seconds_training);
	put_seconds(row, "seconds_evaluating", result->seconds_evaluating);
	put_seconds(row, "seconds_waiting", result->seconds_waiting);
	put(row, "examples_per_second", FLOAT8OID,
		Float8GetDatum(result->seconds_training > 0
					   ? result->examples / result->seconds_training : 0),
		result->seconds_training <= 0);
	put(row, "parameters", INT8OID, Int64GetDatum(result->n_parameters), false);
	put_text(row, "state_digest", failed ? NULL : result->digest);
	put(row, "best_iteration", INT4OID, Int32GetDatum(result->best_iteration),
		result->best_iteration == 0);
	put(row, "learning_rate", FLOAT8OID, Float8GetDatum(result->learning_rate), failed);
	return row;
}

static const char *
class_values_column(const hopper_packed *train)
{
	return train->class_values_column ? train->class_values_column
		: psprintf("%s_class_values", train->desc.y_column);
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

/* `training` and `record` are NULL where only the columns are wanted. */
static output_row *
summary_row(const hopper_name *model, const hopper_packed *train,
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
	output_row *row = palloc0(sizeof(output_row));

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
	put_int(row, "num_iterations", record->num_iterations);
	put_int(row, "metrics_compute_frequency", record->frequency);
	put(row, "warm_start", BOOLOID, BoolGetDatum(record->warm_start), false);
	put_text(row, "name", record->name);
	put_text(row, "description", record->description);
	put(row, "start_training_time", TIMESTAMPTZOID, TimestampTzGetDatum(record->started), false);
	put(row, "end_training_time", TIMESTAMPTZOID, TimestampTzGetDatum(record->ended), false);
	put_text(row, "madlib_version", "model_hopper " HOPPER_VERSION);
	put_array(row, "num_classes", INT4ARRAYOID,
			  desc->y_kind == HOPPER_LABEL_CLASS
			  ? PointerGetDatum(construct_array(&classes, 1, INT4OID, sizeof(int32), true, 'i'))
			  : (Datum) 0);
	put(row, class_values_column(train),
		train->class_values_column ? train->class_values_type : TEXTARRAYOID,
		train->class_values, train->class_values == (Datum) 0);
	/* The values are those that were read before the training, whatever is in the table now. */
	if (training == NULL)
		row->expressions[row->n - 1] = class_values_expression(train);
	put_array(row, "dependent_vartype", TEXTARRAYOID,
			  train->y_types
			  ? text_array(desc->n_outputs, (const char *const *) train->y_types)
			  : text_array(1, (const char *const *) &train->y_sql_type));
	put(row, "normalizing_const", FLOAT4OID, Float4GetDatum((float4) desc->normalizing_const),
		false);
	put_array(row, "metrics_iters", INT4ARRAYOID,
			  longest ? hopper_history_iterations(longest) : (Datum) 0);

	/* ours */
	put(row, "seed", INT8OID, Int64GetDatum((int64) options->seed), false);
	put_int(row, "threads", options->threads);
	put_text(row, "dtype", options->precision);
	put_text(row, "training_metrics_mode",
			 training ? hopper_training_metrics_name(options->training_metrics) : NULL);
	put_text(row, "numerics_class", hopper_from_utf8(info->numerics_class));
	put_seconds(row, "seconds", info->seconds_wall);
	put_seconds(row, "seconds_busy", info->seconds_busy);
	put_int(row, "models_trained", training ? training->n_configs - training->n_failed : 0);
	put_int(row, "models_failed", training ? training->n_failed : 0);
	put(row, "best_mst_key", INT4OID, Int32GetDatum(record->best.mst_key),
		record->best.metric == NULL);
	put_text(row, "best_metric", record->best.metric);
	put(row, "best_value", FLOAT8OID, Float8GetDatum(record->best.value),
		record->best.metric == NULL);
	put_text(row, "source_checksum", train->checksum);
	put_text(row, "validation_checksum", valid ? valid->checksum : NULL);
	put(row, "training_rows", INT8OID, Int64GetDatum(desc->n_rows), false);
	put(row, "validation_rows", INT8OID, Int64GetDatum(valid ? valid->desc.n_rows : 0),
		valid == NULL);
	put_array(row, "independent_vartype", TEXTARRAYOID,
			  text_array(train->n_x_columns, (const char *const *) train->x_sql_types));
	put_text(row, "independent_type", hopper_pack_type_name(desc->x_type));
	put_array(row, "independent_shape", INT4ARRAYOID, shape_array(desc->x_rank, desc->x_shape));
	put_text(row, "inputs", train->inputs_text);
	put_text(row, "outputs", train->outputs_text);
	put_text(row, "label_kind", kind);
	put_text(row, "label_type", hopper_pack_type_name(desc->y_type));
	put_array(row, "label_shape", INT4ARRAYOID, shape_array(desc->y_rank, desc->y_shape));
	put_text(row, "version", HOPPER_VERSION);
	return row;
}

/* --- the tables --- */

hopper_outputs
hopper_outputs_named(const hopper_name *model)
{
	hopper_outputs outputs;

	outputs.model = *model;
	outputs.state = hopper_name_with_suffix(model, "state");
	outputs.info = hopper_name_with_suffix(model, "info");
	outputs.summary = hopper_name_with_suffix(model, "summary");
	return outputs;
}

void
hopper_outputs_tables(const hopper_outputs *outputs, hopper_made *tables)
{
	tables[0] = (hopper_made) {outputs->model, HOPPER_MADE_MODELS};
	tables[1] = (hopper_made) {outputs->info, HOPPER_MADE_INFOS};
	tables[2] = (hopper_made) {outputs->summary, HOPPER_MADE_RUN};
	tables[3] = (hopper_made) {outputs->state, HOPPER_MADE_STATES};
}

int
hopper_search_tables(const hopper_name *model, hopper_made *tables)
{
	if (strlen(model->name) + strlen("_decisions") >= NAMEDATALEN)
		return 0;
	tables[0] = (hopper_made) {hopper_name_with_suffix(model, "trials"), HOPPER_MADE_TRIALS};
	tables[1] = (hopper_made) {hopper_name_with_suffix(model, "decisions"), HOPPER_MADE_DECISIONS};
	tables[2] = (hopper_made) {hopper_name_with_suffix(model, "rungs"), HOPPER_MADE_RUNGS};
	return HOPPER_SEARCH_TABLES;
}

bool
hopper_may_take(const hopper_made *table)
{
	Oid			relation = hopper_relation_oid(&table->name, true);

	return OidIsValid(relation) && hopper_is_made(relation, table->kind) &&
		hopper_is_owner(relation);
}

void
hopper_drop_search_tables(const hopper_name *model)
{
	hopper_made tables[HOPPER_SEARCH_TABLES];
	int			n = hopper_search_tables(model, tables);

	for (int i = 0; i < n; i++)
		if (hopper_may_take(&tables[i]))
			(void) hopper_drop_made(&tables[i], 1, NULL);
}

hopper_outputs
hopper_outputs_make_room(const hopper_outputs *outputs, bool replace)
{
	hopper_made tables[HOPPER_OUTPUT_TABLES];
	hopper_name working;

	hopper_outputs_tables(outputs, tables);
	if (!hopper_make_room(tables, HOPPER_OUTPUT_TABLES, replace))
		return *outputs;
	working = hopper_working_name(&outputs->model);
	return hopper_outputs_named(&working);
}

void
hopper_outputs_replace(const hopper_outputs *outputs, const hopper_outputs *working)
{
	hopper_made tables[HOPPER_OUTPUT_TABLES];
	hopper_made made[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(outputs, tables);
	hopper_outputs_tables(working, made);
	hopper_exchange(tables, made, HOPPER_OUTPUT_TABLES);
	hopper_drop_search_tables(&outputs->model);
}

void
hopper_outputs_lock(const hopper_outputs *outputs)
{
	const hopper_name *tables[] =
	{&outputs->model, &outputs->state, &outputs->info, &outputs->summary};

	(void) hopper_relation_oid(&outputs->model, false);
	/* Before hours of training, after which they are refilled. */
	PreventCommandIfReadOnly("DELETE");
	for (int i = 1; i < lengthof(tables); i++)
	{
		if (!OidIsValid(hopper_relation_oid(tables[i], true)))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not an output table of training", outputs->model.shown),
					 errdetail("It has no companion \"%s\".", tables[i]->shown)));
	}
	for (int i = 0; i < lengthof(tables); i++)
		hopper_lock_table(tables[i], ExclusiveLock, "EXCLUSIVE");
}

void
hopper_outputs_create(const hopper_outputs *outputs, const hopper_packed *train)
{
	hopper_exec("CREATE TABLE %s (mst_key pg_catalog.int4 PRIMARY KEY,"
				" model_weights pg_catalog.bytea, model_arch pg_catalog.json)"
				HOPPER_DISTRIBUTED_BY("mst_key"), outputs->model.quoted);
	hopper_exec("CREATE TABLE %s (mst_key pg_catalog.int4, part pg_catalog.int4,"
				" state pg_catalog.bytea, PRIMARY KEY (mst_key, part))"
				HOPPER_DISTRIBUTED_BY("mst_key"), outputs->state.quoted);
	/* Trained floats do not compress; trying costs half of the time. */
	hopper_exec("ALTER TABLE %s ALTER COLUMN model_weights SET STORAGE EXTERNAL",
				outputs->model.quoted);
	hopper_exec("ALTER TABLE %s ALTER COLUMN state SET STORAGE EXTERNAL", outputs->state.quoted);
	create_table(&outputs->info, info_row(NULL, 0), HOPPER_DISTRIBUTED_BY("mst_key"));
	hopper_exec("ALTER TABLE %s ADD PRIMARY KEY (mst_key)", outputs->info.quoted);
	create_table(&outputs->summary, summary_row(&outputs->model, train, NULL, NULL),
				 HOPPER_DISTRIBUTED_RANDOMLY);
	/* It has no key, and its row is deleted: a publication of deletes would forbid that. */
	if (HOPPER_HAS_PUBLICATIONS)
		hopper_exec("ALTER TABLE %s REPLICA IDENTITY FULL", outputs->summary.quoted);
	hopper_comment_table(&outputs->model,
						 "trained models: a row per configuration that did not fail");
	hopper_comment_table(&outputs->info, "how the models did: a row per configuration");
	hopper_comment_table(&outputs->summary, "the training run");
	hopper_comment_column(&outputs->summary, class_values_column(train),
						  "classes, in the order of their indexes");
	hopper_comment_table(&outputs->state,
						 "what a warm start goes on from; not needed for predictions");
}

static void
check_column(const hopper_name *table, const char *name, Oid type, bool isnull)
{
	Oid			relation = hopper_relation_oid(table, false);
	const char *column = hopper_column_there(relation, name);
	AttrNumber	number;
	Oid			found;
	int32		typmod;
	Oid			collation;

	/* a table of an earlier version */
	if (column == NULL && isnull)
		return;
	if (column == NULL)
		column = name;
	number = hopper_require_column(relation, column);
	get_atttypetypmodcoll(relation, number, &found, &typmod, &collation);
	if (found != type || typmod != -1)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\" must be of type %s, not %s", column, table->shown,
						format_type_be(type), format_type_with_typemod(found, typmod)),
				 errhint("Use the tables as the functions of schema hopper made them.")));
}

void
hopper_check_column(const hopper_name *table, const char *column, Oid type)
{
	check_column(table, column, type, false);
}

void
hopper_outputs_check_columns(const hopper_outputs *outputs, const hopper_packed *train)
{
	const output_row *info = info_row(NULL, 0);
	const output_row *summary = summary_row(&outputs->model, train, NULL, NULL);

	check_column(&outputs->model, "mst_key", INT4OID, false);
	check_column(&outputs->model, "model_weights", BYTEAOID, false);
	check_column(&outputs->model, "model_arch", JSONOID, false);
	check_column(&outputs->state, "mst_key", INT4OID, false);
	check_column(&outputs->state, "part", INT4OID, false);
	check_column(&outputs->state, "state", BYTEAOID, false);
	for (int i = 0; i < info->n; i++)
		check_column(&outputs->info, info->names[i], info->types[i], false);
	/* The class values are written as they are by the rehearsal. */
	for (int i = 0; i < summary->n; i++)
		if (summary->expressions[i] == NULL)
			check_column(&outputs->summary, summary->names[i], summary->types[i],
						 summary->nulls[i]);
}

void
hopper_outputs_clear(const hopper_outputs *outputs, const hopper_training *training)
{
	StringInfoData of_keys;

	initStringInfo(&of_keys);
	if (training->keeps_others)
	{
		appendStringInfoString(&of_keys, " WHERE mst_key OPERATOR(pg_catalog.=) ANY ('{");
		for (int i = 0; i < training->n_configs; i++)
			appendStringInfo(&of_keys, "%s%d", i ? "," : "", training->configs[i].mst_key);
		appendStringInfoString(&of_keys, "}'::pg_catalog.int4[])");
	}
	hopper_change("DELETE FROM %s%s", outputs->model.quoted, of_keys.data);
	hopper_change("DELETE FROM %s%s", outputs->state.quoted, of_keys.data);
	hopper_change("DELETE FROM %s%s", outputs->info.quoted, of_keys.data);
	hopper_change("DELETE FROM %s", outputs->summary.quoted);
}

/* The state first: the core then frees all but the weights. */
static void
write_model(const hopper_outputs *outputs, hopper_training *training, int at)
{
	const hopper_config *config = &training->configs[at];
	bytea	   *part_bytes = palloc(VARHDRSZ + STATE_PART_BYTES);
	bytea	   *weights;
	size_t		weights_size;
	size_t		n;
	output_row	row;

	for (int32 part = 0;; part++)
	{
		/* Filled to the brim, whatever pieces it comes in: parts are alike everywhere. */
		size_t		size = 0;

		while (size < STATE_PART_BYTES &&
			   (n = hopper_results_state(training, at, VARDATA(part_bytes) + size,
										 STATE_PART_BYTES - size)) > 0)
			size += n;
		if (size == 0)
			break;
		SET_VARSIZE(part_bytes, VARHDRSZ + size);
		memset(&row, 0, sizeof(row));
		put_int(&row, "mst_key", config->mst_key);
		put_int(&row, "part", part);
		put(&row, "state", BYTEAOID, PointerGetDatum(part_bytes), false);
		insert_row(&outputs->state, &row);
		CHECK_FOR_INTERRUPTS();
	}
	pfree(part_bytes);

	weights_size = (size_t) training->results[at].n_weights * sizeof(float);
	weights = palloc(VARHDRSZ + weights_size);
	SET_VARSIZE(weights, VARHDRSZ + weights_size);
	hopper_results_weights(training, at, (float *) VARDATA(weights));
	memset(&row, 0, sizeof(row));
	put_int(&row, "mst_key", config->mst_key);
	put(&row, "model_weights", BYTEAOID, PointerGetDatum(weights), false);
	put(&row, "model_arch", JSONOID,
		PointerGetDatum(cstring_to_text(hopper_from_utf8(config->model_arch))), false);
	insert_row(&outputs->model, &row);
	pfree(weights);
}

void
hopper_outputs_write_info(const hopper_outputs *outputs, hopper_training *training, int at)
{
	hopper_training_look(training, at);
	hopper_exec("DELETE FROM %s WHERE mst_key OPERATOR(pg_catalog.=) %d", outputs->info.quoted,
				training->configs[at].mst_key);
	insert_row(&outputs->info, info_row(training, at));
}

void
hopper_outputs_write_refused(const hopper_outputs *outputs, const hopper_config *config,
							 const char *error)
{
	hopper_training training = {0};
	hopper_model_result result = {0};
	hopper_history history = {0};
	hopper_history *histories = &history;
	size_t		size = strlen(error);

	result.status = HOPPER_MODEL_FAILED;
	size = Min(size, sizeof(result.error) - 1);
	/* Not in the middle of a character. */
	while (size > 0 && (error[size] & 0xC0) == 0x80)
		size--;
	memcpy(result.error, error, size);
	training.configs = memcpy(palloc(sizeof(*config)), config, sizeof(*config));
	training.results = &result;
	training.histories = &histories;
	training.n_configs = 1;
	insert_row(&outputs->info, info_row(&training, 0));
}

void
hopper_outputs_write_models(const hopper_outputs *outputs, hopper_training *training)
{
	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_model_result *result = &training->results[i];
		const char *metrics[HOPPER_MAX_METRICS];

		for (int j = 0; j < result->n_metrics; j++)
			metrics[j] = hopper_from_utf8(result->metrics_type[j]);
		hopper_history_align(training->histories[i], result->n_metrics, metrics);
		/* the segments have written theirs */
		if (result->status == HOPPER_MODEL_DONE && (training->run || training->rehearsed))
			write_model(outputs, training, i);
		insert_row(&outputs->info, info_row(training, i));
		CHECK_FOR_INTERRUPTS();
	}
}

hopper_best
hopper_outputs_best(const hopper_outputs *outputs, const char *rank_by)
{
	hopper_best best = {0};
	bool		validated;
	char	   *metric;
	char	   *has_weights;
	uint64		n;

	/* Latest: what was inserted by this very statement must be seen. */
	n = hopper_select_latest("SELECT mst_key, metric, coalesce(validation_metric, training_metric),"
							 " validation_metric IS NOT NULL, has_weights "
							 "FROM hopper.leaderboard(%s, 1, %s)",
							 hopper_literal(outputs->model.quoted),
							 rank_by ? hopper_literal(rank_by) : "NULL");
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("\"%s\" is damaged", outputs->info.shown),
				 errdetail("It has no row."),
				 errhint("Use the tables as the functions of schema hopper made them.")));
	metric = hopper_cell(0, 2);
	if (n > 1 || metric == NULL)
		return best;
	has_weights = hopper_cell(0, 5);
	if (has_weights && strcmp(has_weights, "f") == 0)
	{
		/* Models may have been deleted, whose infos stay. */
		if (hopper_select_latest("SELECT mst_key, metric,"
								 " coalesce(validation_metric, training_metric),"
								 " validation_metric IS NOT NULL "
								 "FROM hopper.leaderboard(%s, NULL, %s) WHERE has_weights LIMIT 1",
								 hopper_literal(outputs->model.quoted),
								 rank_by ? hopper_literal(rank_by) : "NULL") == 0)
			return best;
		metric = hopper_cell(0, 2);
		if (metric == NULL)
			return best;
	}
	best.mst_key = hopper_key_cell(&outputs->info, 0, 1);
	best.value = hopper_float_value(0, 3);
	validated = strcmp(hopper_cell(0, 4), "t") == 0;
	best.metric = psprintf("%s %s", validated ? "validation" : "training", metric);
	return best;
}

void
hopper_outputs_write_summary(const hopper_outputs *outputs, const hopper_training *training,
							 const hopper_run_record *record)
{
	insert_row(&outputs->summary,
			   summary_row(&outputs->model, training->train, training, record));
}
