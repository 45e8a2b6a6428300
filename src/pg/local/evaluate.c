/*
 * evaluate.c
 *		Evaluation where all data are in one place: the main thread reads, the core's threads
 *		compute.
 */
#include "pg/predict/evaluate.h"
#include "pg/local/local.h"

#include "pg/server/ceilings.h"

static void
add_to_evaluation(const hopper_buffer *buffer, void *run)
{
	hopper_evaluation_add((hopper_evaluating *) run, buffer);
}

void
hopper_evaluate_data(const hopper_trained *model, const hopper_packed *data, hopper_event *event,
					 const hopper_name *confusion)
{
	hopper_share *share = hopper_share_new();
	int			threads = hopper_take_threads(share, hopper_effective_threads(), 1);
	int64		limit = hopper_effective_memory_limit();
	hopper_evaluating run;
	int			done;

	/* Data above the limit are evaluated in turns. */
	hopper_take_memory(share, Min(limit, data->packed_bytes +
								  model->config.n_weights * (int64) sizeof(float)));
	hopper_evaluation_open(&run, &model->config, &model->weights, &data->desc, threads, -1);
	HOPPER_CHECK(run.api->limit(run.evaluation, limit, hopper_fault));
	HOPPER_CHECK(run.api->start(run.evaluation, hopper_fault));
	hopper_scan_packed(data, HOPPER_SPLIT_VALID, HOPPER_ALL_PARTITIONS, add_to_evaluation, &run);
	hopper_evaluation_wait(&run, data->desc.n_partitions);
	while ((done = run.api->poll(run.evaluation, event, hopper_fault)) == 0)
		hopper_wait(run.event_fd, -1);
	if (done < 0)
		hopper_throw(hopper_fault);
	if (confusion)
	{
		const int64_t *counts;
		int32_t		n;

		HOPPER_CHECK(run.api->confusion(run.evaluation, &counts, &n, hopper_fault));
		hopper_write_confusion(confusion, model, counts, n);
	}
	hopper_evaluation_close(&run);
	hopper_share_release(share);
}
