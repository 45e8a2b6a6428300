/*
 * worker.c
 *		A segment's part of a run: it keeps its partitions in its writer process and trains the
 *		models that come by.
 *
 * The functions here are for the coordinator's statements, but any role may call them: a process
 * joins a run by a sealed description alone (greenplum/wire.c), serves the role that it was made
 * for, and takes nothing in that the core has not checked. What they keep lives until the
 * coordinator gives it up, at the latest until the transaction or the process ends.
 *
 * Faults for gp_inject_fault(): hopper_segment_load (each buffer), hopper_segment_train (each hop,
 * before it trains), hopper_segment_emit (each part that goes out), hopper_segment_release (where
 * a run's memory is given up at its end).
 */
#include "pg/greenplum/segments.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "access/xact.h"
#include "cdb/cdbvars.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/faultinjector.h"
#include "utils/memutils.h"

#include "pg/greenplum/reports.h"
#include "pg/greenplum/segment/outside.h"
#include "pg/greenplum/wire.h"

PG_FUNCTION_INFO_V1(hopper_sql_segment_load);
PG_FUNCTION_INFO_V1(hopper_sql_segment_load_end);
PG_FUNCTION_INFO_V1(hopper_sql_segment_enter);
PG_FUNCTION_INFO_V1(hopper_sql_segment_collect);
PG_FUNCTION_INFO_V1(hopper_sql_segment_train);
PG_FUNCTION_INFO_V1(hopper_sql_segment_emit);
PG_FUNCTION_INFO_V1(hopper_sql_segment_release);

/* What one segment_visit() collects for. */
typedef struct visit_step
{
	int32		iteration;
	bool		fresh;
	bool		finish;
} visit_step;

/* A part that came while the data were not here; it goes out again as it is. */
typedef struct waiting_part
{
	int32		mst_key;
	int32		part;
	int32		n_parts;
	bytea	   *body;
} waiting_part;

/* The run that this process takes part in. */
static struct
{
	int64		id;				/* 0: none */
	Oid			role;			/* whose run it is */
	hopper_group *group;
	hopper_data_plan plan;
	hopper_segment_table tables[2]; /* by split */
	int			event_fd;
	SubTransactionId subxact;
	int			hops;			/* since the data came */
	int			drop_cache;
	char		shown[2 * NAMEDATALEN + 2];
	int32		iteration;
	int32		mst_key;		/* for messages: the configuration at hand; 0: none */
	bool		finish;
} current;

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

static void
drop_waiting(void)
{
	if (waiting.context)
		MemoryContextDelete(waiting.context);
	memset(&waiting, 0, sizeof(waiting));
}

static void
add_waiting(FunctionCallInfo fcinfo)
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

/* Whether this process takes part in that run, of the role that asks. */
static bool
is_current(int64 run)
{
	return current.group != NULL && current.id == run && current.role == GetUserId();
}

static void
drop_run(void)
{
	hopper_group *group = current.group;
	int			event_fd = current.event_fd;

	if (current.id == 0)
		return;
	memset(&current, 0, sizeof(current));
	if (group)
		hopper_torch()->group.free(group);
	close(event_fd);
}

static void
transaction_ends(XactEvent event, void *arg)
{
	drop_waiting();
	hopper_outside_forget();
	drop_run();
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		drop_waiting();
		hopper_outside_forget();
	}
	if (current.id == 0 || current.subxact != mine)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		drop_run();
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		current.subxact = parent;
}

static void
process_ends(int code, Datum arg)
{
	drop_run();
}

static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(transaction_ends, NULL);
	RegisterSubXactCallback(subtransaction_ends, NULL);
	before_shmem_exit(process_ends, (Datum) 0);
	registered = true;
}

static void
segment_context(void *arg)
{
	if (current.id == 0)
		errcontext("reading packed data on segment %d", GpIdentity.segindex);
	else if (current.mst_key > 0 && current.iteration == 0)
		errcontext("training of \"%s\" on segment %d, configuration %d", current.shown,
				   GpIdentity.segindex, current.mst_key);
	else if (current.mst_key > 0)
		errcontext("training of \"%s\" on segment %d, iteration %d, configuration %d",
				   current.shown, GpIdentity.segindex, current.iteration, current.mst_key);
	else if (current.iteration > 0)
		errcontext("training of \"%s\" on segment %d, iteration %d", current.shown,
				   GpIdentity.segindex, current.iteration);
	else
		errcontext("training of \"%s\" on segment %d", current.shown, GpIdentity.segindex);
}

/* --- data --- */

/* Which GPU this process gets is the group's to say, from its number on this host. */
static void
choose_gpu(hopper_segment_run *run)
{
	char		host[256] = "";
	hopper_rows *gpus;
	hopper_error error;
	int			n;

	if (!run->options.use_gpus)
		return;
	if (GpIdentity.segindex >= 0 && GpIdentity.segindex < run->n_segments)
		run->options.device_number = run->segment_numbers[GpIdentity.segindex];
	HOPPER_CHECK(hopper_torch()->gpus(&gpus, &error), error);
	n = gpus->n_rows;
	hopper_torch()->rows_free(gpus);
	if (n > 0)
		return;
	if (gethostname(host, sizeof(host) - 1) != 0)
		strlcpy(host, "unknown", sizeof(host));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no GPU is available on segment %d, host \"%s\"", GpIdentity.segindex, host),
			 errdetail("With use_gpus, each segment with packed data trains on a GPU of its host."),
			 errhint("Call it with use_gpus := false, or pack the data with distribution_rules := "
					 "'gpu_segments'; hopper.gpu_configuration() lists the GPUs of all hosts.")));
}

static void
join_run(int64 id, const bytea *description, int32 key)
{
	const hopper_torch_api *torch = hopper_torch();
	hopper_segment_run run;
	hopper_group *group;
	hopper_error error;

	drop_run();
	register_callbacks();
	hopper_read_run(description, &run);
	if (run.id != id)
		hopper_refuse_description();
	choose_gpu(&run);
	run.options.threads = hopper_segment_threads(run.options.threads, run.segments_on_host);
	run.options.memory_limit = hopper_segment_memory(run.options.memory_limit,
													 run.segments_on_host);
	current.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (current.event_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create an event descriptor: %m")));
	current.id = run.id;
	current.role = GetUserId();
	current.subxact = GetCurrentSubTransactionId();
	current.drop_cache = run.drop_cache;
	strlcpy(current.shown, run.shown, sizeof(current.shown));
	run.options.event_fd = current.event_fd;
	HOPPER_CHECK(torch->group.create(&run.options, &run.train, run.has_valid ? &run.valid : NULL,
									 run.train_keys, run.valid_keys, key, &group, &error), error);
	current.group = group;
	for (int i = 0; i < run.n_configs; i++)
		HOPPER_CHECK(run.legs[i] > 0
					 ? torch->group.enter(group, &run.configs[i], run.legs[i], &error)
					 : torch->group.add_config(group, &run.configs[i], &error), error);
	memcpy(current.tables, run.tables, sizeof(current.tables));
	HOPPER_CHECK(torch->group.plan_data(group, &current.plan, &error), error);
}

static void
add_buffer(const hopper_buffer *buffer, void *state)
{
	hopper_error error;

	HOPPER_CHECK(hopper_torch()->group.add_buffer(current.group, buffer, &error), error);
}

/* Data that are wanted while the threads train; false where none are. */
static bool
load_partition(void)
{
	const hopper_torch_api *torch = hopper_torch();
	hopper_error error;
	int32		split;
	int32		partition;

	if (torch->group.next_load(current.group, &split, &partition) != 1)
		return false;
	hopper_segment_read(&current.tables[split], split, partition, add_buffer, NULL);
	HOPPER_CHECK(torch->group.end_load(current.group, split, partition, &error), error);
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
Datum
hopper_sql_segment_load(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	int64		run;
	int64	   *count;

	hopper_require_arguments(fcinfo, 1);
	run = PG_GETARG_INT64(1);
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_load");
	if (!is_current(run))
		join_run(run, PG_GETARG_BYTEA_PP(2), PG_GETARG_INT32(3));
	if (current.plan.resident)
		take_buffer(fcinfo);
	error_context_stack = callback.previous;
	count = PG_ARGISNULL(0) ? MemoryContextAllocZero(context, sizeof(int64))
		: (int64 *) PG_GETARG_POINTER(0);
	(*count)++;
	CHECK_FOR_INTERRUPTS();
	PG_RETURN_POINTER(count);
}

/*
 * segment_load_end(internal): three lines, the numerics class of this segment, its build, and how
 * often it reads a partition at most (0: its data stay in memory), bytes of data, of models, and of
 * the models that one hop brings to it, and how many may meet there where some have to wait
 */
Datum
hopper_sql_segment_load_end(PG_FUNCTION_ARGS)
{
	hopper_run_info info;

	if (PG_ARGISNULL(0) || current.group == NULL)
		PG_RETURN_NULL();
	hopper_torch()->group.get_info(current.group, &info);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s\n%s\n%d " INT64_FORMAT " " INT64_FORMAT
											  " " INT64_FORMAT " %d",
											  info.numerics_class, hopper_torch_library_id(),
											  current.plan.resident ? 0 : current.plan.max_reads,
											  (int64) current.plan.bytes_data,
											  (int64) current.plan.bytes_models,
											  (int64) current.plan.bytes_aside,
											  current.plan.n_waiting)));
}

/* --- who trains on an open run --- */

/*
 * segment_enter(run bigint, description bytea): 1: they are in, 0: this segment has lost its data,
 * -1: they do not fit beside the data as these lie, and none of them is in
 */
Datum
hopper_sql_segment_enter(PG_FUNCTION_ARGS)
{
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	const hopper_group_api *api;
	hopper_segment_entry entry;
	hopper_data_plan plan;
	hopper_error error;
	int			code;

	hopper_require_arguments(fcinfo, 0);
	hopper_read_entry(PG_GETARG_BYTEA_PP(1), &entry);
	if (entry.run != PG_GETARG_INT64(0))
		hopper_refuse_description();
	if (!is_current(entry.run))
		PG_RETURN_INT32(0);
	api = &hopper_torch()->group;
	error_context_stack = &callback;
	HOPPER_CHECK(api->keep(current.group, entry.stay, entry.n_stay, &error), error);
	for (int i = 0; i < entry.n_configs; i++)
		HOPPER_CHECK(api->enter(current.group, &entry.configs[i], entry.legs[i], &error), error);
	code = api->plan_data(current.group, &plan, &error);
	if (code == HOPPER_LIMIT_EXCEEDED)
	{
		HOPPER_CHECK(api->keep(current.group, entry.stay, entry.n_stay, &error), error);
		error_context_stack = callback.previous;
		PG_RETURN_INT32(-1);
	}
	HOPPER_CHECK(code, error);
	error_context_stack = callback.previous;
	PG_RETURN_INT32(1);
}

/* --- training --- */

/*
 * segment_collect(internal, run bigint, iteration int, fresh bool, finish bool, mst_key int,
 * part int, n_parts int, body bytea)
 */
Datum
hopper_sql_segment_collect(PG_FUNCTION_ARGS)
{
	MemoryContext context = aggregate_context(fcinfo);
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	visit_step *step;
	bytea	   *body;
	hopper_error error;

	hopper_require_arguments(fcinfo, 1);
	if (PG_ARGISNULL(0))
	{
		step = MemoryContextAllocZero(context, sizeof(*step));
		step->iteration = PG_GETARG_INT32(2);
		step->fresh = PG_GETARG_BOOL(3);
		step->finish = PG_GETARG_BOOL(4);
		register_callbacks();
		drop_waiting();
		hopper_outside_forget();
		current.iteration = step->iteration;
	}
	else
		step = (visit_step *) PG_GETARG_POINTER(0);
	current.mst_key = PG_GETARG_INT32(5);
	error_context_stack = &callback;
	body = PG_GETARG_BYTEA_PP(8);
	if (!is_current(PG_GETARG_INT64(1)))
		add_waiting(fcinfo);
	else
	{
		int32		later = 0;

		HOPPER_CHECK(hopper_torch()->group.add_part(current.group, PG_GETARG_INT32(5),
													PG_GETARG_INT32(6), PG_GETARG_INT32(7),
													(const uint8_t *) VARDATA_ANY(body),
													VARSIZE_ANY_EXHDR(body), &later, &error),
					 error);
		if (later)
			hopper_outside_keep(PG_GETARG_INT32(5), PG_GETARG_INT32(6), PG_GETARG_INT32(7), body);
	}
	error_context_stack = callback.previous;
	current.mst_key = 0;
	CHECK_FOR_INTERRUPTS();
	PG_RETURN_POINTER(step);
}

/* segment_train(internal): trains what was collected; 1 where it is done, 0 without data */
Datum
hopper_sql_segment_train(PG_FUNCTION_ARGS)
{
	const hopper_torch_api *torch;
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	visit_step *step;
	hopper_error error;
	int			done;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (waiting.parts != NIL || current.group == NULL)
		PG_RETURN_INT32(0);
	step = (visit_step *) PG_GETARG_POINTER(0);
	torch = hopper_torch();
	current.iteration = step->iteration;
	current.mst_key = 0;
	current.finish = step->finish;
	error_context_stack = &callback;
	SIMPLE_FAULT_INJECTOR("hopper_segment_train");
	if (current.hops++ == 0)
		HOPPER_CHECK(torch->group.check_data(current.group, &error), error);
	HOPPER_CHECK(torch->group.start(current.group, step->iteration, step->fresh, step->finish,
									&error), error);
	/* the time limit: latches of this kernel are set by few signals */
	while ((done = torch->group.poll(current.group, &error)) == 0)
		if (!load_partition() && !hopper_outside_exchange(current.group))
			hopper_wait(current.event_fd, 500);
	if (done < 0)
		hopper_throw(&error);
	error_context_stack = callback.previous;
	PG_RETURN_INT32(1);
}

/* --- what goes out --- */

#define EMIT_COLUMNS 9

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
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
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
			drop_waiting();
		SRF_RETURN_NEXT(call, HeapTupleGetDatum(row));
	}
	if (PG_ARGISNULL(0) || PG_GETARG_INT32(0) == 0 || !is_current(current.id))
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
	any = hopper_torch()->group.next_part(current.group, &part, &error);
	if (any < 0)
		hopper_throw(&error);
	if (any == 0)
	{
		error_context_stack = callback.previous;
		hopper_outside_end();
		if (current.drop_cache > 0 && current.hops >= current.drop_cache && !current.finish)
			drop_run();
		SRF_RETURN_DONE(call);
	}
	current.mst_key = part.mst_key;
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
	current.mst_key = 0;
	error_context_stack = callback.previous;
	SRF_RETURN_NEXT(call, HeapTupleGetDatum(row));
}

/* segment_release(run bigint): the data and the memory of a run, at its end */
Datum
hopper_sql_segment_release(PG_FUNCTION_ARGS)
{
	hopper_require_arguments(fcinfo, 0);
	if (is_current(PG_GETARG_INT64(0)))
	{
		SIMPLE_FAULT_INJECTOR("hopper_segment_release");
		drop_run();
	}
	PG_RETURN_INT32(0);
}
