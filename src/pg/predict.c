/*
 * predict.c
 *		predict() and predict_byom(): an unpacked table in, a table of predictions out.
 *
 * The main thread reads and encodes rows, and writes predictions; the core's threads compute.
 * Batches go through in order, a few of them at a time.
 */
#include "pg/predict.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "pg/devices.h"
#include "pg/models.h"

PG_FUNCTION_INFO_V1(hopper_sql_predict);
PG_FUNCTION_INFO_V1(hopper_sql_predict_top);
PG_FUNCTION_INFO_V1(hopper_sql_predict_threshold);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom_top);
PG_FUNCTION_INFO_V1(hopper_sql_predict_byom_threshold);

/* Large enough for the matrix products, small enough for the caches and for cancelling. */
#define BATCH_ROWS 1024
#define BATCH_BYTES (8 * 1024 * 1024)
#define MAX_BATCHES 64			/* in flight */

typedef struct predict_batch
{
	MemoryContext context;		/* of the keys */
	int			n;
	Datum	   *ids;
	bool	   *id_nulls;
} predict_batch;

typedef struct predicting
{
	predict_model model;
	predict_what what;
	hopper_name source;
	hopper_name output_table;
	char	   *id_column;
	const char *label_type;		/* or NULL */
	Datum	   *label_values;
	bool	   *label_nulls;

	/* the source */
	pack_source rows;
	pack_values values;
	char	   *id_type;
	int16		id_length;
	bool		id_by_value;

	/* the computation */
	int			threads;
	int			event_fd;
	hopper_predictor *predictor;
	hopper_guard *guard;
	int			n_outputs;
	predict_output *output;
	int			batch_rows;
	predict_batch batches[MAX_BATCHES]; /* a ring */
	int			depth;
	int			first;
	int			n_batches;
} predicting;

static void
free_predictor(void *predictor)
{
	hopper_torch()->predictor_free((hopper_predictor *) predictor);
}

/* --- arguments --- */

static text *
text_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at) ? NULL : PG_GETARG_TEXT_PP(at);
}

static predict_what
what_by_name(FunctionCallInfo fcinfo, int at)
{
	predict_what what = {PREDICT_ALL};
	char	   *given;

	if (PG_ARGISNULL(at))
		return what;
	given = text_to_cstring(PG_GETARG_TEXT_PP(at));
	if (strcmp(given, "response") == 0)
		what.kind = PREDICT_RESPONSE;
	else if (strcmp(given, "prob") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pred_type \"%s\" is not known", given),
				 errhint("Use 'prob' (all classes), 'response' (the most probable one), a number k "
						 "of classes, or a probability below 1.")));
	return what;
}

static predict_what
what_by_count(FunctionCallInfo fcinfo, int at)
{
	predict_what what = {PREDICT_TOP};

	if (PG_ARGISNULL(at))
		return (predict_what) {PREDICT_ALL};
	what.k = PG_GETARG_INT32(at);
	if (what.k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pred_type must be at least 1 class, got %d", what.k)));
	return what;
}

static predict_what
what_by_threshold(FunctionCallInfo fcinfo, int at)
{
	predict_what what = {PREDICT_THRESHOLD};

	if (PG_ARGISNULL(at))
		return (predict_what) {PREDICT_ALL};
	what.threshold = PG_GETARG_FLOAT8(at);
	/* Drivers send small integers as smallint, which the server takes to this function. */
	if (what.threshold >= 1 && what.threshold <= PG_INT32_MAX &&
		what.threshold == rint(what.threshold))
		return (predict_what) {PREDICT_TOP, .k = (int) what.threshold};
	if (!(what.threshold >= 0 && what.threshold < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pred_type must be a probability from 0 to below 1, got %g",
						what.threshold),
				 errhint("For the most probable classes give their number, for example "
						 "pred_type => 3.")));
	return what;
}

/* --- the source --- */

static void
resolve_column(Oid relation, const char *name, pack_column *column)
{
	AttrNumber	number = hopper_require_column(relation, name);
	int32		typmod;
	Oid			type;
	Oid			collation;

	get_atttypetypmodcoll(relation, number, &type, &typmod, &collation);
	column->name = pstrdup(name);
	column->sql_type = format_type_with_typemod(type, typmod);
	column->type = getBaseType(type);
}

/* Column names of a comma-separated argument. */
static List *
split_columns(text *value, const char *argument)
{
	char	   *copy;
	List	   *names;

	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", argument)));
	copy = text_to_cstring(value);
	if (!SplitIdentifierString(pstrdup(copy), ',', &names) || names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("argument \"%s\" is not a list of column names: %s", argument, copy),
				 errhint("Put names with blanks or capitals in double quotes.")));
	return names;
}

static void
open_source(predicting *run, text *id_col, text *independent_varname)
{
	pack_source *rows = &run->rows;
	List	   *id = split_columns(id_col, "id_col");
	List	   *x = split_columns(independent_varname, "independent_varname");
	Oid			relation = hopper_source_oid(&run->source);
	pack_column id_column;
	ListCell   *cell;

	if (get_attnum(relation, "buffer_id") != InvalidAttrNumber &&
		get_attnum(relation, "partition_id") != InvalidAttrNumber &&
		get_attnum(relation, "checksum") != InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a packed table", run->source.shown),
				 errhint("Predict from the table that was packed; hopper.evaluate() reads packed "
						 "ones.")));
	if (list_length(id) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("id_col must be one column")));
	resolve_column(relation, linitial(id), &id_column);
	run->id_column = id_column.name;
	run->id_type = id_column.sql_type;
	get_typlenbyval(id_column.type, &run->id_length, &run->id_by_value);

	rows->name = run->source;
	rows->x = palloc0(list_length(x) * sizeof(pack_column));
	foreach(cell, x)
		resolve_column(relation, lfirst(cell), &rows->x[rows->n_x++]);
	rows->n_keys = 1;
	rows->keys = &run->id_column;
	rows->first_key = rows->n_x + 1;
	hopper_predict_check_types(&run->model, rows->n_x, rows->x);
	pack_values_init(&run->values, rows->n_x, rows->x, run->source.shown);
	if (run->model.x_rank > 0)
		pack_values_set_shape(&run->values, run->model.x_rank, run->model.x_shape);
	else if (run->values.layout == PACK_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the shape of the images in \"%s\" is not known",
						rows->x[0].name),
				 errdetail("Model \"%s\" does not say what it expects.", run->model.shown),
				 errhint("Give its first layer an input shape.")));
}

static char *
row_query(const predicting *run)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT ");
	for (int i = 0; i < run->rows.n_x; i++)
		appendStringInfo(&query, "%s, ", quote_identifier(run->rows.x[i].name));
	appendStringInfo(&query, "%s FROM %s", quote_identifier(run->id_column), run->source.quoted);
	return query.data;
}

/* --- the computation --- */

/* Once type and shape of the features are known. */
static void
start_predictor(predicting *run)
{
	hopper_data_desc desc = {0};
	hopper_error error;
	int32_t		n_outputs;

	desc.x_type = run->values.type;
	desc.x_rank = run->values.rank;
	memcpy(desc.x_shape, run->values.shape, sizeof(desc.x_shape));
	desc.y_kind = HOPPER_LABEL_VALUE;
	desc.y_type = HOPPER_FLOAT32;
	desc.n_partitions = 1;
	desc.normalizing_const = run->model.normalizing_const;
	desc.table_name = run->source.shown;
	desc.x_column = run->rows.x[0].name;
	desc.y_column = run->model.class_name;
	run->event_fd = hopper_eventfd_open();
	HOPPER_CHECK(hopper_torch()->predictor_create(run->model.model_arch,
												  run->model.model_arch_size,
												  run->model.weights, run->model.n_weights,
												  &desc, run->threads, run->event_fd,
												  &run->predictor, &n_outputs, &error), error);
	run->guard = hopper_guard_add(run->predictor, free_predictor);
	run->n_outputs = n_outputs;
	hopper_predict_bind_outputs(&run->model, run->n_outputs);
	run->output = hopper_predict_output_open(&run->output_table, &run->model, &run->what,
											 run->n_outputs, run->id_column, run->id_type,
											 run->label_type, run->label_values,
											 run->label_nulls);

	/* One batch at each thread and one on its way to it. */
	run->depth = Min(2 * run->threads, MAX_BATCHES);
	run->batch_rows = Max(1, Min(BATCH_ROWS, BATCH_BYTES / (int64) Max(run->values.size, 1)));
	for (int i = 0; i < run->depth; i++)
	{
		predict_batch *batch = &run->batches[i];

		batch->context = AllocSetContextCreate(CurrentMemoryContext, "hopper prediction keys",
											   ALLOCSET_DEFAULT_SIZES);
		batch->ids = palloc(run->batch_rows * sizeof(Datum));
		batch->id_nulls = palloc(run->batch_rows * sizeof(bool));
	}
}

/* Writes the oldest batch's predictions; waits for them if it must. */
static bool
write_oldest(predicting *run, bool wait)
{
	predict_batch *batch = &run->batches[run->first];
	const float *outputs;
	int32_t		n;
	hopper_error error;
	int			ready;

	while ((ready = hopper_torch()->predictor_take(run->predictor, &outputs, &n, &error)) == 0)
	{
		if (!wait)
			return false;
		hopper_wait(run->event_fd, -1);
	}
	if (ready < 0)
		hopper_throw(&error);
	if (n != batch->n)
		elog(ERROR, "the core predicted %d rows where %d were given", n, batch->n);
	for (int i = 0; i < n; i++)
		hopper_predict_output_add(run->output, batch->ids[i], batch->id_nulls[i],
								  outputs + (size_t) i * run->n_outputs);
	run->first = (run->first + 1) % run->depth;
	run->n_batches--;
	return true;
}

static void
submit_rows(predicting *run, SPITupleTable *table, uint64 n, char *features, MemoryContext scratch)
{
	MemoryContext caller = CurrentMemoryContext;
	predict_batch *batch;
	Datum	   *datums = palloc((run->rows.n_x + 1) * sizeof(Datum));
	bool	   *nulls = palloc((run->rows.n_x + 1) * sizeof(bool));
	hopper_error error;

	if (run->n_batches == run->depth)
		write_oldest(run, true);
	batch = &run->batches[(run->first + run->n_batches) % run->depth];
	MemoryContextReset(batch->context);
	batch->n = (int) n;
	MemoryContextSwitchTo(scratch);
	for (uint64 row = 0; row < n; row++)
	{
		int			id = run->rows.n_x;

		run->rows.row_number++;
		run->rows.tuple = table->vals[row];
		run->rows.desc = table->tupdesc;
		heap_deform_tuple(table->vals[row], table->tupdesc, datums, nulls);
		pack_values_encode(&run->values, &run->rows, datums, nulls,
						   features + row * run->values.size);
		batch->id_nulls[row] = nulls[id];
		batch->ids[row] = (Datum) 0;
		if (!nulls[id])
		{
			MemoryContextSwitchTo(batch->context);
			batch->ids[row] = datumCopy(datums[id], run->id_by_value, run->id_length);
			MemoryContextSwitchTo(scratch);
		}
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(scratch);
	HOPPER_CHECK(hopper_torch()->predictor_submit(run->predictor, features,
												  n * run->values.size, (int32_t) n, &error),
				 error);
	run->n_batches++;
	pfree(datums);
	pfree(nulls);
}

/* The shape of the features, where the model does not say it. */
static void
learn_shape(predicting *run, HeapTuple tuple, TupleDesc desc)
{
	Datum	   *datums = palloc((run->rows.n_x + 1) * sizeof(Datum));
	bool	   *nulls = palloc((run->rows.n_x + 1) * sizeof(bool));

	run->rows.row_number = 1;
	run->rows.tuple = tuple;
	run->rows.desc = desc;
	heap_deform_tuple(tuple, desc, datums, nulls);
	pack_values_learn(&run->values, &run->rows, datums, nulls);
	run->rows.row_number = 0;
}

static void
predict(predicting *run)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper features",
												  ALLOCSET_DEFAULT_SIZES);
	char	   *features = NULL;
	SPIPlanPtr	plan;
	Portal		portal;

	if (run->values.shape_known)
		start_predictor(run);
	plan = SPI_prepare_cursor(row_query(run), 0, NULL, CURSOR_OPT_NO_SCROLL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	for (;;)
	{
		SPITupleTable *table;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, run->predictor ? run->batch_rows : 1);
		table = SPI_tuptable;
		if (SPI_processed == 0)
			break;
		if (run->predictor == NULL)
		{
			learn_shape(run, table->vals[0], table->tupdesc);
			start_predictor(run);
		}
		if (features == NULL)
			features = MemoryContextAllocHuge(CurrentMemoryContext,
											  (Size) run->batch_rows * run->values.size);
		submit_rows(run, table, SPI_processed, features, scratch);
		SPI_freetuptable(table);
		while (run->n_batches > 0 && write_oldest(run, false))
			;
	}
	SPI_cursor_close(portal);
	if (run->predictor == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" has no rows", run->source.shown)));
	while (run->n_batches > 0)
		write_oldest(run, true);
	hopper_predict_output_close(run->output);
	hopper_guard_release(run->guard);
	hopper_eventfd_close(run->event_fd);
}

/* --- entries --- */

/* The classes in the label's own type, from the summary. */
static void
read_labels(predicting *run, const hopper_trained *trained)
{
	const hopper_name *summary = &trained->outputs.summary;
	Oid			relation = hopper_relation_oid(summary, false);
	AttrNumber	column;
	Oid			type;
	int16		length;
	bool		by_value;
	char		alignment;
	bool		isnull;
	Datum		array;
	int			n;

	if (trained->class_values_column == NULL || run->model.is_value)
		return;
	column = hopper_require_column(relation, trained->class_values_column);
	type = get_element_type(get_atttype(relation, column));
	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	hopper_select("SELECT %s FROM %s", quote_identifier(trained->class_values_column),
				  summary->quoted);
	array = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
	if (isnull)
		return;
	/* The elements point into the array, which stays with SPI's memory. */
	deconstruct_array(DatumGetArrayTypePCopy(array), type, length, by_value, alignment,
					  &run->label_values, &run->label_nulls, &n);
	if (n < run->model.n_classes)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("\"%s\" has %d class values for %d classes", summary->shown, n,
						run->model.n_classes)));
	run->label_type = hopper_format_type_qualified(type);
	SPI_freetuptable(SPI_tuptable);
}

/*
 * (model_table, test_table, id_col, independent_varname, output_table, pred_type, use_gpus,
 * mst_key)
 */
static Datum
predict_trained(FunctionCallInfo fcinfo, predict_what what)
{
	predicting *run;
	hopper_name table;
	hopper_trained trained;

	hopper_connect();
	run = palloc0(sizeof(predicting));
	run->what = what;
	table = hopper_parse_name(text_argument(fcinfo, 0), "model_table");
	run->source = hopper_parse_name(text_argument(fcinfo, 1), "test_table");
	run->output_table = hopper_parse_name(text_argument(fcinfo, 4), "output_table");
	hopper_require_absent(&run->output_table);
	hopper_check_use_gpus(!PG_ARGISNULL(6) && PG_GETARG_BOOL(6));
	run->threads = hopper_effective_threads();
	hopper_read_trained(&table, !PG_ARGISNULL(7), PG_ARGISNULL(7) ? 0 : PG_GETARG_INT32(7),
						&trained);
	hopper_predict_from_trained(&trained, &run->model);
	read_labels(run, &trained);
	open_source(run, text_argument(fcinfo, 2), text_argument(fcinfo, 3));
	predict(run);
	hopper_finish();
	PG_RETURN_VOID();
}

/* class_values text[]: one list, or MADlib's form, the only row of a two-dimensional array. */
static void
given_classes(predict_model *model, ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	char	  **names;
	int			n;

	if (ARR_NDIM(array) > 2 || (ARR_NDIM(array) == 2 && ARR_DIMS(array)[0] != 1))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("models with several outputs are not supported"),
				 errdetail("class_values has %d rows.", ARR_DIMS(array)[0])));
	deconstruct_array(array, TEXTOID, -1, false, 'i', &values, &nulls, &n);
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("class_values must not be empty"),
				 errhint("Leave it out to see the classes' indexes.")));
	names = palloc(n * sizeof(char *));
	for (int i = 0; i < n; i++)
		names[i] = nulls[i] ? NULL : TextDatumGetCString(values[i]);
	model->n_classes = model->n_class_values = n;
	model->class_values = (const char *const *) names;
}

/*
 * (model_arch_table, model_id, test_table, id_col, independent_varname, output_table, pred_type,
 * use_gpus, class_values, normalizing_const)
 */
static Datum
predict_byom(FunctionCallInfo fcinfo, predict_what what)
{
	predicting *run;
	hopper_name table;
	hopper_model stored;
	hopper_model_info info;
	hopper_error error;
	predict_model *model;
	int64		n_outputs = 1;

	hopper_connect();
	run = palloc0(sizeof(predicting));
	model = &run->model;
	run->what = what;
	table = hopper_parse_name(text_argument(fcinfo, 0), "model_arch_table");
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"model_id\" must not be null")));
	run->source = hopper_parse_name(text_argument(fcinfo, 2), "test_table");
	run->output_table = hopper_parse_name(text_argument(fcinfo, 5), "output_table");
	hopper_require_absent(&run->output_table);
	hopper_check_use_gpus(!PG_ARGISNULL(7) && PG_GETARG_BOOL(7));
	run->threads = hopper_effective_threads();
	model->normalizing_const = PG_ARGISNULL(9) ? 1.0 : PG_GETARG_FLOAT8(9);
	if (!(model->normalizing_const > 0 && isfinite(model->normalizing_const)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("normalizing_const must be positive, got %g", model->normalizing_const)));

	hopper_require_model_table(&table);
	hopper_read_model(&table, PG_GETARG_INT32(1), &stored);
	if (stored.weights == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model %d of \"%s\" has no weights", stored.model_id, table.shown),
				 errhint("Store them with hopper.load_model(), or train the model.")));
	HOPPER_CHECK(hopper_core()->check_weights(stored.arch, stored.arch_size, stored.n_weights,
											  &error), error);
	HOPPER_CHECK(hopper_core()->inspect_model(stored.arch, stored.arch_size, &info, &error), error);
	model->shown = stored.name ? stored.name : psprintf("%s %d", table.shown, stored.model_id);
	model->model_arch = stored.arch;
	model->model_arch_size = stored.arch_size;
	model->weights = stored.weights;
	model->n_weights = stored.n_weights;
	model->x_rank = info.input_rank;
	memcpy(model->x_shape, info.input_shape, sizeof(model->x_shape));
	model->class_name = "dependent_var";
	for (int i = 0; i < info.output_rank; i++)
		n_outputs *= info.output_shape[i];
	if (!PG_ARGISNULL(8))
		given_classes(model, PG_GETARG_ARRAYTYPE_P(8));
	else if (info.output_rank > 0 && n_outputs == 1)
		/* One output is a value; a classifier's comes with its two class values. */
		model->is_value = true;
	open_source(run, text_argument(fcinfo, 3), text_argument(fcinfo, 4));
	predict(run);
	hopper_finish();
	PG_RETURN_VOID();
}

Datum
hopper_sql_predict(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, what_by_name(fcinfo, 5));
}

Datum
hopper_sql_predict_top(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, what_by_count(fcinfo, 5));
}

Datum
hopper_sql_predict_threshold(PG_FUNCTION_ARGS)
{
	return predict_trained(fcinfo, what_by_threshold(fcinfo, 5));
}

Datum
hopper_sql_predict_byom(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, what_by_name(fcinfo, 6));
}

Datum
hopper_sql_predict_byom_top(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, what_by_count(fcinfo, 6));
}

Datum
hopper_sql_predict_byom_threshold(PG_FUNCTION_ARGS)
{
	return predict_byom(fcinfo, what_by_threshold(fcinfo, 6));
}
