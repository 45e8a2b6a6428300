/*
 * open_run.c
 *		The driver of a run on the segments that configurations enter and leave between hops.
 *
 * One statement moves everybody who trains to the segment of its next partition, each on its own
 * course and none by more than an iteration, so that nobody waits for a longer way than one hop.
 * A model rests in a table on the segments (open_hops.c) when its stint has ended; others take its
 * place before the next hop. Where all are to halt, each rests so at the end of its iteration, as
 * if its stint had ended, and a durable run stores what rests. The data stay where they are. A
 * model without room beside them and the others waits until there is some; where there is none
 * though nobody trains, the data are loaded again, into what is left by the one that waits for it.
 */
#include "pg/greenplum/coordinator/open_run.h"
#include "pg/greenplum/reports.h"

#include "utils/guc.h"
#include "utils/memutils.h"

#include "pg/train/engine.h"

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

/* The working tables go. */
static void
end(open_segments *open)
{
	hopper_segment_timeline_settle(&open->driver.timeline);
	hopper_hops_close(&open->driver.hops);
	hopper_driver_end(&open->driver);
	open->ended = true;
}

/* Of a durable run: the states of `n` configurations, where they have some, rest from now on. */
static void
take_stored(open_segments *open, int first, int n)
{
	const hopper_training *training = open->driver.training;
	int32	   *keys = palloc(Max(n, 1) * sizeof(int32));
	int			n_stored = 0;

	for (int i = first; i < first + n; i++)
	{
		if (training->configs[i].state_size == 0)
			continue;
		keys[n_stored++] = training->configs[i].mst_key;
		open->models[i].rests = true;
	}
	if (n_stored > 0)
		hopper_hops_take_stored(&open->driver.hops, &training->stored->state, keys, n_stored);
	pfree(keys);
}

/* --- what its caller calls --- */

void
hopper_training_begin(hopper_training *training)
{
	open_segments *open = palloc0(sizeof(open_segments));

	hopper_training_open(training);
	hopper_training_allocate(training);
	training->n_failed = 0;
	training->segments = open;
	grow(open, training->n_configs);
	hopper_driver_begin(&open->driver, training, &training->stored->model);
	hopper_hops_open(&open->driver.hops, &training->stored->model);
	open->context = CurrentMemoryContext;
	if (training->durable)
		take_stored(open, 0, training->n_configs);
}

/* The first step loads the data, for who is to train then. */
void
hopper_training_start(hopper_training *training)
{
	training->started = true;
}

/* Whether it fits is seen when it is to train. */
int
hopper_training_enter(hopper_training *training, const hopper_config *config,
					  hopper_history *history)
{
	int			at = hopper_training_add(training, config, history);

	grow(training->segments, training->n_configs);
	if (training->durable)
		take_stored(training->segments, at, 1);
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
hopper_training_go_on(hopper_training *training, int at, int32 iterations, int32 done, bool restart)
{
	open_segments *open = training->segments;
	open_model *model = &open->models[at];

	if (open->closed || model->waits || model->trains || model->halted)
		elog(ERROR, "configuration %d cannot go on", training->configs[at].mst_key);
	if (restart)
	{
		hopper_history_clear(training->histories[at]);
		if (model->rests)
			hopper_hops_forget(&open->driver.hops, &training->configs[at].mst_key, 1, false);
		model->rests = false;
	}
	model->stint = iterations;
	model->done = done;
	model->behind = training->durable ? training->durable[at].stored : 0;
	if (training->durable)
		training->durable[at].written = false;
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

/* It is a step that trains; where all have halted there is nothing to do. */
void
hopper_training_wait(const hopper_training *training, long timeout)
{
	const open_segments *open = training->segments;

	if (open->n_training + open->n_waiting == 0 && open->n_halted > 0)
		hopper_sleep(timeout);
}

/* Nothing is committed before the caller's statement ends, for which all halt. */
void
hopper_training_halt(hopper_training *training, bool all)
{
	open_segments *open = training->segments;

	open->halts = open->halts || all;
}

bool
hopper_training_store(hopper_training *training, const int *which, int n,
					  const hopper_outputs *outputs)
{
	open_segments *open = training->segments;
	hopper_segment_run *run;

	/* Then all are stored. */
	if (open == NULL || open->ended)
		return true;
	run = &open->driver.run;
	run->configs = palloc(n * sizeof(hopper_config));
	run->n_configs = n;
	for (int i = 0; i < n; i++)
		run->configs[i] = training->configs[which[i]];
	hopper_hops_write(&open->driver.hops, &open->driver.hops.rest, &outputs->model,
					  &outputs->state);
	pfree(run->configs);
	run->configs = NULL;
	run->n_configs = 0;
	return true;
}

void
hopper_training_set_iterations(hopper_training *training, int at, int32 more)
{
	training->segments->models[at].stint = more;
}

void
hopper_training_release(hopper_training *training, int at)
{
	open_segments *open = training->segments;

	if (!open->models[at].halted)
		elog(ERROR, "configuration %d has not halted", training->configs[at].mst_key);
	open->models[at].halted = false;
	open->models[at].waits = true;
	open->n_halted--;
	open->n_waiting++;
}

/* The segments keep data and models for a transaction. */
void
hopper_training_leave(hopper_training *training)
{
	open_segments *open = training->segments;

	if (open && !open->ended)
		end(open);
}

/* --- what comes of a hop --- */

/* Its results of all stints together. */
static void
take_result(open_segments *open, int at, const bytea *bytes, int segment)
{
	hopper_training *training = open->driver.training;
	hopper_model_result *result = &training->results[at];
	open_model *model = &open->models[at];

	hopper_read_result(bytes, segment, training->configs[at].mst_key, training->durable != NULL,
					   result);
	training->info.seconds_busy += result->seconds_training + result->seconds_evaluating;
	model->examples = result->examples += model->examples;
	model->seconds_training = result->seconds_training += model->seconds_training;
	model->seconds_evaluating = result->seconds_evaluating += model->seconds_evaluating;
	model->seconds_waiting = result->seconds_waiting += model->seconds_waiting;
	hopper_training_order_metrics(training, at);
}

/* Models whose stints have ended or that halt rest, or have failed. */
static void
park(open_segments *open, const int *ended, int n)
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
		model->rests = training->results[ended[i]].status != HOPPER_MODEL_FAILED;
		model->trains = false;
		open->n_training--;
	}
	if (n_resting > 0)
		hopper_hops_forget(&open->driver.hops, resting, n_resting, false);
	hopper_hops_park(&open->driver.hops, keys, n);
	pfree(keys);
	pfree(resting);
}

/*
 * Reads what the models report of iterations that are complete. Returns how many stints have ended
 * or halt, their places ascending by their keys. *missing: a segment has lost its data.
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

/* The models go to the output tables, if they are not there already; the working tables go. */
static void
finish(open_segments *open)
{
	hopper_training *training = open->driver.training;
	hopper_hops *hops = &open->driver.hops;

	open->driver.run.configs = (hopper_config *) training->configs;
	open->driver.run.n_configs = training->n_configs;
	if (training->durable == NULL)
		hopper_hops_write(hops, &hops->rest, &training->stored->model, &training->stored->state);
	end(open);
}

/* It has halted at the end of an iteration, or before it has trained one. */
static void
halt(open_segments *open, int at)
{
	hopper_training *training = open->driver.training;
	open_model *model = &open->models[at];
	int32		trained = training->results[at].iterations - model->behind;

	if (trained > 0)
	{
		model->stint -= trained;
		model->done += trained;
		model->behind += trained;
	}
	model->halted = true;
	open->n_halted++;
	training->halted(training, at, model->behind);
}

static void
halt_waiting(open_segments *open)
{
	for (int i = 0; i < open->driver.training->n_configs && open->n_waiting > 0; i++)
	{
		if (!open->models[i].waits)
			continue;
		open->models[i].waits = false;
		open->n_waiting--;
		halt(open, i);
	}
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

/* Models move once, and what has come of it is told; `halts`: each halts where it can. */
static void
hop(open_segments *open, bool halts)
{
	hopper_training *training = open->driver.training;
	int		   *ended = palloc(open->n_training * sizeof(int));
	bool		missing;
	int			n;

	hopper_driver_move(&open->driver, halts ? HOPPER_HOP_RESULTS : HOPPER_HOP_NEXT);
	n = collect(open, ended, &missing);
	if (n > 0)
		park(open, ended, n);
	hopper_driver_note_loss(&open->driver, missing);
	if (missing)
		hopper_open_load(open, -1);
	for (int i = 0; i < n; i++)
	{
		hopper_model_status status = training->results[ended[i]].status;

		if (status == HOPPER_MODEL_TRAINING)
			halt(open, ended[i]);
		else
			training->ended(training, ended[i], status == HOPPER_MODEL_FAILED);
	}
	pfree(ended);
}

/* True: all stints have ended, and no other comes. */
static bool
step(open_segments *open)
{
	int			n_waiting = open->n_waiting;
	bool		entered;

	if (open->closed && open->n_training + open->n_waiting + open->n_halted == 0)
	{
		finish(open);
		return true;
	}
	if (tell_failed(open))
		return false;
	if (open->halts)
		halt_waiting(open);
	else
		hopper_open_enter_waiting(open);
	/* A model that has just entered is to train before it halts. */
	entered = open->n_waiting < n_waiting;
	if (open->n_training > 0)
		hop(open, open->halts || (open->driver.training->halts_each && !entered));
	else if (open->n_halted + open->n_waiting == 0)
		elog(ERROR, "no model of \"%s\" trains", open->driver.training->shown);
	open->halts = open->halts && open->n_training > 0;
	return false;
}

bool
hopper_training_step(hopper_training *training, long timeout)
{
	open_segments *open = training->segments;
	int			level = NewGUCNestLevel();
	bool		finished;

	/* As fit.c has it: of a durable run its statement is over. */
	hopper_disable_jit();
	hopper_disable_orca();
	finished = step(open);
	if (training->write)
		training->write(training);
	if (training->durable)
		hopper_hops_free_plans(&open->driver.hops);
	AtEOXact_GUC(true, level);
	return finished;
}
