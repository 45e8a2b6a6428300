/*
 * pack.c
 *		Packing on the segments: the functions that the coordinator's statements call there.
 */
#include "pg/greenplum/pack.h"

#include "tablefuncapi.h"

/* --- rows become bytes --- */

typedef struct encoding
{
	hopper_pack_job	job;
	Datum	   *values;
	bool	   *nulls;
	Size		body_size;
	bool		at_end;			/* of the rows; the last one tells what they hold */
} encoding;

static encoding *
start_encoding(FunctionCallInfo fcinfo, AnyTable input)
{
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	encoding   *state = palloc0(sizeof(encoding));

	hopper_read_description(PG_GETARG_BYTEA_P(1), &hopper_job_description, &state->job);
	hopper_pack_set_job_row_types(&state->job);
	hopper_pack_begin_rows(&state->job.source, AnyTable_GetTupleDesc(input));
	state->values = palloc(sizeof(Datum) * state->job.source.n_columns);
	state->nulls = palloc(sizeof(bool) * state->job.source.n_columns);
	state->job.source.values = state->values;
	state->job.source.nulls = state->nulls;
	hopper_pack_start_ranges(&state->job);
	state->body_size = state->job.row.x_size + state->job.row.y_size;
	fcinfo->flinfo->fn_extra = state;
	MemoryContextSwitchTo(caller);
	return state;
}

/*
 * segment_encode(rows anytable, job bytea): key, stratum and body of each row, and then a row whose
 * key is the ranges of their numbers
 */
HOPPER_FUNCTION(hopper_sql_segment_encode)
{
	AnyTable	input = PG_GETARG_ANYTABLE(0);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	encoding   *state = fcinfo->flinfo->fn_extra;
	hopper_pack_source *source;
	HeapTuple	tuple;
	Datum		values[3] = {0};
	bool		nulls[3] = {false};
	bytea	   *key;
	bytea	   *body;

	CHECK_FOR_INTERRUPTS();
	hopper_require_arguments(fcinfo, 0);
	if (state == NULL)
		state = start_encoding(fcinfo, input);
	source = &state->job.source;
	tuple = state->at_end ? NULL : AnyTable_GetNextTuple(input);
	if (tuple == NULL && !state->at_end && source->row_number > 0)
	{
		state->at_end = true;
		values[0] = PointerGetDatum(hopper_pack_ranges_bytes(&state->job));
		values[1] = Int32GetDatum(PACK_STRATUM_OF_RANGES);
		nulls[2] = true;
		result->isDone = ExprMultipleResult;
		return HeapTupleGetDatum(heap_form_tuple(result->expectedDesc, values, nulls));
	}
	if (tuple == NULL)
	{
		result->isDone = ExprEndResult;
		PG_RETURN_NULL();
	}
	source->row_number++;
	heap_deform_tuple(tuple, source->desc, state->values, state->nulls);
	key = palloc(VARHDRSZ + PACK_KEY_SIZE);
	body = MemoryContextAllocHuge(CurrentMemoryContext, VARHDRSZ + state->body_size);
	SET_VARSIZE(key, VARHDRSZ + PACK_KEY_SIZE);
	SET_VARSIZE(body, VARHDRSZ + state->body_size);
	values[1] = Int32GetDatum(hopper_pack_encode_row(&state->job, state->values, state->nulls,
													 VARDATA(key), VARDATA(body)));
	hopper_pack_look_at_numbers(&state->job, VARDATA(body));
	values[0] = PointerGetDatum(key);
	values[2] = PointerGetDatum(body);
	result->isDone = ExprMultipleResult;
	return HeapTupleGetDatum(heap_form_tuple(result->expectedDesc, values, nulls));
}

/* --- rows find their buffers --- */

/* The plan, read once a call of the statement. */
static hopper_pack_plan *
cached_plan(FunctionCallInfo fcinfo, int at)
{
	hopper_pack_plan  *plan = fcinfo->flinfo->fn_extra;

	if (plan == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		plan = palloc(sizeof(hopper_pack_plan));
		hopper_read_description(PG_GETARG_BYTEA_PP(at), &hopper_plan_description, plan);
		fcinfo->flinfo->fn_extra = plan;
		MemoryContextSwitchTo(caller);
	}
	return plan;
}

/* segment_slot(plan bytea, key bytea, stratum int, segment int, row tid); NULL: another table's */
HOPPER_FUNCTION(hopper_sql_segment_slot)
{
	const hopper_pack_plan *plan = cached_plan(fcinfo, 0);
	bytea	   *key = PG_GETARG_BYTEA_PP(1);
	int32		stratum = PG_GETARG_INT32(2);
	char		place[PACK_PLACE_SIZE];
	bool		validation;
	int32		first = 0;
	int32		last = plan->n_buffers - 1;

	if (stratum < 0 || stratum >= plan->n_strata || VARSIZE_ANY_EXHDR(key) != PACK_KEY_SIZE)
		elog(ERROR, "a row of the working table is damaged");
	hopper_pack_write_place(place, VARDATA_ANY(key), PG_GETARG_INT32(3),
							(ItemPointer) PG_GETARG_POINTER(4));
	validation = plan->any[stratum] &&
		memcmp(place, plan->limits + (Size) stratum * PACK_PLACE_SIZE, PACK_PLACE_SIZE) <= 0;
	if (validation != plan->validation)
		PG_RETURN_NULL();
	while (first < last)
	{
		int32		middle = first + (last - first) / 2;

		if (memcmp(place, plan->ends + (Size) middle * PACK_PLACE_SIZE, PACK_PLACE_SIZE) <= 0)
			last = middle;
		else
			first = middle + 1;
	}
	PG_RETURN_INT64((int64) plan->keys[first] << 32 | first);
}

HOPPER_FUNCTION(hopper_sql_segment_slot_key)
{
	PG_RETURN_INT32((int32) (PG_GETARG_INT64(0) >> 32));
}

HOPPER_FUNCTION(hopper_sql_segment_slot_buffer)
{
	PG_RETURN_INT32((int32) PG_GETARG_INT64(0));
}

/* segment_rank_copy(key bytea, n bigint): the rank key of the n-th, from 1, of equal rows */
HOPPER_FUNCTION(hopper_sql_segment_rank_copy)
{
	bytea	   *key = PG_GETARG_BYTEA_P_COPY(0);

	if (VARSIZE(key) != VARHDRSZ + PACK_KEY_SIZE)
		elog(ERROR, "a row of the working table is damaged");
	hopper_pack_rank_copy(VARDATA(key), PG_GETARG_INT64(1) - 1);
	PG_RETURN_BYTEA_P(key);
}

/* --- rows become buffers --- */

typedef struct filling
{
	const hopper_pack_plan *plan;
	int32		id;
	int64		next_rank;
	hopper_pack_buffer buffer;
} filling;

/* segment_buffer_row(internal, plan bytea, buffer int, rank bigint, body bytea) */
HOPPER_FUNCTION(hopper_sql_segment_buffer_row)
{
	MemoryContext context;
	const hopper_pack_plan *plan;
	filling    *state;
	bytea	   *body;
	int64		rank;

	hopper_require_arguments(fcinfo, 1);
	plan = cached_plan(fcinfo, 1);
	body = PG_GETARG_BYTEA_PP(4);
	rank = PG_GETARG_INT64(3);
	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "segment_buffer_row() was called outside its aggregate");
	if (PG_ARGISNULL(0))
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		state = palloc0(sizeof(filling));
		state->plan = plan;
		state->id = PG_GETARG_INT32(2);
		if (state->id < 0 || state->id >= plan->n_buffers)
			elog(ERROR, "there is no buffer %d", state->id);
		state->next_rank = rank;
		hopper_pack_buffer_init(&state->buffer, &plan->row, plan->rows[state->id]);
		MemoryContextSwitchTo(caller);
	}
	else
		state = (filling *) PG_GETARG_POINTER(0);
	if (rank != state->next_rank++)
		elog(ERROR, "rows of buffer %d do not come in order", state->id);
	if (state->buffer.n == plan->rows[state->id] ||
		VARSIZE_ANY_EXHDR(body) != plan->row.x_size + plan->row.y_size)
		elog(ERROR, "buffer %d has more rows than planned, or others", state->id);
	hopper_pack_buffer_add(&state->buffer, VARDATA_ANY(body),
						   VARDATA_ANY(body) + plan->row.x_size);
	PG_RETURN_POINTER(state);
}

/* segment_buffer_end(internal): the columns of the packed table but buffer_id */
HOPPER_FUNCTION(hopper_sql_segment_buffer_end)
{
	filling    *state;
	Datum		columns[PACK_BUFFER_COLUMNS];
	bool		nulls[PACK_BUFFER_COLUMNS] = {false};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (filling *) PG_GETARG_POINTER(0);
	if (state->buffer.n != state->plan->rows[state->id])
		elog(ERROR, "buffer %d has %d of %d rows", state->id, state->buffer.n,
			 state->plan->rows[state->id]);
	hopper_pack_buffer_columns(&state->buffer, state->plan->partitions[state->id], state->id,
							   columns);
	return hopper_return_row(fcinfo, columns, nulls);
}
