/*
 * predict.c
 *		Prediction on a segment: a table function that takes the source's rows in and gives the rows
 *		of the predictions out, in batches through the model.
 */
#include "pg/greenplum/predict.h"

#include "tablefuncapi.h"

#include "pg/server/row_types.h"

typedef struct segment_prediction
{
	hopper_prediction	run;
	AnyTable	input;
	bool		ended;			/* all rows have been read */
	MemoryContext context;		/* of the rows of one batch */
	const hopper_predict_batch *batch; /* whose predictions go out; or NULL */
	const float *outputs;
	int			at;				/* its example */
} segment_prediction;

/* The columns of the predictions, which the statement declares, are those of the rows and model. */
static void
require_result(const hopper_prediction *run, TupleDesc result)
{
	Oid			types[PREDICT_MAX_COLUMNS];
	int			n = hopper_predict_column_types(run, types);

	hopper_require_row_types(result, n, types, run->source.shown);
}

static segment_prediction *
start(FunctionCallInfo fcinfo)
{
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	segment_prediction *state = palloc0(sizeof(segment_prediction));
	const ReturnSetInfo *result = (const ReturnSetInfo *) fcinfo->resultinfo;
	TupleDesc	desc;

	state->input = PG_GETARG_ANYTABLE(0);
	desc = AnyTable_GetTupleDesc(state->input);
	hopper_predict_read_description(PG_GETARG_BYTEA_P(1), &state->run);
	if (desc->natts < 1)
		elog(ERROR, "the rows to predict from have no columns");
	/* the id comes last, and goes out as it came in */
	hopper_predict_set_row_types(&state->run, TupleDescAttr(desc, desc->natts - 1)->atttypid,
								 false);
	hopper_pack_begin_rows(&state->run.rows, desc);
	require_result(&state->run, result->expectedDesc);
	state->context = AllocSetContextCreate(CurrentMemoryContext, "hopper rows to predict",
										   ALLOCSET_DEFAULT_SIZES);
	fcinfo->flinfo->fn_extra = state;
	MemoryContextSwitchTo(caller);
	return state;
}

/* The next batch of rows on its way; libtorch is not loaded where there is none. */
static void
read_batch(segment_prediction *state, MemoryContext lasting)
{
	hopper_prediction *run = &state->run;
	MemoryContext caller = MemoryContextSwitchTo(state->context);

	do
	{
		HeapTuple	tuple = AnyTable_GetNextTuple(state->input);

		state->ended = tuple == NULL;
		if (state->ended)
			break;
		if (run->work.predictor == NULL)
		{
			MemoryContextSwitchTo(lasting);
			hopper_predict_start(run);
			MemoryContextSwitchTo(state->context);
		}
		hopper_pack_deform(&run->rows, tuple);
		hopper_predict_add(run, run->rows.values, run->rows.nulls);
	} while (run->work.n_added < run->work.batch_rows);
	if (run->work.n_added > 0)
		hopper_predict_submit(run);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(state->context);
}

/* Fills the columns of the next prediction; false: there is none. */
static bool
next_prediction(segment_prediction *state, MemoryContext lasting, Datum *values, bool *nulls)
{
	hopper_prediction *run = &state->run;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (state->batch && hopper_predict_output_next(run->work.output, values, nulls))
			return true;
		if (state->batch && state->at < state->batch->n)
		{
			int			at = state->at++;

			hopper_predict_output_begin(run->work.output, state->batch->ids[at],
										state->batch->id_nulls[at],
										state->batch->lacking[at] ? NULL :
										state->outputs + (size_t) at * run->work.n_outputs);
			continue;
		}
		if (state->batch)
			hopper_predict_done(run);
		state->batch = NULL;
		while (!state->ended &&
			   (run->work.predictor == NULL || run->work.n_batches < run->work.depth))
			read_batch(state, lasting);
		if (run->work.n_batches == 0)
			return false;
		state->batch = hopper_predict_take(run, true, &state->outputs);
		state->at = 0;
	}
}

/* segment_predict(rows anytable, description bytea): the rows of the predictions */
HOPPER_FUNCTION(hopper_sql_segment_predict)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	segment_prediction *state = fcinfo->flinfo->fn_extra;
	Datum		values[PREDICT_MAX_COLUMNS];
	bool		nulls[PREDICT_MAX_COLUMNS];

	hopper_require_arguments(fcinfo, 0);
	if (state == NULL)
		state = start(fcinfo);
	if (!next_prediction(state, fcinfo->flinfo->fn_mcxt, values, nulls))
	{
		if (state->run.work.predictor)
			hopper_predict_end(&state->run);
		result->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}
	result->isDone = ExprMultipleResult;
	return HeapTupleGetDatum(heap_form_tuple(result->expectedDesc, values, nulls));
}
