/*
 * reading.c
 *		Prediction of rows that come through a cursor, in this process.
 */
#include "pg/predict/run.h"

typedef struct reading
{
	hopper_prediction *run;
	const hopper_predict_sink *sink;
	void	   *state;
	MemoryContext scratch;		/* of one example's predictions */
	HeapTuple	first;			/* row, as long as nothing has been started */
	int64		n_rows;
} reading;

static void
start(reading *r)
{
	hopper_predict_start(r->run);
	r->sink->begin(r->state, r->run);
	r->scratch = AllocSetContextCreate(CurrentMemoryContext, "hopper prediction",
									   ALLOCSET_DEFAULT_SIZES);
}

/* Gives the oldest batch's predictions to the sink; waits for them if it must. */
static bool
give_oldest(reading *r, bool wait)
{
	hopper_prediction *run = r->run;
	const float *outputs;
	const hopper_predict_batch *batch = hopper_predict_take(run, wait, &outputs);
	Datum		values[PREDICT_MAX_COLUMNS];
	bool		nulls[PREDICT_MAX_COLUMNS];

	if (batch == NULL)
		return false;
	for (int i = 0; i < batch->n; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(r->scratch);

		hopper_predict_output_begin(run->work.output, batch->ids[i], batch->id_nulls[i],
									batch->lacking[i] ? NULL
									: outputs + (size_t) i * run->work.n_outputs);
		for (; hopper_predict_output_next(run->work.output, values, nulls); r->n_rows++)
			r->sink->row(r->state, values, nulls);
		MemoryContextSwitchTo(caller);
		if (run->model.is_array || run->model.n_parts > 0)
			MemoryContextReset(r->scratch);
	}
	hopper_predict_done(run);
	return true;
}

/* The first row tells the shape of the features, where the model does not say it. */
static void
learn_shape(hopper_prediction *run, HeapTuple first)
{
	bool		may_lack = run->rows.may_lack;

	hopper_pack_deform(&run->rows, first);
	run->rows.row_number = 1;
	run->rows.may_lack = false;
	hopper_pack_values_learn(&run->values, &run->rows, run->rows.values, run->rows.nulls);
	run->rows.may_lack = may_lack;
	run->rows.row_number = 0;
}

static void
take_row(void *state, const Datum *values, const bool *nulls)
{
	reading    *r = state;

	if (r->run->work.predictor)
		hopper_predict_add(r->run, values, nulls);
	else
		r->first = heap_form_tuple(r->run->rows.desc, (Datum *) values, (bool *) nulls);
}

static bool
take_numbers(void *state, const char *numbers)
{
	return hopper_predict_add_numbers(((reading *) state)->run, numbers);
}

/* A query of the user's finds its names as the user does. */
static hopper_row_cursor
open_rows(const hopper_prediction *run)
{
	char	   *query = hopper_predict_row_query(run);
	hopper_row_cursor rows = {NULL};

	if (run->source_query == NULL)
		return hopper_backend.open_row_cursor(query);
	rows.portal = SPI_cursor_open(NULL, hopper_prepare(query, 0, NULL, CURSOR_OPT_NO_SCROLL), NULL,
								  NULL, true);
	rows.desc = rows.portal->tupDesc;
	return rows;
}

int64
hopper_predict_through(hopper_prediction *run, const hopper_predict_sink *sink, void *state)
{
	reading		r = {run, sink, state};
	hopper_row_cursor rows;

	if (run->values.shape_known)
		start(&r);
	rows = open_rows(run);
	hopper_pack_begin_rows(&run->rows, rows.desc);
	if (hopper_pack_values_as_they_lie(&run->values))
	{
		rows.take_numbers = take_numbers;
		rows.n_numbers = run->rows.n_x;
		rows.numbers_size = run->values.size;
	}
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (run->work.predictor && run->work.n_batches == run->work.depth)
			give_oldest(&r, true);
		if (hopper_backend.give_rows(&rows, run->work.predictor ? run->work.batch_rows : 1,
									 take_row, &r) == 0)
			break;
		if (run->work.predictor == NULL)
		{
			learn_shape(run, r.first);
			start(&r);
			hopper_predict_add(run, run->rows.values, run->rows.nulls);
		}
		hopper_predict_submit(run);
		while (run->work.n_batches > 0 && give_oldest(&r, false))
			;
	}
	SPI_cursor_close(rows.portal);
	if (run->work.predictor == NULL)
		hopper_wrong(errmsg("\"%s\" has no rows", run->source.shown));
	while (run->work.n_batches > 0)
		give_oldest(&r, true);
	MemoryContextDelete(r.scratch);
	hopper_predict_end(run);
	return r.n_rows;
}
