/*
 * worker.c
 *		A segment's part of a run: it keeps its partitions in its writer process and trains the
 *		models that come by.
 *
 * The functions here are for the coordinator's statements, but any role may call them: a process
 * joins a run by a sealed description alone (greenplum/wire.c), serves the role that it was made
 * for (segment/part.c), and takes nothing in that the core has not checked.
 *
 * Faults for gp_inject_fault(): hopper_segment_load (each buffer), hopper_segment_train (each hop,
 * before it trains), hopper_segment_release (where a run's memory is given up at its end), and
 * hopper_segment_emit (segment/emit.c, each part that goes out).
 */
#include "pg/greenplum/segment/part.h"

#include "cdb/cdbvars.h"
#include "utils/faultinjector.h"

#include "pg/greenplum/segment/outside.h"
#include "pg/greenplum/wire.h"

/* What one segment_visit() collects for. */
typedef struct visit_step
{
	bool		halts;
	int32		milliseconds;
} visit_step;

/* --- data --- */

static void
add_buffer(const hopper_buffer *buffer, void *state)
{
	HOPPER_CHECK(hopper_current.api->add_buffer(hopper_current.group, buffer, hopper_fault));
}

/* Data that are wanted while the threads train; false where none are. */
static bool
load_partition(void)
{
	const hopper_group_api *api = hopper_current.api;
	int32		split;
	int32		partition;

	if (api->next_load(hopper_current.group, &split, &partition) != 1)
		return false;
	hopper_segment_read(&hopper_current.tables[split], split, partition, add_buffer, NULL);
	HOPPER_CHECK(api->end_load(hopper_current.group, split, partition, hopper_fault));
	return true;
}

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "a function of a segment was called outside its aggregate");
	return context;
}

/* Of the arguments of segment_load(). */
static void
take_buffer(FunctionCallInfo fcinfo)
{
	hopper_buffer buffer;

	if (PG_GETARG_INT32(4) != HOPPER_SPLIT_TRAIN && PG_GETARG_INT32(4) != HOPPER_SPLIT_VALID)
		hopper_refuse_description();
	buffer = hopper_get_buffer(fcinfo, 5, PG_GETARG_INT32(4));
	add_buffer(&buffer, NULL);
}

/*
 * segment_load(internal, run bigint, description bytea, key int, split int, partition_id int,
 * buffer_id int, n int, x bytea, y bytea, checksum bytea)
 */
HOPPER_FUNCTION(hopper_sql_segment_load)
{
	MemoryContext context = aggregate_context(fcinfo);
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	int64		run;
	int64	   *count;

	hopper_require_arguments(fcinfo, 1);
	run = PG_GETARG_INT64(1);
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_load");
	if (!hopper_is_current(run))
		hopper_segment_part_join(run, PG_GETARG_BYTEA_PP(2), PG_GETARG_INT32(3));
	if (hopper_current.plan.resident)
		take_buffer(fcinfo);
	error_context_stack = callback.previous;
	count = PG_ARGISNULL(0) ? MemoryContextAllocZero(context, sizeof(int64))
		: (int64 *) PG_GETARG_POINTER(0);
	(*count)++;
	CHECK_FOR_INTERRUPTS();
	PG_RETURN_POINTER(count);
}

/*
 * segment_load_end(internal): three lines, the numerics class of this segment, its build, and
 * numbers: its content id, how often it reads a partition at most (0: its data stay in memory),
 * bytes of data, of models, and of the models that one hop brings to it, and how many may meet
 * there where some have to wait
 */
HOPPER_FUNCTION(hopper_sql_segment_load_end)
{
	const hopper_data_plan *plan = &hopper_current.plan;
	hopper_run_info info;

	if (PG_ARGISNULL(0) || hopper_current.group == NULL)
		PG_RETURN_NULL();
	hopper_current.api->get_info(hopper_current.group, &info);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s\n%s\n%d %d " INT64_FORMAT " " INT64_FORMAT
											  " " INT64_FORMAT " %d",
											  info.numerics_class,
											  hopper_engine_library_id(hopper_current.api),
											  GpIdentity.segindex,
											  plan->resident ? 0 : plan->max_reads,
											  (int64) plan->bytes_data,
											  (int64) plan->bytes_models,
											  (int64) plan->bytes_aside, plan->n_waiting)));
}

/* --- who trains --- */

/*
 * segment_enter(run bigint, description bytea): 1: they are in, 0: this segment has lost its data,
 * -1: they do not fit beside the data as these lie, and none of them is in
 */
HOPPER_FUNCTION(hopper_sql_segment_enter)
{
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	const hopper_group_api *api;
	hopper_segment_entry entry;
	hopper_data_plan plan;
	int			code;

	hopper_require_arguments(fcinfo, 0);
	hopper_read_description(PG_GETARG_BYTEA_PP(1), &hopper_entry_description, &entry);
	if (entry.run != PG_GETARG_INT64(0))
		hopper_refuse_description();
	if (!hopper_is_current(entry.run))
		PG_RETURN_INT32(0);
	api = hopper_current.api;
	error_context_stack = &callback;
	HOPPER_CHECK(api->keep(hopper_current.group, entry.stay, entry.n_stay, hopper_fault));
	hopper_segment_part_enter(entry.stints, entry.n_stints);
	code = api->plan_data(hopper_current.group, &plan, hopper_fault);
	if (code == HOPPER_LIMIT_EXCEEDED)
	{
		HOPPER_CHECK(api->keep(hopper_current.group, entry.stay, entry.n_stay, hopper_fault));
		error_context_stack = callback.previous;
		PG_RETURN_INT32(-1);
	}
	HOPPER_CHECK(code);
	error_context_stack = callback.previous;
	PG_RETURN_INT32(1);
}

/* --- training --- */

/*
 * segment_collect(internal, run bigint, milliseconds int, halts bool, mst_key int, part int,
 * n_parts int, body bytea)
 */
HOPPER_FUNCTION(hopper_sql_segment_collect)
{
	MemoryContext context = aggregate_context(fcinfo);
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	visit_step *step;
	bytea	   *body;

	hopper_require_arguments(fcinfo, 1);
	if (PG_ARGISNULL(0))
	{
		step = MemoryContextAllocZero(context, sizeof(*step));
		step->milliseconds = PG_GETARG_INT32(2);
		step->halts = PG_GETARG_BOOL(3);
		hopper_outside_forget();
	}
	else
		step = (visit_step *) PG_GETARG_POINTER(0);
	hopper_current.mst_key = PG_GETARG_INT32(4);
	error_context_stack = &callback;
	body = PG_GETARG_BYTEA_PP(7);
	if (!hopper_is_current(PG_GETARG_INT64(1)))
		hopper_outside_return(PG_GETARG_INT32(4), PG_GETARG_INT32(5), PG_GETARG_INT32(6), body);
	else
	{
		int32		later = 0;

		HOPPER_CHECK(hopper_current.api->add_part(hopper_current.group, PG_GETARG_INT32(4),
												  PG_GETARG_INT32(5), PG_GETARG_INT32(6),
												  (const uint8_t *) VARDATA_ANY(body),
												  VARSIZE_ANY_EXHDR(body), &later, hopper_fault));
		if (later)
			hopper_outside_keep(PG_GETARG_INT32(4), PG_GETARG_INT32(5), PG_GETARG_INT32(6), body);
	}
	error_context_stack = callback.previous;
	hopper_current.mst_key = 0;
	CHECK_FOR_INTERRUPTS();
	PG_RETURN_POINTER(step);
}

/* segment_train(internal): trains what was collected; 1 where it is done, 0 without data */
HOPPER_FUNCTION(hopper_sql_segment_train)
{
	const hopper_group_api *api;
	ErrorContextCallback callback = {error_context_stack, hopper_segment_part_context, NULL};
	visit_step *step;
	int			done;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (hopper_outside_has_untrained() || hopper_current.group == NULL)
		PG_RETURN_INT32(0);
	step = (visit_step *) PG_GETARG_POINTER(0);
	api = hopper_current.api;
	hopper_current.mst_key = 0;
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_train");
	if (hopper_current.hops++ == 0)
		HOPPER_CHECK(api->check_data(hopper_current.group, hopper_fault));
	HOPPER_CHECK(api->start(hopper_current.group, step->halts, step->milliseconds, hopper_fault));
	/* the time limit: latches of 9.4 are set by few signals */
	while ((done = api->poll(hopper_current.group, hopper_fault)) == 0)
		if (!load_partition() && !hopper_outside_exchange(api, hopper_current.group))
			hopper_wait(hopper_current.event_fd, 500);
	if (done < 0)
		hopper_throw(hopper_fault);
	error_context_stack = callback.previous;
	PG_RETURN_INT32(1);
}

/* segment_release(run bigint): the data and the memory of a run, at its end */
HOPPER_FUNCTION(hopper_sql_segment_release)
{
	hopper_require_arguments(fcinfo, 0);
	if (hopper_is_current(PG_GETARG_INT64(0)))
	{
		SIMPLE_FAULT_INJECTOR("hopper_segment_release");
		hopper_segment_part_leave();
	}
	PG_RETURN_INT32(0);
}
