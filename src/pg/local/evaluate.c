/*
 * evaluate.c
 *		Evaluation where all data are in one place: the main thread reads, the core's threads
 *		compute.
 */
#include "pg/predict/evaluate.h"

#include "pg/server/ceilings.h"
#include "pg/predict/confusion.h"

typedef struct evaluating
{
	hopper_evaluation *evaluation;
	int			event_fd;
	int32		partition;		/* that the last buffer was of; -1: none came */
} evaluating;

static void
free_evaluation(void *evaluation)
{
	hopper_torch()->evaluation.free((hopper_evaluation *) evaluation);
}

/* The threads drop what they have evaluated. */
static void
wait_for_room(const evaluating *run, int32 partition)
{
	hopper_error error;
	int			room;

	while ((room = hopper_torch()->evaluation.room(run->evaluation, partition, &error)) == 0)
		hopper_wait(run->event_fd, -1);
	if (room < 0)
		hopper_throw(&error);
}

static void
add_buffer(const hopper_buffer *buffer, void *state)
{
	evaluating *run = state;
	hopper_error error;

	if (buffer->partition_id != run->partition)
		wait_for_room(run, buffer->partition_id);
	run->partition = buffer->partition_id;
	HOPPER_CHECK(hopper_torch()->evaluation.add_buffer(run->evaluation, buffer, &error), error);
	CHECK_FOR_INTERRUPTS();
}

void
hopper_evaluate_data(const hopper_trained *model, const hopper_packed *data, hopper_event *event,
					 const hopper_name *confusion)
{
	const hopper_torch_api *torch = hopper_torch();
	hopper_share *share = hopper_share_new();
	int			threads = hopper_take_threads(share, hopper_effective_threads(), 1);
	int64		limit = hopper_effective_memory_limit();
	int			event_fd = hopper_eventfd_open();
	evaluating	run = {.event_fd = event_fd, .partition = -1};
	hopper_guard *guard;
	hopper_error error;
	int			done;

	/* Data above the limit are evaluated in turns. */
	hopper_take_memory(share, Min(limit, data->packed_bytes +
								  model->config.n_weights * (int64) sizeof(float)));
	HOPPER_CHECK(torch->evaluation.create(&model->config, &data->desc, threads, event_fd,
										  &run.evaluation, &error), error);
	guard = hopper_guard_add(run.evaluation, free_evaluation);
	HOPPER_CHECK(torch->evaluation.limit(run.evaluation, limit, &error), error);
	HOPPER_CHECK(torch->evaluation.start(run.evaluation, &error), error);
	hopper_scan_packed(data, HOPPER_SPLIT_VALID, add_buffer, &run);
	wait_for_room(&run, data->desc.n_partitions);
	while ((done = torch->evaluation.poll(run.evaluation, event, &error)) == 0)
		hopper_wait(event_fd, -1);
	if (done < 0)
		hopper_throw(&error);
	if (confusion)
	{
		const int64_t *counts;
		int32_t		n;

		HOPPER_CHECK(torch->evaluation.confusion(run.evaluation, &counts, &n, &error), error);
		hopper_write_confusion(confusion, model, counts, n);
	}
	hopper_guard_release(guard);
	hopper_eventfd_close(event_fd);
	hopper_share_release(share);
}
