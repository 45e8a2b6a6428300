/*
 * outcome.c
 *		What came of a trial: from the tables of models to the search.
 */
#include "pg/search/automl.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "pg/train/history.h"

/* A metric at the last iteration at which it was taken, or the loss, as SQL. */
static const char *
value_on(const char *side, const char *measure)
{
	if (strcmp(measure, "loss") == 0)
		return psprintf("%s_loss_final::float8", side);
	return psprintf("(SELECT %s_metrics_all[m][array_upper(metrics_iters, 1)]::float8"
					" FROM generate_subscripts(metrics_type, 1) AS m"
					" WHERE metrics_type[m] = %s LIMIT 1)", side,
					hopper_literal(hopper_from_utf8(measure)));
}

/* What overfit_gap compares: the first objective that is measured on both sides. */
static const char *
compared(const hopper_automl *run)
{
	for (int i = 0; i < run->n_objectives; i++)
		if (strcmp(run->measures[i], "overfit_gap") != 0 &&
			strcmp(run->measures[i], "parameters") != 0)
			return run->measures[i];
	return "loss";
}

static const char *
measure_sql(const hopper_automl *run, const char *measure)
{
	if (strcmp(measure, "parameters") == 0)
		return "parameters::float8";
	if (strcmp(measure, "overfit_gap") == 0)
	{
		const char *of = compared(run);
		bool		ascends = strcmp(of, "loss") != 0 &&
			hopper_metric_direction(of) == HOPPER_LARGER_IS_BETTER;

		return psprintf("%s(%s - %s)", ascends ? "" : "-", value_on("training", of),
						value_on("validation", of));
	}
	return value_on(run->validation ? "validation" : "training", measure);
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
			appendStringInfo(&query, ", %s", measure_sql(run, run->measures[i]));
		if (hopper_select_latest("SELECT CASE WHEN status = 'failed'"
								 " THEN coalesce(error, 'it failed') END%s FROM %s"
								 " WHERE mst_key = %d", query.data, run->info.quoted,
								 hopper_key_of_trial(trial)) == 0)
			failure = "it left no result";
		else
			failure = hopper_cell(0, 1);
		for (int i = 0; failure == NULL && i < run->n_measures; i++)
		{
			if (hopper_cell(0, i + 2) == NULL)
				failure = psprintf("it has no %s", run->measures[i]);
			else
				values[i] = hopper_float_value(0, i + 2);
		}
	}
	HOPPER_CHECK(hopper_core()->search.tell(run->search, trial, values, run->n_measures,
											failure ? hopper_to_utf8(failure) : NULL, &error),
				 error);
	pfree(values);
}

int
hopper_search_refuse(hopper_automl *run, hopper_search_assignment *work, int n)
{
	int			left = 0;

	for (int i = 0; i < n; i++)
	{
		if (run->impossible[work[i].trial])
			hopper_search_tell(run, work[i].trial, run->impossible[work[i].trial]);
		else
			work[left++] = work[i];
	}
	return left;
}
