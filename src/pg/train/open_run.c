/*
 * open_run.c
 *		The books of a training that configurations enter and leave while it goes on, whether this
 *		process trains them (local/open_run.c) or segments do (greenplum/coordinator/open_run.c).
 */
#include "pg/train/run.h"

/* Keys are small: they are a search's. */
static void
set_place(hopper_training *training, int32 mst_key, int at)
{
	if (mst_key < 0)
		elog(ERROR, "configuration %d cannot enter a run", mst_key);
	hopper_grow(training->places, mst_key + 1, training->n_places);
	training->places[mst_key] = at + 1;
}

void
hopper_training_open(hopper_training *training)
{
	int			n = training->n_configs;
	hopper_config *configs = palloc(n * sizeof(hopper_config));
	hopper_history **histories = palloc(n * sizeof(hopper_history *));

	memcpy(configs, training->configs, n * sizeof(hopper_config));
	memcpy(histories, training->histories, n * sizeof(hopper_history *));
	training->configs = configs;
	training->histories = histories;
	/* Where none enters, keys are the user's, of any size. */
	for (int i = 0; i < n && training->enters; i++)
		set_place(training, configs[i].mst_key, i);
}

static void
grow(hopper_training *training)
{
	Size		n = Max(64, 2 * (Size) training->allocated);

	training->configs = repalloc_huge((void *) training->configs, n * sizeof(hopper_config));
	training->histories = repalloc_huge(training->histories, n * sizeof(hopper_history *));
	training->results = repalloc_huge(training->results, n * sizeof(hopper_model_result));
	training->failed = repalloc_huge(training->failed, n * sizeof(bool));
	training->stopped = repalloc_huge(training->stopped, n * sizeof(bool));
	training->saved = repalloc_huge(training->saved, n * sizeof(hopper_saved));
	training->allocated = (int) n;
	hopper_timeline_grow(training->timeline, training->allocated);
}

int
hopper_training_add(hopper_training *training, const hopper_config *config,
					hopper_history *history)
{
	int			at = training->n_configs;

	if (at == training->allocated)
		grow(training);
	((hopper_config *) training->configs)[at] = *config;
	training->histories[at] = history;
	memset(&training->results[at], 0, sizeof(hopper_model_result));
	training->failed[at] = training->stopped[at] = false;
	memset(&training->saved[at], 0, sizeof(hopper_saved));
	training->n_configs++;
	set_place(training, config->mst_key, at);
	return at;
}

void
hopper_training_order_metrics(hopper_training *training, int at)
{
	const hopper_model_result *result = &training->results[at];
	hopper_history *history = training->histories[at];
	const char *names[HOPPER_MAX_METRICS];

	/* What a segment trains is known once it has told of it. */
	if (history->metrics_earlier == NULL || result->loss_type[0] == '\0')
		return;
	for (int i = 0; i < result->n_metrics; i++)
		names[i] = hopper_from_utf8(result->metrics_type[i]);
	hopper_history_align(history, result->n_metrics, names);
	history->last_earlier = 0;
	history->n_metrics_earlier = 0;
	history->metrics_earlier = NULL;
}
