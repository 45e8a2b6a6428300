/*
 * emit.c
 *		What goes out of a segment, a row a part.
 */
#include "pg/greenplum/segment/part.h"

#include "utils/faultinjector.h"

#include "pg/greenplum/reports.h"
#include "pg/greenplum/segment/outside.h"
#include "pg/greenplum/wire.h"

/* A part on its way out; `untrained`: as it came. */
static Datum
form_part(FunctionCallInfo fcinfo, int32 mst_key, int32 part, int32 n_parts, bool done,
		  bool untrained, hopper_param next_key, Datum report, Datum result, const bytea *body)
{
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		HOPPER_INT4(mst_key), next_key, HOPPER_INT4(part), HOPPER_INT4(n_parts), HOPPER_BOOL(done),
		HOPPER_BOOL(untrained), hopper_array_param(report), hopper_array_param(result),
		HOPPER_PARAM(BYTEAOID, PointerGetDatum(body))));
}

/*
 * What went out while others trained, or what came while the data were not here, for the segment of
 * the call's key; 0: there is no more of it.
 */
static Datum
take_outside(FunctionCallInfo fcinfo)
{
	const hopper_outside_part *part = hopper_outside_next();
	bytea	   *body;
	Datum		row;

	if (part == NULL)
		return (Datum) 0;
	body = hopper_outside_bytes(part);
	row = form_part(fcinfo, part->mst_key, part->part, part->n_parts, part->done,
					part->untrained != NULL, !part->untrained ? HOPPER_INT4(part->next_key)
					: HOPPER_IF(!PG_ARGISNULL(1), HOPPER_PARAM(INT4OID, PG_GETARG_DATUM(1))),
					PointerGetDatum(part->report), PointerGetDatum(part->result), body);
	pfree(body);
	return row;
}

/* What the group has trained; 0: all of it has gone out. */
static Datum
take_trained(FunctionCallInfo fcinfo)
{
	hopper_group_part part;
	Datum		row;
	int			any = hopper_current.api->next_part(hopper_current.group, &part, hopper_fault);

	if (any < 0)
		hopper_throw(hopper_fault);
	if (any == 0)
		return (Datum) 0;
	hopper_current.mst_key = part.mst_key;
	row = form_part(fcinfo, part.mst_key, part.part, part.n_parts, part.done != 0, false,
					HOPPER_INT4(part.next_key),
					part.part == 0 ? hopper_report_datum(&part) : (Datum) 0,
					part.result ? hopper_result_datum(part.result) : (Datum) 0,
					(bytea *) DatumGetPointer(hopper_bytes_datum(part.bytes, part.size)));
	hopper_current.mst_key = 0;
	return row;
}

/* segment_emit(trained int, key int): a row a part */
HOPPER_FUNCTION(hopper_sql_segment_emit)
{
	FuncCallContext *call;
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	bool		trained;
	Datum		row;

	if (SRF_IS_FIRSTCALL())
		SRF_FIRSTCALL_INIT();
	call = SRF_PERCALL_SETUP();
	trained = !PG_ARGISNULL(0) && PG_GETARG_INT32(0) != 0 && hopper_is_current(hopper_current.id);
	if (trained)
	{
		error_context_stack = &callback;
		SIMPLE_FAULT_INJECTOR("hopper_segment_emit");
	}
	row = take_outside(fcinfo);
	if (row == (Datum) 0 && trained)
		row = take_trained(fcinfo);
	error_context_stack = callback.previous;
	if (row)
		SRF_RETURN_NEXT(call, row);
	hopper_outside_end();
	if (trained && hopper_current.drop_cache > 0 &&
		hopper_current.hops >= hopper_current.drop_cache)
		hopper_segment_part_leave();
	SRF_RETURN_DONE(call);
}
