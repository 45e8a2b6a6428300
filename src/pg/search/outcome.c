/*
 * outcome.c
 *		What came of a trial: from the tables of models to the search.
 */
#include "pg/search/automl.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "pg/server/words.h"

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

/* A metric at the last iteration at which it was taken, or the loss, as SQL. */
static const char *
value_on(const char *side, const hopper_searched *searched)
{
	if (searched->measure == HOPPER_MEASURE_LOSS)
		return psprintf("%s_loss_final::float8", side);
	return psprintf("(SELECT %s_metrics_all[m][array_upper(metrics_iters, 1)]::float8"
					" FROM generate_subscripts(metrics_type, 1) AS m"
					" WHERE metrics_type[m] = %s LIMIT 1)", side, hopper_literal(searched->name));
}

static const char *
measure_sql(const hopper_automl *run, const hopper_searched *searched)
{
	if (searched->measure == HOPPER_MEASURE_PARAMETERS)
		return "parameters::float8";
	if (searched->measure == HOPPER_MEASURE_GAP)
	{
		const hopper_searched *of = hopper_search_ranking(run);

		return psprintf("%s(%s - %s)", of->ascends ? "" : "-", value_on("training", of),
						value_on("validation", of));
	}
	return value_on(run->validation ? "validation" : "training", searched);
}

static void
tell_rungs(hopper_automl *run)
{
	hopper_search_rung rung;

	while (hopper_core()->search.next_rung(run->search, &rung))
	{
		run->has_rungs = true;
		ereport(NOTICE,
				(errmsg("automl \"%s\": s=%d, i=%d: %s%s trained for %s%s%s, %s elapsed",
						run->tables.final_output.shown, rung.s, rung.i,
						hopper_plural(rung.configs, "configuration", "configurations"),
						rung.failed > 0 ? psprintf(" (" INT64_FORMAT " failed)", rung.failed) : "",
						hopper_plural(rung.iterations, "iteration", "iterations"),
						rung.going_on > 0 ? psprintf(", " INT64_FORMAT " %s on", rung.going_on,
													 rung.going_on == 1 ? "goes" : "go") : "",
						rung.best >= 0
						? psprintf(", best configuration %d %s", hopper_key_of_trial(rung.best),
								   hopper_search_objective_words(run, rung.value)) : "",
						hopper_duration_words(hopper_seconds_since(run->started)))));
	}
}

int64
hopper_search_best(const hopper_automl *run)
{
	int64_t		best;
	hopper_error error;

	HOPPER_CHECK(hopper_core()->search.best(run->search, &best, &error), error);
	return best;
}

void
hopper_search_tell(hopper_automl *run, int64 trial, const char *failure)
{
	double	   *values = palloc(Max(run->n_measures, 1) * sizeof(double));
	hopper_error error;

	if (failure == NULL)
	{
		StringInfoData query;

		initStringInfo(&query);
		for (int i = 0; i < run->n_measures; i++)
			appendStringInfo(&query, ", %s", measure_sql(run, &run->measures[i]));
		if (hopper_select_latest("SELECT CASE WHEN status = 'failed'"
								 " THEN coalesce(error, 'it failed') END%s FROM %s"
								 " WHERE mst_key = %d", query.data, run->tables.info.quoted,
								 hopper_key_of_trial(trial)) == 0)
			failure = "it left no result";
		else
			failure = hopper_cell(0, 1);
		for (int i = 0; failure == NULL && i < run->n_measures; i++)
		{
			if (hopper_cell(0, i + 2) == NULL)
				failure = psprintf("it has no %s", run->measures[i].name);
			else
				values[i] = hopper_float_value(0, i + 2);
		}
	}
	HOPPER_CHECK(hopper_core()->search.tell(run->search, trial, values, run->n_measures,
											failure ? hopper_to_utf8(failure) : NULL, &error),
				 error);
	pfree(values);
	tell_rungs(run);
}

int
hopper_search_refuse(hopper_automl *run, hopper_search_assignment *work, int n)
{
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		if (run->trials.impossible[work[i].trial])
			hopper_search_tell(run, work[i].trial, run->trials.impossible[work[i].trial]);
		else
			work[left++] = work[i];
	}
	return left;
}
