/*
 * timeline.c
 *		Collecting the visits of a run, and what they sum up to.
 */
#include "pg/train/timeline.h"

#include "pg/train/run.h"

#define MAX_ROWS 50000
#define OPEN_ROWS 4				/* by kind and split */

/* Visits that the run makes at most, with so many partitions of training and validation data. */
static double
count_visits(const hopper_training *training, double partitions, double valid)
{
	const hopper_run_options *options = &training->options;
	int64		evaluations[2];

	for (int split = 0; split < lengthof(evaluations); split++)
		HOPPER_CORE(evaluations, options, split, &evaluations[split]);
	return training->n_configs *
		(((double) options->num_iterations + evaluations[HOPPER_SPLIT_TRAIN]) * partitions +
		 evaluations[HOPPER_SPLIT_VALID] * valid);
}

hopper_timeline *
hopper_timeline_new(const hopper_training *training)
{
	hopper_timeline *timeline = palloc0(sizeof(hopper_timeline));

	timeline->context = CurrentMemoryContext;
	timeline->n_configs = training->n_configs;
	timeline->open = palloc(training->n_configs * OPEN_ROWS * sizeof(int));
	for (int i = 0; i < training->n_configs * OPEN_ROWS; i++)
		timeline->open[i] = -1;
	/* How many there will be is not known: they are summed up by and by. */
	if (!hopper_training_is_whole(training))
		timeline->level = HOPPER_TIMELINE_ITERATIONS;
	else if (count_visits(training, training->train->desc.n_partitions,
					 training->valid ? training->valid->desc.n_partitions : 0) <= MAX_ROWS)
		timeline->level = HOPPER_TIMELINE_VISITS;
	else if (count_visits(training, 1, training->valid ? 1 : 0) <= MAX_ROWS)
		timeline->level = HOPPER_TIMELINE_ITERATIONS;
	else
		timeline->level = HOPPER_TIMELINE_MODELS;
	return timeline;
}

void
hopper_timeline_grow(hopper_timeline *timeline, int n_configs)
{
	timeline->open = repalloc_huge(timeline->open,
								   (Size) n_configs * OPEN_ROWS * sizeof(int));
	for (int i = timeline->n_configs * OPEN_ROWS; i < n_configs * OPEN_ROWS; i++)
		timeline->open[i] = -1;
	timeline->n_configs = n_configs;
}

static hopper_timeline_row *
new_row(hopper_timeline *timeline)
{
	MemoryContext old = MemoryContextSwitchTo(timeline->context);

	hopper_grow(timeline->rows, timeline->n + 1, timeline->allocated);
	MemoryContextSwitchTo(old);
	return &timeline->rows[timeline->n++];
}

void
hopper_timeline_add(hopper_timeline *timeline, int config, int32 segment,
					const hopper_visit *visit)
{
	int		   *open = &timeline->open[config * OPEN_ROWS +
									   2 * (visit->kind == HOPPER_VISIT_EVALUATE) +
									   (visit->split == HOPPER_SPLIT_VALID)];
	hopper_timeline_row *row;

	if (timeline->n >= MAX_ROWS)
		timeline->level = HOPPER_TIMELINE_MODELS;
	if (timeline->level == HOPPER_TIMELINE_VISITS || *open < 0 ||
		(timeline->level == HOPPER_TIMELINE_ITERATIONS &&
		 timeline->rows[*open].visit.iteration != visit->iteration))
	{
		row = new_row(timeline);
		row->visit = *visit;
		row->segment = segment;
		row->n_visits = 1;
		*open = timeline->n - 1;
		return;
	}
	row = &timeline->rows[*open];
	row->n_visits++;
	row->visit.n_partitions += visit->n_partitions;
	row->visit.read += visit->read;
	row->visit.wait += visit->wait;
	row->visit.hopping += visit->hopping;
	row->visit.train += visit->train;
	row->visit.evaluate += visit->evaluate;
	row->visit.bytes_written += visit->bytes_written;
	if (row->segment != segment)
		row->segment = -1;
	if (row->visit.worker != visit->worker)
		row->visit.worker = -1;
}

hopper_shares
hopper_timeline_shares(const hopper_training *training)
{
	const hopper_run_info *info = &training->info;
	double		available = info->seconds_wall * Max(info->n_workers, 1);
	hopper_shares shares = {0};

	if (available <= 0)
		return shares;
	shares.hop = Min(info->seconds_hop / available, 1);
	shares.idle = Max(1 - (info->seconds_busy + info->seconds_hop) / available, 0);
	return shares;
}
