/*
 * emit.c
 *		What goes out of a segment, a row a part.
 */
#include "pg/greenplum/segment/emit.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/faultinjector.h"
#include "utils/memutils.h"

#include "pg/greenplum/reports.h"
#include "pg/greenplum/segment/outside.h"
#include "pg/greenplum/segment/share.h"
#include "pg/greenplum/wire.h"

PG_FUNCTION_INFO_V1(hopper_sql_segment_emit);

#define EMIT_COLUMNS 9

/* A part that came while the data were not here; it goes out again as it is. */
typedef struct waiting_part
{
	int32		mst_key;
	int32		part;
	int32		n_parts;
	bytea	   *body;
} waiting_part;

/*
 * The parts that wait for segment_emit(), which the same statement calls; where another one does,
 * as any role may, they must not be there any more, or be those of the same role.
 */
static struct
{
	MemoryContext context;		/* NULL: none; below the transaction's */
	List	   *parts;
	Oid			role;
} waiting;

void
hopper_emit_forget(void)
{
	if (waiting.context)
		MemoryContextDelete(waiting.context);
	memset(&waiting, 0, sizeof(waiting));
}

void
hopper_emit_untrained(FunctionCallInfo fcinfo)
{
	MemoryContext caller;
	waiting_part *part;

	if (waiting.context == NULL)
	{
		waiting.context = AllocSetContextCreate(TopTransactionContext, "hopper waiting models",
												ALLOCSET_DEFAULT_SIZES);
		waiting.role = GetUserId();
	}
	caller = MemoryContextSwitchTo(waiting.context);
	part = palloc(sizeof(waiting_part));
	part->mst_key = PG_GETARG_INT32(5);
	part->part = PG_GETARG_INT32(6);
	part->n_parts = PG_GETARG_INT32(7);
	part->body = PG_GETARG_BYTEA_P_COPY(8);
	waiting.parts = lappend(waiting.parts, part);
	MemoryContextSwitchTo(caller);
}

bool
hopper_emit_has_untrained(void)
{
	return waiting.parts != NIL;
}

/* What went out while others trained. */
static HeapTuple
form_outside(TupleDesc descriptor, const hopper_outside_part *part)
{
	Datum		values[EMIT_COLUMNS] = {0};
	bool		nulls[EMIT_COLUMNS] = {false};
	bytea	   *bytes = hopper_outside_bytes(part);
	HeapTuple	row;

	values[0] = Int32GetDatum(part->mst_key);
	values[1] = Int32GetDatum(part->next_key);
	values[2] = Int32GetDatum(part->part);
	values[3] = Int32GetDatum(part->n_parts);
	values[4] = BoolGetDatum(part->done);
	values[5] = BoolGetDatum(false);
	values[6] = PointerGetDatum(part->report);
	nulls[6] = part->report == NULL;
	values[7] = PointerGetDatum(part->result);
	nulls[7] = part->result == NULL;
	values[8] = PointerGetDatum(bytes);
	row = heap_form_tuple(descriptor, values, nulls);
	pfree(bytes);
	return row;
}

/* segment_emit(trained int, key int): a row a part */
Datum
hopper_sql_segment_emit(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	Datum		values[EMIT_COLUMNS] = {0};
	bool		nulls[EMIT_COLUMNS] = {false};
	ErrorContextCallback callback = {error_context_stack, hopper_share_context, NULL};
	hopper_outside_part *outside;
	hopper_group_part part;
	hopper_error error;
	HeapTuple	row;
	int			any;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;

		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &call->tuple_desc) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "the result of segment_emit() is not a row");
		BlessTupleDesc(call->tuple_desc);
		MemoryContextSwitchTo(caller);
	}
	call = SRF_PERCALL_SETUP();
	if (waiting.parts != NIL && waiting.role == GetUserId())
	{
		waiting_part *part = linitial(waiting.parts);

		values[0] = Int32GetDatum(part->mst_key);
		values[1] = PG_GETARG_DATUM(1);
		nulls[1] = PG_ARGISNULL(1);
		values[2] = Int32GetDatum(part->part);
		values[3] = Int32GetDatum(part->n_parts);
		values[4] = BoolGetDatum(false);
		values[5] = BoolGetDatum(true);
		nulls[6] = nulls[7] = true;
		values[8] = PointerGetDatum(part->body);
		row = heap_form_tuple(call->tuple_desc, values, nulls);
		pfree(part->body);
		waiting.parts = list_delete_first(waiting.parts);
		if (waiting.parts == NIL)
			hopper_emit_forget();
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(row));
	}
	if (PG_ARGISNULL(0) || PG_GETARG_INT32(0) == 0 || !hopper_is_current(hopper_current.id))
		SRF_RETURN_DONE(call);
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_emit");
	outside = hopper_outside_next();
	if (outside)
	{
		row = form_outside(call->tuple_desc, outside);
		error_context_stack = callback.previous;
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(row));
	}
	any = hopper_torch()->group.next_part(hopper_current.group, &part, &error);
	if (any < 0)
		hopper_throw(&error);
	if (any == 0)
	{
		error_context_stack = callback.previous;
		hopper_outside_end();
		if (hopper_current.drop_cache > 0 && !hopper_current.finish &&
			hopper_current.hops >= hopper_current.drop_cache)
			hopper_share_leave();
		SRF_RETURN_DONE(call);
	}
	hopper_current.mst_key = part.mst_key;
	values[0] = Int32GetDatum(part.mst_key);
	values[1] = Int32GetDatum(part.next_key);
	values[2] = Int32GetDatum(part.part);
	values[3] = Int32GetDatum(part.n_parts);
	values[4] = BoolGetDatum(part.done != 0);
	values[5] = BoolGetDatum(false);
	nulls[6] = part.part != 0;
	if (!nulls[6])
		values[6] = hopper_report_datum(&part);
	nulls[7] = part.result == NULL;
	if (!nulls[7])
		values[7] = hopper_result_datum(part.result);
	values[8] = hopper_bytes_datum(part.bytes, part.size);
	row = heap_form_tuple(call->tuple_desc, values, nulls);
	hopper_current.mst_key = 0;
	error_context_stack = callback.previous;
	SRF_RETURN_NEXT(call, HeapTupleGetDatum(row));
}
