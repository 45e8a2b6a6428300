/*
 * standing.c
 *		What a trial has reached so far.
 */
#include "pg/train/standing.h"

#include "utils/json.h"

const char *const hopper_split_names[2] = {"training", "validation"};

/* Where a configuration's histories have this metric; -1: the loss, -2: nowhere. */
static int
metric_place(const hopper_model_result *result, const char *name)
{
	if (strcmp(name, "loss") == 0)
		return -1;
	for (int metric = 0; metric < result->n_metrics; metric++)
		if (strcmp(hopper_from_utf8(result->metrics_type[metric]), name) == 0)
			return metric;
	return -2;
}

/* JSON has numbers that are finite only. */
static const char *
json_number(double value)
{
	return isfinite(value) ? psprintf("%.17g", value)
		: isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

static const char *
latest_values(const hopper_history *history, const hopper_model_result *result)
{
	StringInfo	json = makeStringInfo();

	for (int split = 0; split < 2; split++)
		for (int metric = -1; metric < result->n_metrics; metric++)
		{
			const hopper_point *point = NULL;

			for (int i = history->n - 1; i >= 0 && point == NULL; i--)
				if (hopper_point_has(hopper_history_at(history, i), split, metric))
					point = hopper_history_at(history, i);
			if (point == NULL)
				continue;
			appendStringInfoString(json, json->len == 0 ? "[[" : ", [");
			escape_json(json, psprintf("%s %s", hopper_split_names[split], metric < 0 ? "loss"
										: hopper_from_utf8(result->metrics_type[metric])));
			appendStringInfo(json, ", %d, %s]", point->iteration,
							 json_number(hopper_point_value(history, point, split, metric)));
		}
	return json->len == 0 ? NULL : psprintf("%s]", json->data);
}

static void
find_value(const hopper_training *training, int at, hopper_standing *standing)
{
	const hopper_model_result *result = &training->results[at];
	const hopper_history *history = training->histories[at];
	const hopper_point *point = hopper_history_find(history, result->kept_iteration);
	int			split = training->valid ? 1 : 0;
	int			metric = metric_place(result, training->rank_by);

	if (point == NULL)
		point = hopper_history_last(history, split);
	standing->has_value = point && metric >= -1 && hopper_point_has(point, split, metric);
	if (standing->has_value)
		standing->value = hopper_point_value(history, point, split, metric);
}

void
hopper_standing_of(const hopper_training *training, int at, hopper_standing *standing)
{
	const hopper_model_result *result;
	const hopper_history *history;

	memset(standing, 0, sizeof(*standing));
	if (training->results == NULL || training->histories[at]->n == 0)
		return;
	history = training->histories[at];
	result = &training->results[at];
	if (training->rank_by)
		find_value(training, at, standing);
	standing->latest = latest_values(history, result);
	standing->begun = true;
	standing->elapsed = hopper_history_at(history, history->n - 1)->elapsed;
	/* Its first values stand at the end of an iteration. */
	standing->began = Max(hopper_history_at(history, 0)->elapsed -
						  (result->seconds_training + result->seconds_evaluating) /
						  Max(result->iterations, 1), 0);
}
