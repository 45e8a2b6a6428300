/*
 * entering.c
 *		How models enter a run on the segments, as there is room, and which are on their way.
 */
#include "pg/greenplum/coordinator/open_run.h"

static const hopper_config *
config_at(const open_segments *open, int at)
{
	return &open->training->configs[at];
}

/* What those have before them who train, if `training`, and who wait up to the place `last`. */
static hopper_segment_stint *
stints_of(const open_segments *open, bool training, int last, int *n)
{
	hopper_segment_stint *stints = palloc(Max(open->n_training + open->n_waiting, 1) *
								  sizeof(hopper_segment_stint));

	*n = 0;
	for (int i = 0; i < open->training->n_configs; i++)
	{
		const open_model *model = &open->models[i];

		if ((training && model->trains) || (i <= last && model->waits))
			stints[(*n)++] = (hopper_segment_stint)
			{
				*config_at(open, i), model->stint, model->done
			};
	}
	return stints;
}

void
hopper_open_load(open_segments *open, int last)
{
	hopper_segment_run *run = &open->run;
	MemoryContext caller;

	run->stints = stints_of(open, true, last, &run->n_stints);
	run->stays_open = !open->closed;
	/* What it finds of the segments outlives the caller's step. */
	caller = MemoryContextSwitchTo(open->context);
	hopper_open_load_data(open);
	MemoryContextSwitchTo(caller);
	pfree(run->stints);
	run->stints = NULL;
	run->n_stints = 0;
}

/* False: there is no room for those who wait up to the place `last`. */
static bool
enter_beside(open_segments *open, int last)
{
	hopper_segment_entry entry = {.run = open->run.id, .train = &open->run.train};
	bool		has_room;

	entry.stay = palloc(Max(open->n_training, 1) * sizeof(int32));
	for (int i = 0; i < open->training->n_configs; i++)
		if (open->models[i].trains)
			entry.stay[entry.n_stay++] = config_at(open, i)->mst_key;
	entry.stints = stints_of(open, false, last, &entry.n_stints);
	has_room = hopper_hops_enter(&open->hops, &entry);
	pfree(entry.stay);
	pfree(entry.stints);
	return has_room;
}

static double
cost_of(const open_segments *open, int at)
{
	const double *costs = open->training->costs;

	return (costs ? costs[at] : 1) * open->models[at].stint;
}

static int
compare_costs(const void *a, const void *b, void *open)
{
	double		x = cost_of(open, *(const int *) a);
	double		y = cost_of(open, *(const int *) b);

	return x != y ? (x < y ? 1 : -1) : *(const int *) a - *(const int *) b;
}

/*
 * Where those begin who wait up to the place `last`: on the segments of their first partitions, or,
 * as all have all data, the most expensive first, where there is the least to do.
 */
static void
place(open_segments *open, int last)
{
	const hopper_segment_run *run = &open->run;
	int			n_keys;
	int32	   *keys = hopper_distinct_keys(run->train_keys, run->train.n_partitions, &n_keys);
	double	   *loads = palloc0(n_keys * sizeof(double));
	int		   *waiting = palloc(open->n_waiting * sizeof(int));
	int			n = 0;

	for (int i = 0; i < open->training->n_configs; i++)
	{
		open_model *model = &open->models[i];

		if (model->waits && i <= last)
			waiting[n++] = i;
		for (int k = 0; model->trains && k < n_keys; k++)
			if (keys[k] == model->key)
				loads[k] += cost_of(open, i);
	}
	qsort_arg(waiting, n, sizeof(int), compare_costs, open);
	for (int i = 0; i < n; i++)
	{
		open_model *model = &open->models[waiting[i]];
		int			least = 0;

		for (int k = 1; k < n_keys; k++)
			if (loads[k] < loads[least])
				least = k;
		loads[least] += cost_of(open, waiting[i]);
		model->key = run->everywhere ? keys[least] :
			hopper_hops_first_key(&open->hops, config_at(open, waiting[i])->mst_key);
	}
	pfree(keys);
	pfree(loads);
	pfree(waiting);
}

static void
put(open_segments *open, int last)
{
	hopper_hops *hops = &open->hops;
	hopper_config *begin = palloc(open->n_waiting * sizeof(hopper_config));
	int32	   *begin_at = palloc(open->n_waiting * sizeof(int32));
	int32	   *rested = palloc(open->n_waiting * sizeof(int32));
	int32	   *rested_at = palloc(open->n_waiting * sizeof(int32));
	int			n_begin = 0;
	int			n_rested = 0;

	place(open, last);
	for (int i = 0; i <= last; i++)
	{
		open_model *model = &open->models[i];

		if (!model->waits)
			continue;
		if (model->rests)
		{
			rested_at[n_rested] = model->key;
			rested[n_rested++] = config_at(open, i)->mst_key;
		}
		else
		{
			begin_at[n_begin] = model->key;
			begin[n_begin++] = *config_at(open, i);
		}
		model->waits = false;
		model->trains = true;
		model->since = open->timeline.n_statements;
		open->n_waiting--;
		open->n_training++;
	}
	if (n_rested > 0)
		hopper_hops_put_rested(hops, rested, rested_at, n_rested);
	if (n_begin > 0)
		hopper_hops_put_models(hops, begin, begin_at, n_begin);
	pfree(begin);
	pfree(begin_at);
	pfree(rested);
	pfree(rested_at);
}

static int
first_waiting(const open_segments *open)
{
	int			at = 0;

	while (!open->models[at].waits)
		at++;
	return at;
}

void
hopper_open_enter_waiting(open_segments *open)
{
	int			last = open->training->n_configs - 1;
	int			first;

	if (open->n_waiting == 0)
		return;
	/* Where no other comes, those without room wait on their segments. */
	if (!open->hops.loaded && open->closed)
	{
		hopper_open_load(open, last);
		put(open, last);
		return;
	}
	if (open->hops.loaded && enter_beside(open, last))
	{
		put(open, last);
		return;
	}
	if (open->n_training == 0)
	{
		first = first_waiting(open);
		if (!open->hops.loaded || !enter_beside(open, first))
			hopper_open_load(open, first);
		put(open, first);
		if (open->n_waiting > 0 && enter_beside(open, last))
			put(open, last);
	}
	while (open->n_waiting > 0)
	{
		first = first_waiting(open);
		if (!enter_beside(open, first))
			return;
		put(open, first);
	}
}

/* Numbers of configurations in a message; more are counted. */
#define MAX_RANGES 20

char *
hopper_open_travelling(const open_segments *open)
{
	const hopper_training *training = open->training;
	StringInfo	out = makeStringInfo();
	int			n_ranges = 0;
	int			n = 0;
	int			left = 0;

	for (int i = 0; i < training->n_configs; i++)
	{
		int			first = i;

		if (!open->models[i].trains)
			continue;
		while (i + 1 < training->n_configs && open->models[i + 1].trains &&
			   training->configs[i + 1].mst_key == training->configs[i].mst_key + 1)
			i++;
		n += i - first + 1;
		if (++n_ranges > MAX_RANGES)
		{
			left += i - first + 1;
			continue;
		}
		appendStringInfo(out, "%s%d", n_ranges > 1 ? ", " : "", training->configs[first].mst_key);
		if (i > first)
			appendStringInfo(out, "-%d", training->configs[i].mst_key);
	}
	if (left > 0)
		appendStringInfo(out, " and %d more", left);
	if (n == 0)
		return "no configuration";
	return psprintf("%s %s", n == 1 ? "configuration" : "configurations", out->data);
}
