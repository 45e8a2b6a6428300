/*
 * open_run.c
 *		A training that configurations enter and leave while it goes on, in this process.
 *
 * A model whose stint has ended rests in the core's memory while that lasts, and in the tables
 * otherwise, until it trains on or the training ends.
 */
#include "pg/catalog/configs.h"
#include "pg/local/local.h"
#include "pg/train/outputs.h"

static void
begin_run(hopper_training *training)
{
	hopper_training_open(training);
	hopper_core_run_create(training);
	if (training->halts_each)
		hopper_training_halt_each(training, true);
}

static void
start_run(hopper_training *training)
{
	hopper_core_run_load(training);
	HOPPER_CHECK(training->api->start(training->run, hopper_fault));
	training->started = true;
}

static int64
bytes_of_models(const hopper_training *training)
{
	hopper_run_info info;

	training->api->get_info(training->run, &info);
	return info.bytes_models;
}

/* Models that rest keep memory, as far as the limit goes. */
static void
take_memory(hopper_training *training, int64 bytes)
{
	bytes = Min(bytes, training->options.memory_limit - training->share_bytes);
	if (bytes <= 0)
		return;
	hopper_take_memory(training->share, bytes);
	training->share_bytes += bytes;
}

static int
enter(hopper_training *training, const hopper_config *config, hopper_history *history)
{
	int64		before = bytes_of_models(training);
	hopper_config weighed = *config;
	int			code;

	weighed.fit_params = hopper_balanced_params(config->fit_params, &training->train->desc);
	code = training->api->add_config(training->run, &weighed, hopper_fault);
	if (code == HOPPER_LIMIT_EXCEEDED)
		return -1;
	HOPPER_CHECK(code);
	take_memory(training, bytes_of_models(training) - before);
	return hopper_training_add(training, config, history);
}

static void
go_on(hopper_training *training, int at, int32 iterations, int32 done, bool restart)
{
	hopper_stint	stint = {training->configs[at].mst_key, iterations, restart ? 1 : 0, done};

	if (restart)
		hopper_history_clear(training->histories[at]);
	for (;;)
	{
		int32		must_take;
		int32		take;
		int			taken;

		HOPPER_CHECK(training->api->go_on(training->run, &stint, &must_take, &take,
										  hopper_fault));
		if (!must_take)
			break;
		/* Its last values may wait, with the news of its end: a durable run writes it then. */
		(void) hopper_core_run_drain(training);
		taken = hopper_training_place(training, take);
		if (!training->saved[taken].written)
			training->save(training, &taken, 1);
	}
	training->saved[at].written = false;
}

#define PIECE_BYTES (1024 * 1024)

static void
drop_state(hopper_training *training, int at)
{
	uint8_t    *bytes;
	size_t		n;

	hopper_training_look(training, at);
	if (training->results[at].status != HOPPER_MODEL_DONE)
		return;
	bytes = palloc(PIECE_BYTES);
	do
	{
		HOPPER_CHECK(training->api->take_state(training->run, training->configs[at].mst_key, bytes,
											   PIECE_BYTES, &n, hopper_fault));
		CHECK_FOR_INTERRUPTS();
	} while (n > 0);
	pfree(bytes);
}

static void
wait_for_step(const hopper_training *training, long timeout)
{
	hopper_wait(training->event_fd, timeout);
}

static bool
step(hopper_training *training, long timeout)
{
	bool		finished = true;

	hopper_wait(training->event_fd, timeout);
	for (; training; training = training->beside)
	{
		training->finished = training->finished || hopper_core_run_drain(training);
		finished = finished && training->finished;
	}
	return finished;
}

static void
close_training(hopper_training *training)
{
	HOPPER_CHECK(training->api->close(training->run, hopper_fault));
}

static void
end_iterations(hopper_training *training)
{
	HOPPER_CHECK(training->api->end_iterations(training->run, hopper_fault));
}

/* --- of a durable run --- */

static void
halt(hopper_training *training, bool all)
{
	HOPPER_CHECK(training->api->halt_for_checkpoints(training->run, all, hopper_fault));
}

static bool
store(hopper_training *training, const int *which, int n)
{
	return false;
}

static void
set_iterations(hopper_training *training, int at, int32 more)
{
	HOPPER_CHECK(training->api->set_iterations(training->run, training->configs[at].mst_key, more,
											   hopper_fault));
}

static void
release(hopper_training *training, int at)
{
	HOPPER_CHECK(training->api->release(training->run, training->configs[at].mst_key,
										hopper_fault));
}

/* Its threads train between two transactions. */
static void
leave(hopper_training *training)
{
}

const struct hopper_training_backend hopper_training_here = {
	.needs = hopper_core_run_needs,
	.begin = begin_run,
	.start = start_run,
	.enter = enter,
	.go_on = go_on,
	.drop_state = drop_state,
	.wait = wait_for_step,
	.step = step,
	.close = close_training,
	.end_iterations = end_iterations,
	.halt = halt,
	.store = store,
	.set_iterations = set_iterations,
	.release = release,
	.leave = leave,
};
