/*
 * best.c
 *		The best model of a training that has just ended, from what it knows itself: what the first
 *		of the leaderboard would be (leaderboard.c), without a query.
 */
#include "pg/train/outputs.h"
#include "pg/train/standing.h"

/* Of a model, at what it delivers; `metric`: its place in the model's history. */
static hopper_measured
measure(const hopper_training *training, int at, int metric)
{
	const hopper_history *history = training->histories[at];
	hopper_measured model;

	for (int split = 0; split < 2; split++)
	{
		const hopper_point *point = hopper_delivered_point(&training->results[at], history, split);
		hopper_maybe loss = hopper_history_value(history, point, split, -1);
		hopper_maybe found = hopper_history_value(history, point, split, metric);

		model.knows_loss[split] = loss.known;
		model.loss[split] = loss.value;
		model.knows_metric[split] = found.known;
		model.metric[split] = found.value;
	}
	return model;
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
	hopper_measured *models;
	hopper_best best = {0};
	hopper_ranking ranking;
	int			n = rank(training, rank_by, which, &ranking);
	int32_t		first;
	int			split;

	if (ranking.n_groups != 1)
		return best;
	models = palloc(n * sizeof(hopper_measured));
	for (int i = 0; i < n; i++)
		models[i] = measure(training, which[i], ranking.ranks[i].metric);
	HOPPER_CORE(best_model, n, models, ranking.ranks[0].direction, &first);
	split = models[first].knows_metric[HOPPER_SPLIT_VALID] ? HOPPER_SPLIT_VALID
		: HOPPER_SPLIT_TRAIN;
	best.mst_key = training->configs[which[first]].mst_key;
	best.metric = psprintf("%s %s", hopper_split_names[split], ranking.ranks[first].name);
	best.value = models[first].metric[split];
	return best;
}
