/*
 * history.c
 *		Collecting the metrics of a run, and their arrays for the info table.
 */
#include "pg/history.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pg/words.h"

hopper_history *
hopper_history_new(int32 mst_key)
{
	hopper_history *history = palloc0(sizeof(hopper_history));

	history->mst_key = mst_key;
	history->context = CurrentMemoryContext;
	return history;
}

hopper_point *
hopper_history_point(hopper_history *history, int32 iteration)
{
	int			at = history->n;

	/* Validation may come in after the next iteration's training values. */
	while (at > 0 && history->points[at - 1].iteration > iteration)
		at--;
	if (at > 0 && history->points[at - 1].iteration == iteration)
		return &history->points[at - 1];

	if (history->n == history->allocated)
	{
		MemoryContext old = MemoryContextSwitchTo(history->context);

		history->allocated = Max(16, 2 * history->allocated);
		if (history->points == NULL)
			history->points = palloc(history->allocated * sizeof(hopper_point));
		else
			history->points = repalloc_huge(history->points,
											(Size) history->allocated * sizeof(hopper_point));
		MemoryContextSwitchTo(old);
	}
	memmove(&history->points[at + 1], &history->points[at],
			(history->n - at) * sizeof(hopper_point));
	history->n++;
	memset(&history->points[at], 0, sizeof(hopper_point));
	history->points[at].iteration = iteration;
	return &history->points[at];
}

void
hopper_history_record(hopper_history *history, const hopper_event *event)
{
	hopper_point *point = hopper_history_point(history, event->iteration);
	int			split = event->split;
	double		elapsed = history->elapsed_earlier + event->elapsed;

	Assert(split == HOPPER_SPLIT_TRAIN || split == HOPPER_SPLIT_VALID);
	if (split == HOPPER_SPLIT_TRAIN && point->known[split] && event->running && !point->running)
		return;
	point->known[split] = true;
	if (split == HOPPER_SPLIT_TRAIN)
		point->running = event->running != 0;
	point->elapsed = Max(point->elapsed, elapsed);
	point->loss[split] = event->loss;
	point->has_metric[split] = 0;
	for (int i = 0; i < event->n_metrics && i < HOPPER_MAX_METRICS; i++)
	{
		point->metrics[split][i] = event->metrics[i];
		point->has_metric[split] |= (uint32) 1 << i;
	}
}

void
hopper_history_align(hopper_history *history, int n_metrics, const char *const *metrics)
{
	for (int i = 0; i < history->n && history->points[i].iteration <= history->last_earlier; i++)
	{
		hopper_point *point = &history->points[i];
		hopper_point earlier = *point;

		for (int split = 0; split < 2; split++)
		{
			point->has_metric[split] = 0;
			for (int now = 0; now < n_metrics; now++)
			{
				for (int then = 0; then < history->n_metrics_earlier; then++)
				{
					if (strcmp(metrics[now], history->metrics_earlier[then]) != 0 ||
						(earlier.has_metric[split] & ((uint32) 1 << then)) == 0)
						continue;
					point->metrics[split][now] = earlier.metrics[split][then];
					point->has_metric[split] |= (uint32) 1 << now;
				}
			}
		}
	}
}

const hopper_point *
hopper_history_find(const hopper_history *history, int32 iteration)
{
	for (int i = history->n - 1; i >= 0; i--)
		if (history->points[i].iteration == iteration)
			return &history->points[i];
	return NULL;
}

const hopper_point *
hopper_history_last(const hopper_history *history, int split)
{
	for (int i = history->n - 1; i >= 0; i--)
		if (history->points[i].known[split])
			return &history->points[i];
	return NULL;
}

/* An array of n_rows x n_columns (n_rows 0: one dimension); NULL where nothing in it is known. */
static Datum
float8_array(const Datum *values, const bool *nulls, int n_rows, int n_columns)
{
	int			n = Max(n_rows, 1) * n_columns;
	int			dims[2] = {n_rows, n_columns};
	int			bounds[2] = {1, 1};
	bool		known = false;

	for (int i = 0; i < n; i++)
		known |= !nulls[i];
	if (!known)
		return (Datum) 0;
	if (n_rows == 0)
		dims[0] = n_columns;
	return PointerGetDatum(construct_md_array((Datum *) values, (bool *) nulls,
											  n_rows == 0 ? 1 : 2, dims, bounds, FLOAT8OID,
											  sizeof(float8), FLOAT8PASSBYVAL, 'd'));
}

Datum
hopper_history_iterations(const hopper_history *history)
{
	Datum	   *values;

	if (history->n == 0)
		return (Datum) 0;
	values = palloc(history->n * sizeof(Datum));
	for (int i = 0; i < history->n; i++)
		values[i] = Int32GetDatum(history->points[i].iteration);
	return PointerGetDatum(construct_array(values, history->n, INT4OID, sizeof(int32), true,
										   'i'));
}

Datum
hopper_history_elapsed(const hopper_history *history)
{
	Datum	   *values = palloc(Max(history->n, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(history->n, 1) * sizeof(bool));

	for (int i = 0; i < history->n; i++)
		values[i] = Float8GetDatum(hopper_round_seconds(history->points[i].elapsed));
	return float8_array(values, nulls, 0, history->n);
}

Datum
hopper_history_loss(const hopper_history *history, int split)
{
	Datum	   *values = palloc(Max(history->n, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(history->n, 1) * sizeof(bool));

	for (int i = 0; i < history->n; i++)
	{
		values[i] = Float8GetDatum(history->points[i].loss[split]);
		nulls[i] = !history->points[i].known[split];
	}
	return float8_array(values, nulls, 0, history->n);
}

/* One metric's values into values[0 .. n). */
static void
metric_values(const hopper_history *history, int split, int metric, Datum *values, bool *nulls)
{
	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *point = &history->points[i];

		values[i] = Float8GetDatum(point->metrics[split][metric]);
		nulls[i] = (point->has_metric[split] & ((uint32) 1 << metric)) == 0;
	}
}

Datum
hopper_history_metric(const hopper_history *history, int split, int metric)
{
	Datum	   *values = palloc(Max(history->n, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(history->n, 1) * sizeof(bool));

	metric_values(history, split, metric, values, nulls);
	return float8_array(values, nulls, 0, history->n);
}

Datum
hopper_history_metrics(const hopper_history *history, int split, int n_metrics)
{
	int			n = Max(n_metrics * history->n, 1);
	Datum	   *values = palloc(n * sizeof(Datum));
	bool	   *nulls = palloc0(n * sizeof(bool));

	if (n_metrics == 0 || history->n == 0)
		return (Datum) 0;
	for (int i = 0; i < n_metrics; i++)
		metric_values(history, split, i, values + i * history->n, nulls + i * history->n);
	return float8_array(values, nulls, n_metrics, history->n);
}

bool
hopper_metric_ascends(const char *metric)
{
	static const char *const smaller_is_better[] =
	{"loss", "error", "crossentropy", "mse", "mae", "rmse", "mape", "msle"};

	/* an expression says it itself: "expr max: ..." */
	if (strncmp(metric, "expr", 4) == 0 && strchr(metric, ':') != NULL)
		return strncmp(metric, "expr max", 8) == 0 && (metric[8] == ':' || metric[8] == ' ');
	for (int i = 0; i < lengthof(smaller_is_better); i++)
		if (strcasestr(metric, smaller_is_better[i]) != NULL)
			return false;
	return true;
}
