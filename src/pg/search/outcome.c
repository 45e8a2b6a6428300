/*
 * outcome.c
 *		What came of a trial: from the tables of models to the search.
 */
#include "pg/search/automl.h"

#include "pg/train/ranking.h"

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

/* Where in metrics_iters the values of the state are; read_measures() finds the delivered ones. */
#define LAST "array_upper(metrics_iters, 1)"

/* A metric or the loss at a place, as SQL. */
static const char *
value_on(const char *side, const hopper_searched *searched, const char *at)
{
	if (searched->measure == HOPPER_MEASURE_LOSS)
		return psprintf("coalesce(%s_loss[%s], %s_loss_final)::float8", side, at, side);
	return psprintf("(SELECT %s_metrics_all[m][%s]::float8"
					" FROM generate_subscripts(metrics_type, 1) AS m"
					" WHERE metrics_type[m] = %s LIMIT 1)", side, at,
					hopper_literal(searched->name));
}

static const char *
measure_sql(const hopper_automl *run, const hopper_searched *searched, const char *at)
{
	if (searched->measure == HOPPER_MEASURE_PARAMETERS)
		return "parameters::float8";
	if (searched->measure == HOPPER_MEASURE_GAP)
	{
		const hopper_searched *of = hopper_search_ranking(run);

		return psprintf("%s(%s - %s)", of->ascends ? "" : "-", value_on("training", of, at),
						value_on("validation", of, at));
	}
	return value_on(run->validation ? "validation" : "training", searched, at);
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

	HOPPER_CHECK(hopper_core()->search.best(run->search, &best, hopper_fault));
	return best;
}

/*
 * Fills in the measures of a trial at both places; what is missing, or NULL. The place is asked for
 * by a statement of its own: Greenplum 7 computes a subquery that is two levels below the row which
 * it refers to before that row is read.
 */
static const char *
read_measures(const hopper_automl *run, int32 mst_key, bool keeps_best, double *values,
			  double *last)
{
	StringInfo	query = makeStringInfo();
	int			n = run->n_measures;
	const char *delivered;

	hopper_select_latest("SELECT %s FROM %s i WHERE mst_key = %d",
						 hopper_delivered_at(keeps_best ? "true" : "false"),
						 run->tables.info.quoted, mst_key);
	delivered = hopper_cell(0, 1) ? psprintf("%s", hopper_cell(0, 1)) : "NULL::int4";
	for (int i = 0; i < 2 * n; i++)
		appendStringInfo(query, "%s%s", i ? ", " : "",
						 measure_sql(run, &run->measures[i % n], i < n ? delivered : LAST));
	hopper_select_latest("SELECT %s FROM %s WHERE mst_key = %d", query->data,
						 run->tables.info.quoted, mst_key);
	for (int i = 0; i < n; i++)
	{
		if (hopper_cell(0, i + 1) == NULL)
			return psprintf("it has no %s", run->measures[i].name);
		values[i] = hopper_float_value(0, i + 1);
		last[i] = hopper_cell(0, n + i + 1) ? hopper_float_value(0, n + i + 1) : values[i];
	}
	return NULL;
}

static void
tell(hopper_automl *run, int64 trial, const hopper_search_told *told)
{
	HOPPER_CHECK(hopper_core()->search.tell(run->search, trial, told, hopper_fault));
	run->trials[trial].trained = (int32) told->iterations;
	tell_rungs(run);
}

void
hopper_search_tell_again(hopper_automl *run, int64 trial, const hopper_search_told *told)
{
	tell(run, trial, told);
}

void
hopper_search_tell(hopper_automl *run, int64 trial)
{
	double	   *values = palloc(2 * Max(run->n_measures, 1) * sizeof(double));
	hopper_search_told told = {values, values + run->n_measures, run->n_measures, 0, NULL};
	int32		mst_key = hopper_key_of_trial(trial);
	const char *failure = "it left no result";

	if (hopper_select_latest("SELECT CASE WHEN status = 'failed'"
							 " THEN coalesce(error, 'it failed') END, iterations, fit_params"
							 " FROM %s WHERE mst_key = %d", run->tables.info.quoted, mst_key) > 0)
	{
		failure = hopper_cell(0, 1);
		told.iterations = hopper_int_cell(&run->tables.info, 0, 2, 0, PG_INT32_MAX);
		if (failure == NULL)
			failure = read_measures(run, mst_key, hopper_keeps_best(hopper_cell(0, 3)),
									values, values + run->n_measures);
	}
	told.failure = failure ? hopper_to_utf8(failure) : NULL;
	if (run->number != 0)
		hopper_search_note_told(run, trial, &told);
	tell(run, trial, &told);
	pfree(values);
}

int
hopper_search_refuse(hopper_automl *run, hopper_search_assignment *work, int n)
{
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		const char *impossible = run->trials[work[i].trial].impossible;
		hopper_search_told told = {.failure = impossible ? hopper_to_utf8(impossible) : NULL};

		/* That follows from the configuration: no journal needs it. */
		if (impossible)
			tell(run, work[i].trial, &told);
		else
			work[left++] = work[i];
	}
	return left;
}
