/*
 * predict.c
 *		Prediction where all data are in one place: reads the source through a cursor and writes the
 *		predictions.
 */
#include "pg/predict/run.h"

#include "pg/local/bulk_insert.h"

typedef struct writer
{
	hopper_bulk_insert *insert;
	MemoryContext scratch;
	int64		n_rows;
} writer;

static void
start(hopper_prediction *run, writer *out)
{
	Oid			types[PREDICT_MAX_COLUMNS];
	int			n;

	hopper_predict_start(run);
	hopper_exec("CREATE TABLE %s (%s)", run->output_table.quoted,
				hopper_predict_columns(&run->model, &run->what, run->id_column, run->id_type,
									   run->label_type));
	hopper_predict_comment(run);
	n = hopper_predict_column_types(&run->model, &run->what, run->id_oid, run->label_oid, types);
	out->insert = hopper_bulk_insert_open(&run->output_table, n, types);
	out->scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper prediction",
										 ALLOCSET_DEFAULT_SIZES);
}

/* Writes the oldest batch's predictions; waits for them if it must. */
static bool
write_oldest(hopper_prediction *run, writer *out, bool wait)
{
	const float *outputs;
	const hopper_predict_batch *batch = hopper_predict_take(run, wait, &outputs);
	Datum		values[PREDICT_MAX_COLUMNS];
	bool		nulls[PREDICT_MAX_COLUMNS];

	if (batch == NULL)
		return false;
	for (int i = 0; i < batch->n; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(out->scratch);

		hopper_predict_output_begin(run->output, batch->ids[i], batch->id_nulls[i],
									outputs + (size_t) i * run->n_outputs);
		for (; hopper_predict_output_next(run->output, values, nulls); out->n_rows++)
			hopper_bulk_insert_row(out->insert, values, nulls);
		MemoryContextSwitchTo(caller);
		if (run->model.is_array)
			MemoryContextReset(out->scratch);
	}
	hopper_predict_done(run);
	return true;
}

/* The shape of the features, where the model does not say it. */
static void
learn_shape(hopper_prediction *run, HeapTuple tuple)
{
	Datum	   *datums = palloc((run->rows.n_x + 1) * sizeof(Datum));
	bool	   *nulls = palloc((run->rows.n_x + 1) * sizeof(bool));

	run->rows.row_number = 1;
	run->rows.tuple = tuple;
	heap_deform_tuple(tuple, run->rows.desc, datums, nulls);
	hopper_pack_values_learn(&run->values, &run->rows, datums, nulls);
	run->rows.row_number = 0;
}

int64
hopper_predict_rows(hopper_prediction *run)
{
	writer		out = {0};
	Portal		portal;

	if (run->values.shape_known)
		start(run, &out);
	portal = hopper_cursor_open(hopper_predict_row_query(run), true);
	for (;;)
	{
		SPITupleTable *table;
		int			n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, run->predictor ? run->batch_rows : 1);
		table = SPI_tuptable;
		n = (int) SPI_processed;
		if (n == 0)
			break;
		hopper_pack_begin_rows(&run->rows, table->tupdesc);
		if (run->predictor == NULL)
		{
			learn_shape(run, table->vals[0]);
			start(run, &out);
		}
		if (run->n_batches == run->depth)
			write_oldest(run, &out, true);
		hopper_predict_submit(run, table->vals, n);
		SPI_freetuptable(table);
		while (run->n_batches > 0 && write_oldest(run, &out, false))
			;
	}
	SPI_cursor_close(portal);
	if (run->predictor == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" has no rows", run->source.shown)));
	while (run->n_batches > 0)
		write_oldest(run, &out, true);
	hopper_bulk_insert_close(out.insert);
	MemoryContextDelete(out.scratch);
	hopper_predict_end(run);
	return out.n_rows;
}
