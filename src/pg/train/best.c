/*
 * best.c
 *		The best model of a training that has just ended, from what it knows itself: what the first
 *		of the leaderboard would be (leaderboard.c, which has the rule), without a query.
 */
#include "pg/train/outputs.h"
#include "pg/train/standing.h"

/* What a model is compared by: the first of them that differ decide, and then the key. */
typedef struct measured
{
	int			at;
	hopper_maybe metric[2];		/* by split, at what it delivers */
	hopper_maybe loss[2];
} measured;

static measured
measure(const hopper_training *training, int at, int metric)
{
	const hopper_history *history = training->histories[at];
	measured	model = {.at = at};

	for (int split = 0; split < 2; split++)
	{
		const hopper_point *point = hopper_delivered_point(training, at, split);

		model.loss[split] = hopper_history_value(history, point, split, -1);
		model.metric[split] = hopper_history_value(history, point, split, metric);
	}
	return model;
}

/* As the server sorts them: NaN after all numbers, and NULL after NaN. */
static int
compare(hopper_maybe x, hopper_maybe y, int sign)
{
	if (x.known != y.known)
		return x.known ? -1 : 1;
	if (!x.known || (isnan(x.value) && isnan(y.value)))
		return 0;
	if (isnan(x.value) != isnan(y.value))
		return isnan(x.value) ? 1 : -1;
	return x.value == y.value ? 0 : (x.value < y.value) == (sign > 0) ? -1 : 1;
}

static bool
is_better(const measured *x, const measured *y, int split, hopper_direction direction)
{
	const hopper_maybe none = {false, 0};
	int			order = compare(x->metric[split], y->metric[split], -direction);

	if (order == 0)
		order = compare(x->loss[split], y->loss[split], 1);
	/* Of who has no validation value. */
	if (order == 0)
		order = compare(x->metric[1].known ? none : x->metric[0],
						y->metric[1].known ? none : y->metric[0], -direction);
	return order < 0;
}

/* The models that have not failed, in the order of their keys; how many. */
static int
rank(const hopper_training *training, const char *rank_by, int *which, hopper_ranking *ranking)
{
	hopper_ranked_config *ranked = palloc0(Max(training->n_configs, 1) * sizeof(*ranked));
	int			n = 0;

	for (int at = 0; at < training->n_configs; at++)
	{
		const hopper_model_result *result = &training->results[at];
		const char **metrics;

		CHECK_FOR_INTERRUPTS();
		if (result->status == HOPPER_MODEL_FAILED)
			continue;
		metrics = palloc(Max(result->n_metrics, 1) * sizeof(char *));
		for (int i = 0; i < result->n_metrics; i++)
			metrics[i] = result->metrics_type[i];
		ranked[n].compile_params = training->configs[at].compile_params;
		ranked[n].n_metrics = result->n_metrics;
		ranked[n].metrics = metrics;
		which[n++] = at;
	}
	hopper_rank_configs(n, ranked, NULL, rank_by, rank_by == NULL, ranking);
	pfree(ranked);
	return n;
}

hopper_best
hopper_training_best(const hopper_training *training, const char *rank_by)
{
	int		   *which = palloc(Max(training->n_configs, 1) * sizeof(int));
	measured   *models = palloc(Max(training->n_configs, 1) * sizeof(measured));
	hopper_best best = {0};
	hopper_ranking ranking;
	int			n = rank(training, rank_by, which, &ranking);
	int			first = 0;
	int			split = HOPPER_SPLIT_TRAIN;

	if (ranking.n_groups != 1)
		return best;
	for (int i = 0; i < n; i++)
	{
		models[i] = measure(training, which[i], ranking.ranks[i].metric);
		if (models[i].metric[HOPPER_SPLIT_VALID].known)
			split = HOPPER_SPLIT_VALID;
	}
	for (int i = 1; i < n; i++)
		if (is_better(&models[i], &models[first], split, ranking.ranks[i].direction))
			first = i;
	split = models[first].metric[HOPPER_SPLIT_VALID].known ? HOPPER_SPLIT_VALID
		: HOPPER_SPLIT_TRAIN;
	best.mst_key = training->configs[which[first]].mst_key;
	best.metric = psprintf("%s %s", hopper_split_names[split], ranking.ranks[first].name);
	best.value = models[first].metric[split].value;
	return best;
}
