/*
 * history.c
 *		Collecting the metrics of a run, and their arrays for the info table.
 */
#include "pg/train/history.h"

/*
 * Of memory_limit. Beside it, not within: what a run takes in all may be a few hundredths more than
 * the limit.
 */
#define SHARE_OF_MEMORY 32
#define LEAST_POINTS 1000
/* With 32 metrics, a row of so many points is as text still below 1 GB. */
#define MOST_POINTS 500000

hopper_history *
hopper_history_new(int32 mst_key, int n_configs, int64 memory_limit)
{
	hopper_history *history = palloc0(sizeof(hopper_history));

	history->mst_key = mst_key;
	history->every = 1;
	history->max_bytes = (Size) (memory_limit / SHARE_OF_MEMORY / n_configs);
	history->context = CurrentMemoryContext;
	return history;
}

/* --- points, as many metrics long as have come --- */

static Size
point_size(int n_metrics)
{
	return offsetof(hopper_point, metrics) + 2 * n_metrics * sizeof(double);
}

static int
most_points(const hopper_history *history)
{
	Size		most = history->max_bytes / point_size(history->n_metrics);

	return (int) Max(Min(most, MOST_POINTS), LEAST_POINTS);
}

hopper_point *
hopper_history_at(const hopper_history *history, int index)
{
	return (hopper_point *) (history->points + (Size) index * point_size(history->n_metrics));
}

static double *
metric_at(const hopper_history *history, const hopper_point *point, int split, int metric)
{
	return (double *) &point->metrics[split * history->n_metrics + metric];
}

hopper_maybe
hopper_history_value(const hopper_history *history, const hopper_point *point, int split,
					 int metric)
{
	const hopper_maybe unknown = {false, 0};

	if (point == NULL || metric < -1)
		return unknown;
	if (metric < 0)
		return point->known[split] ? (hopper_maybe) {true, point->loss[split]} : unknown;
	return (point->has_metric[split] & ((uint32) 1 << metric)) == 0 ? unknown
		: (hopper_maybe) {true, *metric_at(history, point, split, metric)};
}

static void
allocate(hopper_history *history, int allocated)
{
	Size		size = (Size) allocated * point_size(history->n_metrics);

	if (history->points == NULL)
		history->points = MemoryContextAllocHuge(history->context, size);
	else
		history->points = repalloc_huge(history->points, size);
	history->allocated = allocated;
}

/* Room for `n_metrics` in each point. */
static void
widen(hopper_history *history, int n_metrics)
{
	hopper_history old = *history;

	if (n_metrics <= history->n_metrics)
		return;
	history->n_metrics = n_metrics;
	if (old.points == NULL)
		return;
	history->points = NULL;
	allocate(history, old.allocated);
	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *from = hopper_history_at(&old, i);
		hopper_point *to = hopper_history_at(history, i);

		memset(to, 0, point_size(n_metrics));
		memcpy(to, from, offsetof(hopper_point, metrics));
		for (int split = 0; split < 2; split++)
			memcpy(metric_at(history, to, split, 0), metric_at(&old, from, split, 0),
				   old.n_metrics * sizeof(double));
	}
	pfree(old.points);
}

void
hopper_history_set_metric(hopper_history *history, int index, int split, int metric, double value)
{
	hopper_point *point;

	if (metric >= HOPPER_MAX_METRICS)
		return;
	widen(history, metric + 1);
	point = hopper_history_at(history, index);
	*metric_at(history, point, split, metric) = value;
	point->has_metric[split] |= (uint32) 1 << metric;
}

/* --- thinning --- */

static void
mark_extremes(const hopper_history *history, int split, int metric, bool *marked)
{
	double		least = 0;
	double		most = 0;
	int			at_least = -1;
	int			at_most = -1;

	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *point = hopper_history_at(history, i);
		hopper_maybe found = hopper_history_value(history, point, split, metric);

		if (!point->known[split] || !found.known)
			continue;
		if (at_least < 0 || found.value < least)
		{
			least = found.value;
			at_least = i;
		}
		if (at_most < 0 || found.value > most)
		{
			most = found.value;
			at_most = i;
		}
	}
	if (at_least >= 0)
		marked[at_least] = marked[at_most] = true;
}

/* Makes room for half as many points again. Early stopping may come back to an extreme one. */
static void
thin(hopper_history *history)
{
	int			most = most_points(history) / 2;
	bool	   *marked = palloc0(history->n * sizeof(bool));
	int			on_grid;
	int			n = 0;

	for (;;)
	{
		on_grid = 0;
		for (int i = 0; i < history->n; i++)
			on_grid += hopper_history_at(history, i)->iteration % history->every == 0;
		if (on_grid <= most || history->every > PG_INT32_MAX / 2)
			break;
		history->every *= 2;
	}
	for (int split = 0; split < 2; split++)
		for (int metric = -1; metric < history->n_metrics; metric++)
			mark_extremes(history, split, metric, marked);
	for (int i = 0; i < history->n; i++)
	{
		const hopper_point *point = hopper_history_at(history, i);

		if (!marked[i] && i != history->n - 1 && point->iteration % history->every != 0)
			continue;
		memmove(hopper_history_at(history, n++), point, point_size(history->n_metrics));
	}
	history->n = n;
	pfree(marked);
}

/* --- taking values in --- */

int
hopper_history_point(hopper_history *history, int32 iteration)
{
	int			at = history->n;

	/* Validation may come in after the next iteration's training values. */
	while (at > 0 && hopper_history_at(history, at - 1)->iteration > iteration)
		at--;
	if (at > 0 && hopper_history_at(history, at - 1)->iteration == iteration)
		return at - 1;

	if (history->n == history->allocated)
	{
		int			most = most_points(history);

		allocate(history, history->n < most ? Min(Max(16, 2 * history->n), most) : 2 * history->n);
	}
	memmove(hopper_history_at(history, at + 1), hopper_history_at(history, at),
			(history->n - at) * point_size(history->n_metrics));
	history->n++;
	memset(hopper_history_at(history, at), 0, point_size(history->n_metrics));
	hopper_history_at(history, at)->iteration = iteration;
	return at;
}

void
hopper_history_record(hopper_history *history, const hopper_event *event)
{
	int			split = event->split;
	int			at;
	hopper_point *point;
	double		elapsed = history->elapsed_earlier + event->elapsed;

	Assert(split == HOPPER_SPLIT_TRAIN || split == HOPPER_SPLIT_VALID);
	if (history->n >= most_points(history))
		thin(history);
	at = hopper_history_point(history, event->iteration);
	point = hopper_history_at(history, at);
	if (split == HOPPER_SPLIT_TRAIN && point->known[split] && event->running && !point->running)
		return;
	point->known[split] = true;
	if (split == HOPPER_SPLIT_TRAIN)
		point->running = event->running != 0;
	point->elapsed = Max(point->elapsed, elapsed);
	point->loss[split] = event->loss;
	point->has_metric[split] = 0;
	for (int i = 0; i < event->n_metrics; i++)
		hopper_history_set_metric(history, at, split, i, event->metrics[i]);
}

void
hopper_history_clear(hopper_history *history)
{
	history->n = 0;
	history->every = 1;
}

void
hopper_history_align(hopper_history *history, int n_metrics, const char *const *metrics)
{
	double		earlier[HOPPER_MAX_METRICS];

	for (int i = 0; i < history->n; i++)
	{
		if (hopper_history_at(history, i)->iteration > history->last_earlier)
			break;
		for (int split = 0; split < 2; split++)
		{
			hopper_point *point = hopper_history_at(history, i);
			uint32		had = point->has_metric[split];

			memcpy(earlier, metric_at(history, point, split, 0),
				   history->n_metrics * sizeof(double));
			point->has_metric[split] = 0;
			for (int now = 0; now < n_metrics; now++)
				for (int then = 0; then < history->n_metrics_earlier; then++)
					if (strcmp(metrics[now], history->metrics_earlier[then]) == 0 &&
						(had & ((uint32) 1 << then)) != 0)
						hopper_history_set_metric(history, i, split, now, earlier[then]);
		}
	}
}

const hopper_point *
hopper_history_find(const hopper_history *history, int32 iteration)
{
	for (int i = history->n - 1; i >= 0; i--)
		if (hopper_history_at(history, i)->iteration == iteration)
			return hopper_history_at(history, i);
	return NULL;
}

const hopper_point *
hopper_history_last(const hopper_history *history, int split)
{
	for (int i = history->n - 1; i >= 0; i--)
		if (hopper_history_at(history, i)->known[split])
			return hopper_history_at(history, i);
	return NULL;
}

/* An array of n_rows x n_columns (n_rows 0: one dimension); NULL where nothing in it is known. */
static hopper_param
float8_array(const Datum *values, const bool *nulls, int n_rows, int n_columns)
{
	int			n = Max(n_rows, 1) * n_columns;
	int			dims[2] = {n_rows, n_columns};
	int			bounds[2] = {1, 1};
	bool		known = false;

	for (int i = 0; i < n; i++)
		known |= !nulls[i];
	if (!known)
		return hopper_array_param((Datum) 0);
	if (n_rows == 0)
		dims[0] = n_columns;
	return hopper_array_param(PointerGetDatum(construct_md_array(
		(Datum *) values, (bool *) nulls, n_rows == 0 ? 1 : 2, dims, bounds, FLOAT8OID,
		sizeof(float8), FLOAT8PASSBYVAL, 'd')));
}

hopper_param
hopper_history_iterations(const hopper_history *history)
{
	Datum	   *values;

	if (history->n == 0)
		return hopper_array_param((Datum) 0);
	values = palloc(history->n * sizeof(Datum));
	for (int i = 0; i < history->n; i++)
		values[i] = Int32GetDatum(hopper_history_at(history, i)->iteration);
	return hopper_array_param(hopper_array(INT4OID, history->n, values, NULL));
}

hopper_param
hopper_history_elapsed(const hopper_history *history)
{
	Datum	   *values = palloc(Max(history->n, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(history->n, 1) * sizeof(bool));

	for (int i = 0; i < history->n; i++)
		values[i] = Float8GetDatum(hopper_round_seconds(hopper_history_at(history, i)->elapsed));
	return float8_array(values, nulls, 0, history->n);
}

/* Of metrics from `first` on, a row each; n_rows 0: of that alone, in one dimension. */
static hopper_param
metrics_array(const hopper_history *history, int split, int first, int n_rows)
{
	int			n = Max(n_rows, 1) * history->n;
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *nulls = palloc(Max(n, 1) * sizeof(bool));

	for (int i = 0; i < n; i++)
	{
		hopper_maybe found = hopper_history_value(
			history, hopper_history_at(history, i % history->n), split, first + i / history->n);

		values[i] = Float8GetDatum(found.value);
		nulls[i] = !found.known;
	}
	return float8_array(values, nulls, n_rows, history->n);
}

hopper_param
hopper_history_metric(const hopper_history *history, int split, int metric)
{
	return metrics_array(history, split, metric, 0);
}

hopper_param
hopper_history_metrics(const hopper_history *history, int split, int n_metrics)
{
	return n_metrics == 0 ? hopper_array_param((Datum) 0)
		: metrics_array(history, split, 0, n_metrics);
}
