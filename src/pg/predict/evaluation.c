/*
 * evaluation.c
 *		An evaluation of the core that is given packed buffers.
 */
#include "pg/predict/evaluate.h"

static int
push_piece_of_evaluated(void *evaluation, int64 first, const float *values, int64 n,
						hopper_error *error)
{
	return hopper_torch()->evaluation.add_weights(evaluation, values, n, error);
}

void
hopper_evaluation_open(hopper_evaluating *run, const hopper_config *config,
					   const hopper_floats *weights, const hopper_data_desc *desc, int threads,
					   long longest_wait)
{
	run->event_fd = hopper_eventfd_open();
	run->longest_wait = longest_wait;
	run->partition = -1;
	HOPPER_TORCH(evaluation.create, config, desc, threads, run->event_fd, &run->evaluation);
	run->guard = hopper_guard_add(run->evaluation, hopper_torch()->evaluation.free);
	if (weights)
		hopper_floats_pass(weights, push_piece_of_evaluated, run->evaluation);
}

void
hopper_evaluation_wait(const hopper_evaluating *run, int32 partition)
{
	int			room;

	while ((room = hopper_torch()->evaluation.room(run->evaluation, partition, hopper_fault)) == 0)
		hopper_wait(run->event_fd, run->longest_wait);
	if (room < 0)
		hopper_throw(hopper_fault);
}

void
hopper_evaluation_add(hopper_evaluating *run, const hopper_buffer *buffer)
{
	if (buffer->partition_id != run->partition)
		hopper_evaluation_wait(run, buffer->partition_id);
	run->partition = buffer->partition_id;
	HOPPER_TORCH(evaluation.add_buffer, run->evaluation, buffer);
	CHECK_FOR_INTERRUPTS();
}

void
hopper_evaluation_close(hopper_evaluating *run)
{
	hopper_guard_release(run->guard);
	hopper_eventfd_close(run->event_fd);
}
