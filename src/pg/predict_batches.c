/*
 * predict_batches.c
 *		Rows of the source through the model: the main thread reads and encodes rows, and writes
 *		predictions; the core's threads compute. Batches go through in order, a few at a time.
 */
#include "pg/predict_run.h"

#include "utils/datum.h"

/* Large enough for the matrix products, small enough for the caches and for cancelling. */
#define BATCH_ROWS 1024
#define BATCH_BYTES (8 * 1024 * 1024)

static void
free_predictor(void *predictor)
{
	hopper_torch()->predictor_free((hopper_predictor *) predictor);
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
	run->depth = Min(2 * run->threads, PREDICT_MAX_BATCHES);
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

void
predict_batches(predicting *run)
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

