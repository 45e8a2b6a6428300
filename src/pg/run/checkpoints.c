/*
 * checkpoints.c
 *		What trials of a run have come to goes into its tables: of all that have halted or ended
 *		since the last time together, as they may be thousands.
 */
#include "pg/run/driver_state.h"

#include "portability/instr_time.h"

#include "pg/run/tables.h"

/* So many are written, even if more are to come at once: what has halted waits for that. */
#define MOST_AT_ONCE 1000

static void
note_cost(instr_time start)
{
	instr_time	end;

	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	hopper_driven->spent += INSTR_TIME_GET_DOUBLE(end);
}

/* One that has halted trains to what others want now. */
static void
steer(hopper_training *training, int at, int32 iteration)
{
	int32		trial = training->configs[at].mst_key;
	int32		target;

	if (hopper_driven->pool)
	{
		hopper_pool_steer(hopper_driven->pool, at, iteration);
		return;
	}
	target = hopper_driver_target(hopper_driven->fit, trial);
	if (training->durable[at].target == target)
		return;
	hopper_backend.training->set_iterations(training, at, Max(target - iteration, 1));
	training->durable[at].target = target;
	hopper_store_steered(hopper_driven->run, trial, iteration, Max(target, iteration + 1));
}

static void
add(hopper_unwritten *list, hopper_training *training, int at, int32 iteration)
{
	MemoryContext caller = MemoryContextSwitchTo(hopper_driven->context);

	hopper_grow(list->trials, list->n + 1, list->allocated);
	MemoryContextSwitchTo(caller);
	list->trials[list->n].at = at;
	list->trials[list->n++].iteration = iteration;
	if (list->n >= MOST_AT_ONCE)
		hopper_driver_write(training);
}

void
hopper_driver_note_halted(hopper_training *training, int at, int32 iteration)
{
	add(&hopper_driven->halted, training, at, iteration);
}

void
hopper_driver_note_ended(hopper_training *training, int at, bool failed)
{
	if (!training->durable[at].written)
		add(&hopper_driven->ended, training, at, 0);
}

/* The list in the caller's memory; it is empty then. */
static int
take(hopper_unwritten *list, hopper_unwritten_trial **trials)
{
	int			n = list->n;

	*trials = palloc(Max(n, 1) * sizeof(hopper_unwritten_trial));
	if (n > 0)
		memcpy(*trials, list->trials, n * sizeof(hopper_unwritten_trial));
	list->n = 0;
	return n;
}

/* Others wait on segments for who has written there: then it is at the end of the slice. */
static void
write_trials(hopper_training *training, const int *which, int n, bool retold)
{
	if (!HOPPER_DATA_ON_SEGMENTS)
	{
		if (retold)
			hopper_store_replace_metrics(hopper_driven->run, training, which, n);
		hopper_store_trials(hopper_driven->run, training, which, n);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		hopper_durable *durable = &training->durable[which[i]];

		durable->due = true;
		durable->retold = durable->retold || retold;
	}
}

void
hopper_driver_note_seen(hopper_training *training, int at)
{
	write_trials(training, &at, 1, false);
}

void
hopper_driver_write_due(hopper_training *training)
{
	int		   *which = palloc(Max(training->n_configs, 1) * sizeof(int));

	for (int retold = 1; retold >= 0; retold--)
	{
		int			n = 0;

		for (int i = 0; i < training->n_configs; i++)
			if (retold ? training->durable[i].retold : training->durable[i].due)
				which[n++] = i;
		if (n > 0 && retold)
			hopper_store_replace_metrics(hopper_driven->run, training, which, n);
		else if (n > 0)
			hopper_store_trials(hopper_driven->run, training, which, n);
		for (int i = 0; i < n; i++)
		{
			training->durable[which[i]].retold = false;
			training->durable[which[i]].due = retold;
		}
	}
	pfree(which);
}

static void
write_halted(hopper_training *training)
{
	hopper_unwritten_trial *trials;
	int			n = take(&hopper_driven->halted, &trials);
	int		   *which = palloc(Max(n, 1) * sizeof(int));
	int			n_written = 0;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < n; i++)
		if (trials[i].iteration > training->durable[trials[i].at].stored)
			which[n_written++] = trials[i].at;
	if (n_written > 0)
	{
		hopper_outputs_write_checkpoints(&hopper_driven->fit->staging, training, which, n_written);
		for (int i = 0; i < n; i++)
			training->durable[trials[i].at].stored = Max(training->durable[trials[i].at].stored,
														 trials[i].iteration);
		write_trials(training, which, n_written, false);
		hopper_driven->n_written += n_written;
		hopper_driven->uncommitted = true;
		note_cost(start);
	}
	for (int i = 0; i < n; i++)
	{
		int			at = trials[i].at;

		steer(training, at, trials[i].iteration);
		training->durable[at].halted = hopper_driven->halts;
		if (!hopper_driven->halts)
			hopper_backend.training->release(training, at);
	}
	pfree(which);
	pfree(trials);
}

static void
write_ended(hopper_training *training)
{
	hopper_unwritten_trial *trials;
	int			n = take(&hopper_driven->ended, &trials);
	int		   *which = palloc(Max(n, 1) * sizeof(int));
	int			n_written = 0;
	instr_time	start;

	/* One that fails may be told of twice. */
	for (int i = 0; i < n; i++)
	{
		if (training->durable[trials[i].at].written)
			continue;
		training->durable[trials[i].at].written = true;
		which[n_written++] = trials[i].at;
	}
	if (n_written > 0)
	{
		INSTR_TIME_SET_CURRENT(start);
		hopper_outputs_write_ended(&hopper_driven->fit->staging, training, which, n_written);
		write_trials(training, which, n_written, true);
		hopper_driven->n_written += n_written;
		hopper_driven->uncommitted = true;
		note_cost(start);
	}
	for (int i = 0; i < n_written && hopper_driven->pool; i++)
		hopper_pool_ended(hopper_driven->pool, which[i]);
	pfree(which);
	pfree(trials);
}

void
hopper_driver_write(hopper_training *training)
{
	if (hopper_driven->halted.n > 0 || hopper_driven->ended.n > 0)
		hopper_run_require_tables(&hopper_driven->row, true);
	if (hopper_driven->halted.n > 0)
		write_halted(training);
	if (hopper_driven->ended.n > 0)
		write_ended(training);
}
