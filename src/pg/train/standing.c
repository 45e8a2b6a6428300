/*
 * standing.c
 *		What a trial has reached so far.
 */
#include "pg/train/standing.h"

#include "utils/json.h"

const char *const hopper_split_names[2] = {"training", "validation"};

const char *
hopper_status_words(const hopper_model_result *result)
{
	return result->status == HOPPER_MODEL_FAILED ? "failed"
		: result->status == HOPPER_MODEL_TRAINING ? "training"
		: result->stopped ? "stopped" : "done";
}

int
hopper_metric_place(const hopper_training *training, int at, const char *name)
{
	const hopper_model_result *result = &training->results[at];

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
			hopper_maybe found = {false, 0};
			int			i = history->n;

			while (i > 0 && !found.known)
				found = hopper_history_value(history, hopper_history_at(history, --i), split,
											 metric);
			if (!found.known)
				continue;
			appendStringInfoString(json, json->len == 0 ? "[[" : ", [");
			escape_json(json, psprintf("%s %s", hopper_split_names[split], metric < 0 ? "loss"
										: hopper_from_utf8(result->metrics_type[metric])));
			appendStringInfo(json, ", %d, %s]", hopper_history_at(history, i)->iteration,
							 json_number(found.value));
		}
	return json->len == 0 ? NULL : psprintf("%s]", json->data);
}

const hopper_point *
hopper_delivered_point(const hopper_model_result *result, const hopper_history *history, int split)
{
	const hopper_point *kept = history->n > 0 ? hopper_history_at(history, history->n - 1) : NULL;

	/* The best iteration's weights, with what they reached. */
	if (result->kept_iteration != result->iterations)
		kept = hopper_history_find(history, result->kept_iteration);
	/* What an earlier run validated is not what these weights would reach. */
	return kept && kept->known[split] ? kept : NULL;
}

static hopper_maybe
value_of(const hopper_training *training, int at)
{
	const hopper_history *history = training->histories[at];
	const hopper_point *point = hopper_history_find(history,
													training->results[at].kept_iteration);
	int			split = training->valid ? HOPPER_SPLIT_VALID : HOPPER_SPLIT_TRAIN;

	return hopper_history_value(history, point ? point : hopper_history_last(history, split), split,
								hopper_metric_place(training, at, training->rank_by));
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
		standing->value = value_of(training, at);
	standing->latest = latest_values(history, result);
	standing->begun = true;
	standing->elapsed = hopper_history_at(history, history->n - 1)->elapsed;
	/* Its first values stand at the end of an iteration. */
	standing->began = Max(hopper_history_at(history, 0)->elapsed -
						  (result->seconds_training + result->seconds_evaluating) /
						  Max(result->iterations, 1), 0);
}
