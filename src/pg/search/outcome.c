/*
 * outcome.c
 *		What came of a trial: from its training to the search.
 */
#include "pg/search/automl.h"

#include "pg/train/standing.h"

/* Of which there are values on the training and on the validation data. */
static bool
is_of_data(const hopper_searched *searched)
{
	return searched->measure == HOPPER_MEASURE_METRIC || searched->measure == HOPPER_MEASURE_LOSS;
}

const hopper_searched *
hopper_search_ranking(const hopper_automl *run)
{
	static const hopper_searched loss = {"loss", HOPPER_MEASURE_LOSS, false};

	for (int i = 0; i < run->n_objectives; i++)
		if (is_of_data(&run->measures[i]))
			return &run->measures[i];
	return &loss;
}

const char *
hopper_search_objective(const hopper_automl *run)
{
	if (!is_of_data(&run->measures[0]))
		return run->measures[0].name;
	return psprintf("%s %s", run->validation ? "validation" : "training", run->measures[0].name);
}

const char *
hopper_search_objective_words(const hopper_automl *run, double value)
{
	return psprintf(run->measures[0].measure == HOPPER_MEASURE_PARAMETERS ? "%s %.0f" : "%s %.4f",
					hopper_search_objective(run), value);
}

/* A metric or the loss on a split at a point, or where a loss is not known there, as delivered. */
static hopper_maybe
value_on(const hopper_training *training, int at, int split, const hopper_searched *searched,
		 const hopper_point *point)
{
	const hopper_history *history = training->histories[at];
	int			metric = hopper_metric_place(training, at, searched->name);

	if (searched->measure == HOPPER_MEASURE_LOSS && (point == NULL || !point->known[split]))
		point = hopper_delivered_point(&training->results[at], history, split);
	return hopper_history_value(history, point, split, metric);
}

/* `points`: by split. */
static hopper_maybe
value_of(const hopper_automl *run, const hopper_searched *searched,
		 const hopper_training *training, int at, const hopper_point *const *points)
{
	int			split = run->validation ? HOPPER_SPLIT_VALID : HOPPER_SPLIT_TRAIN;

	if (searched->measure == HOPPER_MEASURE_PARAMETERS)
		return (hopper_maybe) {true, training->results[at].n_parameters};
	if (searched->measure == HOPPER_MEASURE_GAP)
	{
		const hopper_searched *of = hopper_search_ranking(run);
		hopper_maybe train = value_on(training, at, HOPPER_SPLIT_TRAIN, of, points[0]);
		hopper_maybe valid = value_on(training, at, HOPPER_SPLIT_VALID, of, points[1]);
		double		gap = train.value - valid.value;

		return (hopper_maybe) {train.known && valid.known, of->ascends ? gap : -gap};
	}
	return value_on(training, at, split, searched, points[split]);
}

/*
 * Fills in the measures of a trial, of the weights that it delivers and after its last iteration;
 * what is missing, or NULL.
 */
static const char *
read_measures(const hopper_automl *run, const hopper_training *training, int at, double *values,
			  double *last)
{
	const hopper_model_result *result = &training->results[at];
	const hopper_history *history = training->histories[at];
	const hopper_point *newest = history->n > 0 ? hopper_history_at(history, history->n - 1) : NULL;
	const hopper_point *points[2][2] = {
		{hopper_delivered_point(result, history, 0), hopper_delivered_point(result, history, 1)},
		{newest, newest},
	};

	for (int i = 0; i < run->n_measures; i++)
	{
		const hopper_searched *searched = &run->measures[i];
		hopper_maybe delivered = value_of(run, searched, training, at, points[0]);
		hopper_maybe after = value_of(run, searched, training, at, points[1]);

		if (!delivered.known)
			return psprintf("it has no %s", searched->name);
		values[i] = delivered.value;
		last[i] = after.known ? after.value : delivered.value;
	}
	return NULL;
}

static void
tell_rungs(hopper_automl *run)
{
	hopper_search_rung rung;

	while (hopper_core()->search.next_rung(run->search, &rung))
	{
		run->has_rungs = true;
		if (run->replays)
			continue;
		ereport(NOTICE,
				errmsg("automl \"%s\": s=%d, i=%d: %s%s trained for %s%s%s, %s elapsed",
					   run->tables.final_output.shown, rung.s, rung.i,
					   hopper_plural(rung.configs, "configuration", "configurations"),
					   rung.failed > 0 ? psprintf(" (" INT64_FORMAT " failed)", rung.failed) : "",
					   hopper_plural(rung.iterations, "iteration", "iterations"),
					   rung.going_on > 0 ? psprintf(", " INT64_FORMAT " %s on", rung.going_on,
													rung.going_on == 1 ? "goes" : "go") : "",
					   rung.best >= 0
					   ? psprintf(", best configuration %d %s", hopper_key_of_trial(rung.best),
								  hopper_search_objective_words(run, rung.value)) : "",
					   hopper_duration_words(hopper_seconds_since(run->started))));
	}
}

int64
hopper_search_best(const hopper_automl *run)
{
	int64_t		best;

	HOPPER_CORE(search.best, run->search, &best);
	return best;
}

void
hopper_search_tell_result(hopper_automl *run, int64 trial, const hopper_search_told *told)
{
	HOPPER_CORE(search.tell, run->search, trial, told);
	run->trials[trial].trained = (int32) told->iterations;
	tell_rungs(run);
}

void
hopper_search_tell(hopper_automl *run, const hopper_training *training, int at)
{
	double	   *values = palloc(2 * Max(run->n_measures, 1) * sizeof(double));
	double	   *last = values + run->n_measures;
	const hopper_model_result *result = &training->results[at];
	int64		trial = hopper_trial_of_key(training->configs[at].mst_key);
	hopper_search_told told = {values, last, run->n_measures, result->iterations, NULL};
	const char *missing;

	if (result->status == HOPPER_MODEL_FAILED)
		told.failure = result->error;
	else if ((missing = read_measures(run, training, at, values, last)) != NULL)
		told.failure = hopper_to_utf8(missing);
	if (run->number != 0)
		hopper_search_note(run, trial, &told, hopper_from_utf8(told.failure), NULL);
	hopper_search_tell_result(run, trial, &told);
	pfree(values);
}

int
hopper_search_refuse(hopper_automl *run, hopper_search_assignment *work, int n)
{
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		const char *impossible = run->trials[work[i].trial].impossible;
		hopper_search_told told = {.failure = hopper_to_utf8(impossible)};

		/* That follows from the configuration: no journal needs it. */
		if (impossible)
			hopper_search_tell_result(run, work[i].trial, &told);
		else
			work[left++] = work[i];
	}
	return left;
}
