/*
 * open_run.c
 *		The driver of a run on the segments that configurations enter and leave between hops.
 *
 * One statement moves everybody who trains to the segment of its next partition, each on its own
 * course and none by more than an iteration, so that nobody waits for a longer way than one hop.
 * A model rests in a table on the segments (open_hops.c) when its leg has ended; others take its
 * place before the next hop. The data stay where they are. A model without room beside them and the
 * others waits until there is some; where there is none though nobody trains, the data are loaded
 * anew, into what is left by the one that waits for it.
 */
#include "pg/greenplum/coordinator/driver.h"
#include "pg/greenplum/reports.h"

#include "pg/train/outputs.h"

typedef struct open_model
{
	int32		leg;			/* iterations that it trains now */
	bool		waits;			/* to enter */
	bool		trains;
	bool		rests;			/* its state lies on a segment */
	int			since;			/* the statement in which its iteration began */
	/* of the legs before */
	int64		examples;
	double		seconds_training;
	double		seconds_evaluating;
	double		seconds_waiting;
} open_model;

typedef struct open_segments
{
	hopper_driver driver;
	int			allocated;
	open_model *models;			/* by place */
	int			n_waiting;
	int			n_training;
	bool		closed;
} open_segments;

static const hopper_config *
config_at(const open_segments *open, int at)
{
	return &open->driver.training->configs[at];
}

/* Room for a model at each place. */
static void
grow(open_segments *open, int n)
{
	int			more = Max(64, 2 * n);

	if (n <= open->allocated)
		return;
	open->models = open->models == NULL ? palloc(more * sizeof(open_model))
		: repalloc_huge(open->models, (Size) more * sizeof(open_model));
	memset(open->models + open->allocated, 0, (more - open->allocated) * sizeof(open_model));
	open->allocated = more;
}

/* --- what the search calls --- */

void
hopper_training_start(hopper_training *training)
{
	open_segments *open = palloc0(sizeof(open_segments));

	hopper_training_open(training);
	hopper_training_allocate(training);
	training->n_failed = 0;
	training->segments = open;
	grow(open, training->n_configs);
	hopper_driver_begin(&open->driver, training, &training->stored->model);
	hopper_hops_open(&open->driver.hops, &training->stored->model);
	training->started = true;
}

/* Whether it fits is seen when it is to train. */
int
hopper_training_enter(hopper_training *training, const hopper_config *config,
					  hopper_history *history)
{
	int			at = hopper_training_add(training, config, history);

	grow(training->segments, training->n_configs);
	return at;
}

int
hopper_training_enter_child(hopper_training *training, const hopper_config *config,
							hopper_history *history, int parent)
{
	hopper_config child = *config;
	int			at;

	child.model_arch = training->configs[parent].model_arch;
	child.model_arch_size = training->configs[parent].model_arch_size;
	child.weights = NULL;
	child.n_weights = 0;
	at = hopper_training_enter(training, &child, history);
	/* A copy, as the parent may train on or be stopped before there is room for its child. */
	hopper_hops_copy_rested(&training->segments->driver.hops, training->configs[parent].mst_key,
							child.mst_key);
	training->segments->models[at].rests = true;
	hopper_training_inherit(training, at, parent);
	return at;
}

void
hopper_training_go_on(hopper_training *training, int at, int32 iterations, int32 done, bool anew)
{
	open_segments *open = training->segments;
	open_model *model = &open->models[at];

	if (open->closed || model->waits || model->trains)
		elog(ERROR, "configuration %d cannot go on", training->configs[at].mst_key);
	if (anew)
	{
		hopper_history_clear(training->histories[at]);
		if (model->rests)
			hopper_hops_forget(&open->driver.hops, &training->configs[at].mst_key, 1, false);
		model->rests = false;
	}
	model->leg = iterations;
	model->waits = true;
	open->n_waiting++;
}

void
hopper_training_drop_state(hopper_training *training, int at)
{
	open_segments *open = training->segments;

	if (open->models[at].rests)
		hopper_hops_forget(&open->driver.hops, &training->configs[at].mst_key, 1, true);
}

void
hopper_training_close(hopper_training *training)
{
	training->segments->closed = true;
}

/* --- entering --- */

/* Copies those of who trains, and of who waits up to the place `last`. */
static int
choose(const open_segments *open, bool training, int last, hopper_config *configs, int32 *legs,
	   int32 *keys)
{
	int			n = 0;

	for (int i = 0; i < open->driver.training->n_configs; i++)
	{
		const open_model *model = &open->models[i];

		if (!(training && model->trains) && !(i <= last && model->waits))
			continue;
		if (configs)
			configs[n] = *config_at(open, i);
		if (legs)
			legs[n] = model->leg;
		if (keys)
			keys[n] = config_at(open, i)->mst_key;
		n++;
	}
	return n;
}

/* The data to the segments, and who trains on them, with who waits up to the place `last`. */
static void
load(open_segments *open, int last)
{
	hopper_segment_run *run = &open->driver.run;
	int			most = open->n_training + open->n_waiting;

	run->configs = palloc(Max(most, 1) * sizeof(hopper_config));
	run->legs = palloc(Max(most, 1) * sizeof(int32));
	run->n_configs = choose(open, true, last, run->configs, run->legs, NULL);
	hopper_driver_load(&open->driver);
	pfree(run->configs);
	pfree(run->legs);
	run->configs = NULL;
	run->legs = NULL;
	run->n_configs = 0;
}

/* False: there is no room for those who wait up to the place `last`. */
static bool
enter_beside(open_segments *open, int last)
{
	hopper_segment_entry entry = {.run = open->driver.run.id, .train = &open->driver.run.train};
	bool		has_room;

	entry.stay = palloc(Max(open->n_training, 1) * sizeof(int32));
	entry.configs = palloc(open->n_waiting * sizeof(hopper_config));
	entry.legs = palloc(open->n_waiting * sizeof(int32));
	entry.n_stay = choose(open, true, -1, NULL, NULL, entry.stay);
	entry.n_configs = choose(open, false, last, entry.configs, entry.legs, NULL);
	has_room = hopper_hops_enter(&open->driver.hops, &entry);
	pfree(entry.stay);
	pfree(entry.configs);
	pfree(entry.legs);
	return has_room;
}

static void
put(open_segments *open, int last)
{
	hopper_hops *hops = &open->driver.hops;

	for (int i = 0; i <= last; i++)
	{
		open_model *model = &open->models[i];

		if (!model->waits)
			continue;
		if (model->rests)
			hopper_hops_put_rested(hops, config_at(open, i)->mst_key);
		else
			hopper_hops_put_models(hops, config_at(open, i), 1);
		model->waits = false;
		model->trains = true;
		model->since = open->driver.timeline.n_statements;
		open->n_waiting--;
		open->n_training++;
	}
}

static int
first_waiting(const open_segments *open)
{
	int			at = 0;

	while (!open->models[at].waits)
		at++;
	return at;
}

/*
 * All who wait, as far as they fit: a segment has room for those who may meet on it. Where nobody
 * trains, the first of them does in any case: the data are loaded into what it leaves.
 */
static void
enter_waiting(open_segments *open)
{
	int			last = open->driver.training->n_configs - 1;
	int			first;

	if (open->n_waiting == 0)
		return;
	if (open->driver.hops.loaded && enter_beside(open, last))
	{
		put(open, last);
		return;
	}
	if (open->n_training == 0)
	{
		first = first_waiting(open);
		if (!open->driver.hops.loaded || !enter_beside(open, first))
			load(open, first);
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

/* --- what comes of a hop --- */

/* Its results of all legs together. */
static void
take_result(open_segments *open, int at, const bytea *bytes, int segment)
{
	hopper_training *training = open->driver.training;
	hopper_model_result *result = &training->results[at];
	open_model *model = &open->models[at];

	hopper_read_result(bytes, segment, training->configs[at].mst_key, result);
	training->info.seconds_busy += result->seconds_training + result->seconds_evaluating;
	model->examples = result->examples += model->examples;
	model->seconds_training = result->seconds_training += model->seconds_training;
	model->seconds_evaluating = result->seconds_evaluating += model->seconds_evaluating;
	model->seconds_waiting = result->seconds_waiting += model->seconds_waiting;
	hopper_training_order_metrics(training, at);
}

/* Models whose legs have ended rest, or have failed. */
static void
lay_down(open_segments *open, const int *ended, int n)
{
	hopper_training *training = open->driver.training;
	int32	   *keys = palloc(n * sizeof(int32));
	int32	   *resting = palloc(n * sizeof(int32));
	int			n_resting = 0;

	hopper_driver_require_weights(&open->driver, ended, n);
	for (int i = 0; i < n; i++)
	{
		open_model *model = &open->models[ended[i]];

		keys[i] = training->configs[ended[i]].mst_key;
		if (model->rests)
			resting[n_resting++] = keys[i];
		model->rests = training->results[ended[i]].status == HOPPER_MODEL_DONE;
		model->trains = false;
		open->n_training--;
	}
	if (n_resting > 0)
		hopper_hops_forget(&open->driver.hops, resting, n_resting, false);
	hopper_hops_lay_down(&open->driver.hops, keys, n);
	pfree(keys);
	pfree(resting);
}

/*
 * Reads what the models report of iterations that are complete. Returns how many legs have ended,
 * their places ascending by their keys. *missing: a segment has lost its data.
 */
static int
collect(open_segments *open, int *ended, bool *missing)
{
	hopper_training *training = open->driver.training;
	const hopper_hops *hops = &open->driver.hops;
	int32		last = 0;
	int			n_ended = 0;
	uint64		n;

	*missing = false;
	/*
	 * Greenplum 7 sends a sorted row that is stored out of line as a pointer, which means nothing
	 * here, where the row before it had only NULLs: what is computed lies in line.
	 */
	n = hopper_select_latest("SELECT mst_key, done, missing, gp_segment_id,"
							 " CASE WHEN done THEN report OPERATOR(pg_catalog.||) '' END,"
							 " result OPERATOR(pg_catalog.||) '' FROM %s"
							 " WHERE part OPERATOR(pg_catalog.=) 0 ORDER BY mst_key",
							 hops->tables[hops->at].quoted);
	if (n != (uint64) open->n_training)
		elog(ERROR, UINT64_FORMAT " of %d models came back from the segments", n,
			 open->n_training);
	for (uint64 row = 0; row < n; row++)
	{
		int32		mst_key = DatumGetInt32(hopper_told_value(row, 1, INT4OID));
		int			segment = DatumGetInt32(hopper_told_value(row, 4, INT4OID));
		int			at = hopper_training_place(training, mst_key);
		Datum		result;
		bool		isnull;

		if (at < 0 || !open->models[at].trains || mst_key <= last)
			elog(ERROR, "configuration %d came back from the segments, and did not train", mst_key);
		last = mst_key;
		*missing = DatumGetBool(hopper_told_value(row, 3, BOOLOID)) || *missing;
		if (!DatumGetBool(hopper_told_value(row, 2, BOOLOID)))
			continue;
		hopper_driver_take_report(&open->driver, at,
								  DatumGetByteaPP(hopper_told_value(row, 5, BYTEAOID)), segment,
								  open->models[at].since);
		open->models[at].since = open->driver.timeline.n_statements;
		result = hopper_value(row, 6, BYTEAOID, &isnull);
		if (isnull)
			continue;
		take_result(open, at, DatumGetByteaPP(result), segment);
		ended[n_ended++] = at;
	}
	SPI_freetuptable(SPI_tuptable);
	return n_ended;
}

/* The working tables go, the models go to the output tables. */
static void
finish(open_segments *open)
{
	hopper_training *training = open->driver.training;
	hopper_hops *hops = &open->driver.hops;

	hopper_segment_timeline_settle(&open->driver.timeline);
	open->driver.run.configs = (hopper_config *) training->configs;
	open->driver.run.n_configs = training->n_configs;
	hopper_hops_write(hops, &hops->rest, &training->stored->model, &training->stored->state);
	hopper_hops_close(hops);
	hopper_driver_end(&open->driver);
}

/* One that has failed fails again. */
static bool
tell_failed(open_segments *open)
{
	hopper_training *training = open->driver.training;
	bool		any = false;

	for (int i = 0; i < training->n_configs; i++)
	{
		if (!open->models[i].waits || training->results[i].status != HOPPER_MODEL_FAILED)
			continue;
		open->models[i].waits = false;
		open->n_waiting--;
		training->ended(training, i, true);
		any = true;
	}
	return any;
}

bool
hopper_training_step(hopper_training *training, long timeout)
{
	open_segments *open = training->segments;
	bool		missing;
	int		   *ended;
	int			n;

	if (open->closed)
	{
		finish(open);
		return true;
	}
	if (tell_failed(open))
		return false;
	enter_waiting(open);
	if (open->n_training == 0)
		elog(ERROR, "no model of \"%s\" trains", training->shown);
	hopper_driver_move(&open->driver, HOPPER_HOP_NEXT);
	ended = palloc(open->n_training * sizeof(int));
	n = collect(open, ended, &missing);
	if (n > 0)
		lay_down(open, ended, n);
	hopper_driver_note_loss(&open->driver, missing);
	if (missing)
		load(open, -1);
	for (int i = 0; i < n; i++)
		training->ended(training, ended[i],
						training->results[ended[i]].status == HOPPER_MODEL_FAILED);
	pfree(ended);
	return false;
}
