/*
 * evaluate.c
 *		Evaluation on a segment: an aggregate that takes the packed buffers in, in the order of
 *		their partitions, and gives the sums of the partitions out. Each partition goes when it has
 *		been evaluated; the next one comes once it has room within hopper.memory_limit.
 */
#include "pg/greenplum/evaluate.h"

#include "cdb/cdbvars.h"

#include "pg/greenplum/reports.h"
#include "pg/predict/evaluate.h"

/* Latches of 9.4 are set by few signals: wait no longer than this, in milliseconds. */
#define LONGEST_WAIT 500

/* --- the description --- */

static void
pass_evaluation(hopper_wire *wire, void *thing)
{
	hopper_segment_evaluation *evaluation = thing;
	hopper_config *config = &evaluation->config;
	hopper_floats weights = wire->reads ? (hopper_floats) {0} : *evaluation->weights;

	config->mst_key = hopper_wire_int32(wire, config->mst_key);
	config->model_id = hopper_wire_int32(wire, config->model_id);
	config->model_arch = hopper_wire_bytes(wire, config->model_arch, &config->model_arch_size);
	if (config->model_arch == NULL)
		hopper_refuse_description();
	config->compile_params = hopper_wire_text(wire, config->compile_params);
	config->fit_params = hopper_wire_text(wire, config->fit_params);
	hopper_wire_floats(wire, &weights);
	config->n_weights = weights.n;
	config->weights = weights.n > 0 ? weights.values : NULL;
	config->state_size = (size_t) hopper_wire_between(wire, (int64) config->state_size, 0,
													  PG_INT64_MAX);
	config->state = hopper_wire_array(wire, config->state, (int64) config->state_size, 1);
	if (config->state_size == 0)
		config->state = NULL;
	config->confusion = hopper_wire_bool(wire, config->confusion);
	hopper_wire_desc(wire, &evaluation->desc);
	evaluation->keys = hopper_wire_array(wire, evaluation->keys, evaluation->desc.n_partitions,
										 sizeof(int32));
	evaluation->threads = hopper_wire_int32(wire, evaluation->threads);
	evaluation->memory_limit = hopper_wire_int(wire, evaluation->memory_limit);
	evaluation->segments_on_host = hopper_wire_natural(wire, evaluation->segments_on_host);
	if (!wire->reads)
		return;
	/* Threads and memory are those of this segment. */
	evaluation->segments_on_host = Max(evaluation->segments_on_host, 1);
	evaluation->threads = hopper_segment_threads(evaluation->threads,
												 evaluation->segments_on_host);
	evaluation->memory_limit = hopper_segment_memory(evaluation->memory_limit,
													 evaluation->segments_on_host);
}

const hopper_description hopper_evaluation_description = {
	HOPPER_DESCRIBES_EVALUATION, pass_evaluation, sizeof(hopper_segment_evaluation)
};

/* --- sums --- */

typedef struct summing
{
	hopper_evaluating run;
	int32		n_partitions;	/* of the table */
	char	   *shown;
} summing;

static void
segment_context(void *arg)
{
	const char *shown = ((summing *) arg)->shown;

	if (shown)
		errcontext("evaluation on \"%s\" on segment %d", shown, GpIdentity.segindex);
	else
		errcontext("evaluation on segment %d", GpIdentity.segindex);
}

static void
create(const hopper_segment_evaluation *given, summing *state)
{
	state->shown = pstrdup(given->desc.table_name);
	hopper_evaluation_open(&state->run, &given->config, NULL, &given->desc, given->threads,
						   LONGEST_WAIT);
}

/* An evaluation of the partitions with this key. */
static void
start(const bytea *description, int32 key, summing *state)
{
	hopper_segment_evaluation given;
	int32	   *partitions;
	int32		n = 0;

	hopper_read_description(description, &hopper_evaluation_description, &given);
	partitions = palloc(sizeof(int32) * given.desc.n_partitions);
	for (int32 p = 0; p < given.desc.n_partitions; p++)
		if (given.keys[p] == key)
			partitions[n++] = p;
	create(&given, state);
	HOPPER_CHECK(state->run.api->choose(state->run.evaluation, partitions, n, hopper_fault));
	HOPPER_CHECK(state->run.api->limit(state->run.evaluation, given.memory_limit, hopper_fault));
	HOPPER_CHECK(state->run.api->start(state->run.evaluation, hopper_fault));
	state->n_partitions = given.desc.n_partitions;
}

/*
 * segment_evaluation_row(internal, description bytea, key int, partition_id int, buffer_id int,
 * n int, x bytea, y bytea, checksum bytea)
 */
HOPPER_FUNCTION(hopper_sql_segment_evaluation_row)
{
	MemoryContext context;
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	hopper_buffer buffer;
	summing    *state;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "segment_evaluation_row() was called outside its aggregate");
	hopper_require_arguments(fcinfo, 1);
	if (PG_ARGISNULL(0))
	{
		MemoryContext caller = MemoryContextSwitchTo(context);

		state = palloc0(sizeof(summing));
		callback.arg = state;
		error_context_stack = &callback;
		start(PG_GETARG_BYTEA_PP(1), PG_GETARG_INT32(2), state);
		MemoryContextSwitchTo(caller);
	}
	else
		state = (summing *) PG_GETARG_POINTER(0);
	callback.arg = state;
	error_context_stack = &callback;
	buffer = hopper_get_buffer(fcinfo, 3, HOPPER_SPLIT_VALID);
	hopper_evaluation_add(&state->run, &buffer);
	error_context_stack = callback.previous;
	PG_RETURN_POINTER(state);
}

/* segment_evaluation_end(internal): sums of the partitions for segment_evaluation_total() */
HOPPER_FUNCTION(hopper_sql_segment_evaluation_end)
{
	ErrorContextCallback callback = {error_context_stack, segment_context, NULL};
	summing    *state;
	const uint8_t *bytes;
	size_t		size;
	int			done;
	Datum		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (summing *) PG_GETARG_POINTER(0);
	callback.arg = state;
	error_context_stack = &callback;
	hopper_evaluation_wait(&state->run, state->n_partitions);
	while ((done = state->run.api->sums(state->run.evaluation, &bytes, &size, hopper_fault)) == 0)
		hopper_wait(state->run.event_fd, LONGEST_WAIT);
	if (done < 0)
		hopper_throw(hopper_fault);
	result = hopper_bytes_datum(bytes, size);
	hopper_evaluation_close(&state->run);
	error_context_stack = callback.previous;
	PG_RETURN_DATUM(result);
}

/* segment_evaluation_total(description bytea, sums bytea): loss and metrics, a confusion matrix */
HOPPER_FUNCTION(hopper_sql_segment_evaluation_total)
{
	Datum		values[2] = {0};
	bool		nulls[2] = {false, true};
	FuncCallContext *call;
	hopper_segment_evaluation given;
	summing		state;
	bytea	   *sums;
	hopper_event event;

	if (SRF_IS_FIRSTCALL())
		SRF_FIRSTCALL_INIT();
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr > 0)
		SRF_RETURN_DONE(call);
	hopper_require_arguments(fcinfo, 0);
	sums = PG_GETARG_BYTEA_PP(1);
	hopper_read_description(PG_GETARG_BYTEA_PP(0), &hopper_evaluation_description, &given);
	given.threads = 1;
	create(&given, &state);
	HOPPER_CHECK(state.run.api->total(state.run.evaluation, (const uint8_t *) VARDATA_ANY(sums),
									  VARSIZE_ANY_EXHDR(sums), &event, hopper_fault));
	values[0] = hopper_values_datum(&event);
	if (given.config.confusion)
	{
		const int64_t *counts;
		int32_t		n;

		HOPPER_CHECK(state.run.api->confusion(state.run.evaluation, &counts, &n, hopper_fault));
		values[1] = hopper_counts_datum(counts, n);
		nulls[1] = false;
	}
	hopper_evaluation_close(&state.run);
	SRF_RETURN_NEXT(call, hopper_return_row(fcinfo, values, nulls));
}
