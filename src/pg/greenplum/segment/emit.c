/*
 * emit.c
 *		What goes out of a segment, a row a part.
 */
#include "pg/greenplum/segment/part.h"

#include "utils/faultinjector.h"

#include "pg/greenplum/reports.h"
#include "pg/greenplum/segment/outside.h"
#include "pg/greenplum/segment/untrained.h"
#include "pg/greenplum/wire.h"

/* A part on its way out. */
typedef struct hopper_emitted
{
	int32		mst_key;
	int32		part;
	int32		n_parts;
	bool		done;
	bool		untrained;		/* it goes out as it came */
	bool		no_next_key;
	Datum		next_key;
	Datum		report;			/* (Datum) 0: none */
	Datum		result;
	Datum		body;			/* bytea */
} hopper_emitted;

static Datum
form_part(FunctionCallInfo fcinfo, const hopper_emitted *part)
{
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		HOPPER_INT4(part->mst_key),
		HOPPER_IF(!part->no_next_key, HOPPER_PARAM(INT4OID, part->next_key)),
		HOPPER_INT4(part->part), HOPPER_INT4(part->n_parts), HOPPER_BOOL(part->done),
		HOPPER_BOOL(part->untrained), hopper_array_param(part->report),
		hopper_array_param(part->result), HOPPER_PARAM(BYTEAOID, part->body)));
}

/* What came while the data were not here, as it came; 0: there is no more of it. */
static Datum
take_untrained(FunctionCallInfo fcinfo)
{
	const hopper_untrained_part *part = hopper_untrained_first();
	hopper_emitted out = {0};
	Datum		row;

	if (part == NULL)
		return (Datum) 0;
	out = (hopper_emitted) {part->mst_key, part->part, part->n_parts, false, true};
	out.next_key = PG_GETARG_DATUM(1);
	out.no_next_key = PG_ARGISNULL(1);
	out.body = PointerGetDatum(part->body);
	row = form_part(fcinfo, &out);
	hopper_untrained_drop_first();
	return row;
}

/* What went out while others trained; 0: there is no more of it. */
static Datum
take_outside(FunctionCallInfo fcinfo)
{
	const hopper_outside_part *part = hopper_outside_next();
	hopper_emitted out = {0};
	Datum		row;

	if (part == NULL)
		return (Datum) 0;
	out = (hopper_emitted) {part->mst_key, part->part, part->n_parts, part->done, false};
	out.next_key = Int32GetDatum(part->next_key);
	out.report = PointerGetDatum(part->report);
	out.result = PointerGetDatum(part->result);
	out.body = PointerGetDatum(hopper_outside_bytes(part));
	row = form_part(fcinfo, &out);
	pfree(DatumGetPointer(out.body));
	return row;
}

/* What the group has trained; 0: all of it has gone out. */
static Datum
take_trained(FunctionCallInfo fcinfo)
{
	hopper_emitted out;
	hopper_group_part part;
	Datum		row;
	int			any = hopper_torch()->group.next_part(hopper_current.group, &part, hopper_fault);

	if (any < 0)
		hopper_throw(hopper_fault);
	if (any == 0)
		return (Datum) 0;
	hopper_current.mst_key = part.mst_key;
	out = (hopper_emitted) {part.mst_key, part.part, part.n_parts, part.done != 0, false};
	out.next_key = Int32GetDatum(part.next_key);
	if (part.part == 0)
		out.report = hopper_report_datum(&part);
	if (part.result)
		out.result = hopper_result_datum(part.result);
	out.body = hopper_bytes_datum(part.bytes, part.size);
	row = form_part(fcinfo, &out);
	hopper_current.mst_key = 0;
	return row;
}

/* segment_emit(trained int, key int): a row a part */
HOPPER_FUNCTION(hopper_sql_segment_emit)
{
	FuncCallContext *call;
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	Datum		row;

	if (SRF_IS_FIRSTCALL())
		SRF_FIRSTCALL_INIT();
	call = SRF_PERCALL_SETUP();
	row = take_untrained(fcinfo);
	if (row)
		SRF_RETURN_NEXT(call, row);
	if (PG_ARGISNULL(0) || PG_GETARG_INT32(0) == 0 || !hopper_is_current(hopper_current.id))
		SRF_RETURN_DONE(call);
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_emit");
	row = take_outside(fcinfo);
	if (row == (Datum) 0)
		row = take_trained(fcinfo);
	error_context_stack = callback.previous;
	if (row)
		SRF_RETURN_NEXT(call, row);
	hopper_outside_end();
	if (hopper_current.drop_cache > 0 && hopper_current.hops >= hopper_current.drop_cache)
		hopper_segment_part_leave();
	SRF_RETURN_DONE(call);
}
