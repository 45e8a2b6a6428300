/*
 * core_run.c
 *		Data in, events out: the main thread's part of training.
 *
 * The models are trained by the core's threads. The main thread copies the packed buffers in, then
 * sleeps until an event waits or a signal arrives. An error of any kind, a cancelled query or a
 * terminated session frees the run through its guard, which stops and joins the threads.
 */
#include "pg/local/local.h"

#include "pg/catalog/configs.h"
#include "pg/train/warm_start.h"

static void
add_to_run(const hopper_buffer *buffer, void *state)
{
	hopper_training *training = state;

	HOPPER_CHECK(training->api->add_buffer(training->run, buffer, hopper_fault));
	CHECK_FOR_INTERRUPTS();
}

static void
tell_reading_in_turns(const hopper_training *training, const hopper_data_plan *plan)
{
	ereport(NOTICE, errmsg("%s \"%s\": data and models exceed hopper.memory_limit, each partition "
						   "is read up to %s", training->function, training->shown,
						   hopper_plural(plan->max_reads, "time", "times")),
			errdetail("The data take %s, the models %s; hopper.memory_limit is %s.",
					  hopper_bytes_words(plan->bytes_data), hopper_bytes_words(plan->bytes_models),
					  hopper_bytes_words(training->options.memory_limit)));
}

/* Answers HOPPER_EVENT_LOAD; the threads train on what they have meanwhile. */
static void
load_partition(hopper_training *training, hopper_split split, int32 partition)
{
	hopper_scan_packed(split == HOPPER_SPLIT_VALID ? training->valid : training->train, split,
					   partition, add_to_run, training);
	HOPPER_CHECK(training->api->end_load(training->run, split, partition, hopper_fault));
}

static int
place_of(const hopper_training *training, int32 mst_key)
{
	int			at = hopper_training_place(training, mst_key);

	if (at < 0)
		elog(ERROR, "the core told of configuration %d, which is not in the run", mst_key);
	return at;
}

/* The stored states that the core wants now, one at a time. */
static void
push_states(hopper_training *training)
{
	int32		mst_key;

	while (training->api->wanted_state(training->run, &mst_key) == 1)
	{
		hopper_push_state(training, place_of(training, mst_key));
		CHECK_FOR_INTERRUPTS();
	}
}

static void
tell_waiting(const hopper_training *training, const hopper_data_plan *plan)
{
	ereport(NOTICE, errmsg("%s \"%s\": models exceed hopper.memory_limit, %s for others to end",
						   training->function, training->shown,
						   plan->n_waiting == 1 ? "1 configuration waits"
						   : psprintf("%d configurations wait", plan->n_waiting)),
			errdetail("All models together take %s; hopper.memory_limit is %s.",
					  hopper_bytes_words(plan->bytes_models),
					  hopper_bytes_words(training->options.memory_limit)));
}

static hopper_run *
new_run(const hopper_training *training, hopper_guard **guard)
{
	hopper_run *run;

	HOPPER_CHECK(training->api->create(&training->options, &training->train->desc,
									   training->valid ? &training->valid->desc : NULL, &run,
									   hopper_fault));
	*guard = hopper_guard_add(run, training->api->free);
	return run;
}

static void
add_configs(const hopper_training *training, hopper_run *run)
{
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_config config = training->configs[i];

		config.fit_params = hopper_balanced_params(config.fit_params, &training->train->desc);
		HOPPER_CHECK(training->api->add_config(run, &config, hopper_fault));
		CHECK_FOR_INTERRUPTS();
	}
}

int64
hopper_core_run_needs(const hopper_training *training)
{
	hopper_training alone = *training;
	hopper_data_plan plan;
	hopper_guard *guard;
	hopper_run *run;

	if (training->options.use_gpus)
		return -1;
	alone.options.event_fd = -1;
	alone.api = &hopper_engine(training->wants_libtorch)->run;
	run = new_run(&alone, &guard);
	add_configs(&alone, run);
	HOPPER_CHECK(alone.api->plan_data(run, &plan, hopper_fault));
	hopper_guard_release(guard);
	return plan.resident && plan.n_waiting == 0 ? plan.bytes_data + plan.bytes_models : -1;
}

/* As many of the leader's as there are tasks: a model is trained and evaluated at a time. */
static int
threads_beside(const hopper_training *training)
{
	int			each = Max(training->options.threads_per_model, 1);

	return (int) Min(training->leader->options.threads, (int64) 2 * training->n_configs * each);
}

void
hopper_core_run_create(hopper_training *training)
{
	hopper_run_options *options = &training->options;
	const hopper_training *leader = training->leader;

	hopper_training_allocate(training);
	training->timeline = hopper_timeline_new(training);
	training->share = hopper_share_new();
	options->threads = leader ? threads_beside(training)
		: hopper_take_threads(training->share, options->threads,
							  Max(options->threads_per_model, 1));
	training->event_fd = options->event_fd = leader ? leader->event_fd : hopper_eventfd_open();
	training->api = &hopper_engine(training->wants_libtorch)->run;
	training->run = new_run(training, &training->guard);
	HOPPER_CHECK(training->api->stay_open(training->run, hopper_fault));
	if (leader)
		HOPPER_CHECK(training->api->take_turns(training->run, leader->run, hopper_fault));
	add_configs(training, training->run);
}

/* All data, or none where they do not fit: then events ask for them. */
void
hopper_core_run_load(hopper_training *training)
{
	TimestampTz then = GetCurrentTimestamp();
	hopper_data_plan plan;

	HOPPER_CHECK(training->api->plan_data(training->run, &plan, hopper_fault));
	/* Models that wait take no more than the limit. */
	training->share_bytes = Min(training->options.memory_limit,
								plan.bytes_models +
								(plan.resident ? plan.bytes_data : plan.bytes_window));
	hopper_take_memory(training->share, training->share_bytes);
	if (plan.n_waiting > 0)
		tell_waiting(training, &plan);
	push_states(training);
	if (plan.resident)
	{
		hopper_scan_packed(training->train, HOPPER_SPLIT_TRAIN, HOPPER_ALL_PARTITIONS, add_to_run,
						   training);
		if (training->valid)
			hopper_scan_packed(training->valid, HOPPER_SPLIT_VALID, HOPPER_ALL_PARTITIONS,
							   add_to_run, training);
	}
	else
	{
		hopper_require_readable(training->train);
		if (training->valid)
			hopper_require_readable(training->valid);
		if (hopper_training_is_whole(training))
			tell_reading_in_turns(training, &plan);
	}
	training->seconds_reading = hopper_seconds_since(then);
}

#define VISITS_AT_ONCE 64

static void
take_visits(hopper_training *training)
{
	hopper_visit visits[VISITS_AT_ONCE];
	int			n;

	while ((n = training->api->next_visits(training->run, visits, VISITS_AT_ONCE)) > 0)
		for (int i = 0; i < n; i++)
			hopper_timeline_add(training->timeline, place_of(training, visits[i].mst_key), 0,
								&visits[i]);
}

/* True once the run has finished. */
static bool
handle_events(hopper_training *training)
{
	hopper_event event;
	int			at;

	take_visits(training);
	while (training->api->next_event(training->run, &event) == 1)
	{
		switch (event.type)
		{
			case HOPPER_EVENT_METRICS:
			case HOPPER_EVENT_MODEL_STOPPED:
				(void) hopper_progress_take(training, place_of(training, event.mst_key), &event);
				break;
			case HOPPER_EVENT_WARNING:
				(void) hopper_progress_take(training, -1, &event);
				break;
			case HOPPER_EVENT_MODEL_FAILED:
				at = place_of(training, event.mst_key);
				(void) hopper_progress_take(training, at, &event);
				if (training->ended)
					training->ended(training, at, true);
				break;
			case HOPPER_EVENT_LOAD:
				load_partition(training, event.split, event.partition);
				break;
			case HOPPER_EVENT_FINISHED:
				take_visits(training);
				return true;
			case HOPPER_EVENT_STATE:
				push_states(training);
				break;
			case HOPPER_EVENT_MODEL_DONE:
				at = place_of(training, event.mst_key);
				/* Its memory is wanted. */
				if (event.take && training->write == NULL)
					training->save(training, &at, 1);
				if (training->ended)
					training->ended(training, at, false);
				break;
			case HOPPER_EVENT_CHECKPOINT:
				at = place_of(training, event.mst_key);
				if (training->halted)
					training->halted(training, at, event.iteration);
				else
					HOPPER_CHECK(training->api->release(training->run, event.mst_key,
														hopper_fault));
				break;
			case HOPPER_EVENT_ITERATION:
				break;
			default:
				elog(ERROR, "unknown event %d of the core", event.type);
		}
	}
	return false;
}

bool
hopper_core_run_drain(hopper_training *training)
{
	bool		finished = handle_events(training);

	if (training->write)
		training->write(training);
	return finished;
}
