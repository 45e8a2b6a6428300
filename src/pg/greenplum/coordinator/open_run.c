/*
 * open_run.c
 *		The driver of a run on the segments that configurations enter and leave between hops.
 *
 * One statement moves everybody who trains to the segment of its next partition, each on its own
 * course and none by more than an iteration, so that nobody waits for a longer way than one hop.
 * A model rests in a table on the segments (open_hops.c) when its stint has ended, or goes into the
 * output tables where no stint follows; others take its place before the next hop. Where all are to
 * halt, each rests so at the end of its iteration, as if its stint had ended, and a durable run
 * stores what rests. The data stay where they are. A model without room beside them and the others
 * waits until there is some; where there is none though nobody trains, the data are loaded again,
 * into what is left by the one that waits for it. Where all models are known at the beginning they
 * enter together, and those without room wait on their segments.
 */
#include "pg/greenplum/coordinator/open_run.h"

#include "pg/train/outputs.h"

#define MAX_RELOADS 3

/* The time that the run took is known. */
static void
settle(open_segments *open)
{
	hopper_training *training = open->training;

	hopper_segment_timeline_settle(&open->timeline);
	/* as on one server: without reading the data */
	training->info.seconds_wall = hopper_seconds_since(open->started) - training->seconds_reading;
	open->settled = true;
}

/* The states of `n` configurations, where the outputs have some, rest from now on. */
static void
take_stored(open_segments *open, int first, int n)
{
	const hopper_training *training = open->training;
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
		hopper_hops_take_stored(&open->hops, &training->stored->state, keys, n_stored);
	pfree(keys);
}

static void
write_models(open_segments *open, const hopper_name *from, const int *which, int n)
{
	const hopper_outputs *outputs = open->training->stored;
	hopper_config *configs = palloc(Max(n, 1) * sizeof(hopper_config));

	for (int i = 0; i < n; i++)
		configs[i] = open->training->configs[which[i]];
	hopper_hops_write(&open->hops, from, configs, n, &outputs->model, &outputs->state);
	pfree(configs);
}

/* --- what its caller calls --- */

static void
begin(hopper_training *training)
{
	open_segments *open = palloc0(sizeof(open_segments));

	hopper_training_open(training);
	hopper_training_allocate(training);
	training->n_failed = 0;
	training->segments = open;
	hopper_grow(open->models, training->n_configs, open->allocated);
	hopper_open_set_up(open, training, &training->stored->model);
	open->context = CurrentMemoryContext;
	take_stored(open, 0, training->n_configs);
}

static void
tell_idle(const hopper_training *training)
{
	int			n_segments = hopper_open_segments(training->segments);

	if (training->n_configs < n_segments)
		ereport(NOTICE,
				errmsg("%s \"%s\": %d of %d segments with data are idle at any time, as there are "
					   "only %s", training->function, training->shown,
					   n_segments - training->n_configs, n_segments,
					   hopper_plural(training->n_configs, "configuration", "configurations")));
}

/* The first step loads the data, for who is to train then. */
static void
start(hopper_training *training)
{
	if (hopper_training_is_whole(training))
		tell_idle(training);
}

/* Whether it fits is seen when it is to train. */
static int
enter(hopper_training *training, const hopper_config *config, hopper_history *history)
{
	open_segments *open = training->segments;
	int			at = hopper_training_add(training, config, history);

	hopper_grow(open->models, training->n_configs, open->allocated);
	take_stored(open, at, 1);
	return at;
}

static void
go_on(hopper_training *training, int at, int32 iterations, int32 done, bool restart)
{
	open_segments *open = training->segments;
	open_model *model = &open->models[at];

	if (open->closed || model->waits || model->trains || model->halted)
		elog(ERROR, "configuration %d cannot go on", training->configs[at].mst_key);
	if (restart)
	{
		hopper_history_clear(training->histories[at]);
		if (model->rests)
			hopper_hops_forget(&open->hops, &training->configs[at].mst_key, 1, false);
		model->rests = false;
	}
	model->stint = iterations;
	model->done = done;
	model->behind = training->saved[at].stored;
	training->saved[at].written = false;
	model->waits = true;
	open->n_waiting++;
}

static void
drop_state(hopper_training *training, int at)
{
	open_segments *open = training->segments;

	if (open->models[at].rests)
		hopper_hops_forget(&open->hops, &training->configs[at].mst_key, 1, true);
}

static void
close_training(hopper_training *training)
{
	training->segments->closed = true;
}

/* It is a step that trains; where all have halted there is nothing to do. */
static void
wait_for_step(const hopper_training *training, long timeout)
{
	const open_segments *open = training->segments;

	if (open->n_training + open->n_waiting == 0 && open->n_halted > 0)
		hopper_sleep(timeout);
}

/* Nothing is committed before the caller's statement ends, for which all halt. */
static void
ask_to_halt(hopper_training *training, bool all)
{
	open_segments *open = training->segments;

	open->halts = open->halts || all;
}

static bool
store(hopper_training *training, const int *which, int n)
{
	open_segments *open = training->segments;
	int		   *resting = palloc(Max(n, 1) * sizeof(int));
	int			n_resting = 0;

	/* What does not rest was stored when it left the way. */
	for (int i = 0; i < n && open && !open->ended; i++)
		if (open->models[which[i]].rests)
			resting[n_resting++] = which[i];
	if (n_resting > 0)
		write_models(open, &open->hops.rest, resting, n_resting);
	pfree(resting);
	return true;
}

static void
set_iterations(hopper_training *training, int at, int32 more)
{
	training->segments->models[at].stint = more;
}

static void
release(hopper_training *training, int at)
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
static void
leave(hopper_training *training)
{
	open_segments *open = training->segments;

	if (open == NULL || open->ended)
		return;
	if (!open->settled)
		settle(open);
	hopper_hops_end(&open->hops);
	open->ended = true;
}

/* --- what comes of a hop --- */

/* Models whose stints have ended or that halt leave the way, or have failed. */
static void
park(open_segments *open, const int *ended, int n)
{
	hopper_training *training = open->training;
	hopper_hops *hops = &open->hops;
	/* Of a search that has closed, too: states of trials that are stopped are dropped. */
	bool		stay = !hopper_training_is_whole(training);
	int32	   *keys = palloc(n * sizeof(int32));
	int32	   *resting = palloc(n * sizeof(int32));
	int			n_resting = 0;

	for (int i = 0; i < n; i++)
	{
		open_model *model = &open->models[ended[i]];

		keys[i] = training->configs[ended[i]].mst_key;
		if (model->rests)
			resting[n_resting++] = keys[i];
		model->rests = stay && training->results[ended[i]].status != HOPPER_MODEL_FAILED;
		model->trains = false;
		open->n_training--;
	}
	if (stay && n_resting > 0)
		hopper_hops_forget(hops, resting, n_resting, false);
	if (!stay)
		write_models(open, &hops->tables[hops->at], ended, n);
	/* The table goes where nobody is on the way. */
	if (stay || open->n_training > 0)
		hopper_hops_park(hops, keys, n, stay);
	pfree(keys);
	pfree(resting);
}

/* It has halted at the end of an iteration, or before it has trained one. */
static void
halt(open_segments *open, int at)
{
	hopper_training *training = open->training;
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
	for (int i = 0; i < open->training->n_configs && open->n_waiting > 0; i++)
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
	hopper_training *training = open->training;
	bool		any = false;

	for (int i = 0; i < training->n_configs; i++)
	{
		if (!open->models[i].waits || training->results[i].status != HOPPER_MODEL_FAILED)
			continue;
		open->models[i].waits = false;
		open->n_waiting--;
		if (training->ended)
			training->ended(training, i, true);
		any = true;
	}
	return any;
}

/*
 * Whether a segment had lost its data in the last statement. Each load begins anew on all segments,
 * so that a statement without a loss gets the models on: what counts is losses one after the other.
 */
static void
note_loss(open_segments *open, bool lost)
{
	open->reloads = lost ? open->reloads + 1 : 0;
	if (open->reloads > MAX_RELOADS)
		hopper_unmet(errmsg("segments lose the data of \"%s\" again and again",
							open->training->shown));
}

/*
 * Models move once, and what has come of it is told; `halts`: each halts where it can. Those that
 * need not move begin iterations for so many milliseconds.
 */
static void
hop(open_segments *open, bool halts, int32 milliseconds)
{
	hopper_training *training = open->training;
	int		   *ended = palloc(open->n_training * sizeof(int));
	TimestampTz then = GetCurrentTimestamp();
	uint64		n_rows = hopper_hops_move(&open->hops, halts, milliseconds);
	bool		missing;
	int			n;

	hopper_segment_timeline_statement(&open->timeline, then);
	n = hopper_open_collect(open, n_rows, ended, &missing);
	if (n < open->n_training)
		hopper_hops_put_told(&open->hops);
	if (n > 0)
		park(open, ended, n);
	note_loss(open, missing);
	if (missing)
		hopper_open_load(open, -1);
	for (int i = 0; i < n; i++)
	{
		hopper_model_status status = training->results[ended[i]].status;

		if (status == HOPPER_MODEL_TRAINING)
			halt(open, ended[i]);
		else if (training->ended)
			training->ended(training, ended[i], status == HOPPER_MODEL_FAILED);
	}
	pfree(ended);
}

/* How long a hop may go on, in ms, for a step with this timeout. */
static int32
patience(long timeout)
{
	return timeout < 0 ? HOPPER_HOP_MILLISECONDS : (int32) Min(timeout, HOPPER_HOP_MILLISECONDS);
}

/* True: all stints have ended, and no other comes. */
static bool
step(open_segments *open, long timeout)
{
	int			n_waiting = open->n_waiting;
	bool		entered;

	if (open->closed && open->n_training + open->n_waiting + open->n_halted == 0)
	{
		settle(open);
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
		hop(open, open->halts || (open->training->halts_each && !entered),
			open->closed ? patience(timeout) : 0);
	else if (open->n_halted + open->n_waiting == 0)
		elog(ERROR, "no model of \"%s\" trains", open->training->shown);
	open->halts = open->halts && open->n_training > 0;
	return false;
}

static void
step_context(void *arg)
{
	const open_segments *open = arg;

	if (open->hops.n_statements > 0)
		errcontext("hop %d, with %s", open->hops.n_statements,
				   hopper_open_travelling(open));
}

static bool
step_in_context(hopper_training *training, long timeout)
{
	open_segments *open = training->segments;
	ErrorContextCallback context = {error_context_stack, step_context, open};
	int			level = NewGUCNestLevel();
	bool		finished;

	/* As fit.c has it: of a durable run its statement is over. */
	hopper_disable_jit();
	hopper_disable_orca();
	error_context_stack = &context;
	finished = step(open, timeout);
	error_context_stack = context.previous;
	if (training->write)
		training->write(training);
	if (training->commits)
		hopper_hops_free_plans(&open->hops);
	AtEOXact_GUC(true, level);
	return finished;
}

static void
end_iterations(hopper_training *training)
{
}

/* A segment has the data of one training. */
static int64
needs(const hopper_training *training)
{
	return -1;
}

const struct hopper_training_backend hopper_training_on_segments = {
	.needs = needs,
	.begin = begin,
	.start = start,
	.enter = enter,
	.go_on = go_on,
	.drop_state = drop_state,
	.wait = wait_for_step,
	.step = step_in_context,
	.close = close_training,
	.end_iterations = end_iterations,
	.halt = ask_to_halt,
	.store = store,
	.set_iterations = set_iterations,
	.release = release,
	.leave = leave,
};
