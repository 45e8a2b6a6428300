/*
 * forecast.c
 *		What reading, hop statements and motions cost on segments, and the threads of each.
 */
#include "pg/forecast/explain.h"
#include "pg/greenplum/segments.h"
#include "pg/server/ceilings.h"

#define READ_BYTES_PER_SECOND 500e6
/* A hop statement (bench/segments.py). */
#define STATEMENT_SECONDS 0.01
#define HOP_BYTES_PER_SECOND 100e6

/* `asked`: threads that a run would ask a segment for */
static int
threads_of_a_segment(const hopper_forecast_request *request, const int32 *keys, int asked,
					 int segments_on_host)
{
	int			n_segments;

	if (request->measured.n_workers == 0)
		return hopper_segment_threads(asked, segments_on_host);
	n_segments = hopper_count_keys(keys, request->train.desc.n_partitions);
	return Max(request->measured.n_workers / Max(n_segments, 1), 1) *
		Max(request->options.threads_per_model, 1);
}

hopper_explain_costs
hopper_forecast_costs(hopper_forecast_request *request, const int32 *train_keys)
{
	hopper_explain_costs costs = {0};
	int			segments_on_host = hopper_segments_on_a_host();
	hopper_run_options asked = request->options;

	hopper_ask_of_segments(&asked, request->threads_given);
	request->options.memory_limit = hopper_segment_memory(asked.memory_limit, segments_on_host);
	costs.read_bytes_per_second = READ_BYTES_PER_SECOND;
	costs.statement = STATEMENT_SECONDS;
	costs.hop_bytes_per_second = HOP_BYTES_PER_SECOND;
	if (hopper_is_copied(&request->train, request->has_validation ? &request->valid : NULL,
						 train_keys))
		costs.patience = HOPPER_HOP_MILLISECONDS / 1000.0;
	costs.threads_per_segment = threads_of_a_segment(request, train_keys, asked.threads,
													 segments_on_host);
	return costs;
}
