/*
 * forecast.c
 *		What reading, hop statements and motions cost on segments, and the threads of each.
 */
#include "pg/forecast/explain.h"
#include "pg/greenplum/segments.h"

#define READ_BYTES_PER_SECOND 500e6
/* A hop statement (bench/segments.py). */
#define STATEMENT_SECONDS 0.01
#define HOP_BYTES_PER_SECOND 100e6

static int
threads_of_a_segment(const hopper_forecast_request *request, const int32 *keys)
{
	int			n_segments = 0;

	if (request->threads_per_segment > 0)
		return request->threads_per_segment;
	if (request->workers == 0)
		return Max(request->options.threads / hopper_segments_on_a_host(), 1);
	for (int i = 0; i < request->train.desc.n_partitions; i++)
	{
		bool		known = false;

		for (int j = 0; j < i && !known; j++)
			known = keys[i] == keys[j];
		n_segments += !known;
	}
	return Max(request->workers / Max(n_segments, 1), 1) *
		Max(request->options.threads_per_model, 1);
}

hopper_explain_costs
hopper_forecast_costs(const hopper_forecast_request *request, const int32 *train_keys)
{
	hopper_explain_costs costs = {0};

	costs.read_bytes_per_second = READ_BYTES_PER_SECOND;
	costs.statement = STATEMENT_SECONDS;
	costs.hop_bytes_per_second = HOP_BYTES_PER_SECOND;
	costs.threads_per_segment = threads_of_a_segment(request, train_keys);
	return costs;
}
