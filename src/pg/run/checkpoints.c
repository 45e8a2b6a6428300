/*
 * checkpoints.c
 *		What trials of a run have come to goes into its tables: of all that have halted or ended
 *		since the last time together, as they may be thousands.
 */
#include "pg/run/driver_state.h"

#include "portability/instr_time.h"


/* So many are written, even if more are to come at once: what has halted waits for that. */
#define MOST_AT_ONCE 1000

static void
note_written(int n, instr_time start)
{
	instr_time	end;

	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	hopper_driven->spent += INSTR_TIME_GET_DOUBLE(end);
	hopper_driven->n_written += n;
	hopper_driven->uncommitted = true;
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
	if (training->saved[at].target == target)
		return;
	hopper_backend.training->set_iterations(training, at, Max(target - iteration, 1));
	training->saved[at].target = target;
	hopper_store_steered(hopper_driven->run, trial, iteration, Max(target, iteration + 1));
}

void
hopper_driver_note_halted(hopper_training *training, int at, int32 iteration)
{
	hopper_saved *saved = &training->saved[at];

	saved->halts = true;
	saved->halted_in = iteration;
	if (++hopper_driven->n_halted >= MOST_AT_ONCE)
		hopper_driver_write(training);
}

/* One that fails may be told of twice: it is written anew then. */
void
hopper_driver_note_ended(hopper_training *training, int at, bool failed)
{
	training->saved[at].ends = true;
	if (++hopper_driven->n_ended >= MOST_AT_ONCE)
		hopper_driver_write(training);
}

/* Others wait on segments for who has written there: then it is at the end of the slice. */
static void
write_trials(hopper_training *training, const int *which, int n, bool retold)
{
	if (!HOPPER_DATA_ON_SEGMENTS)
	{
		if (retold)
			hopper_store_replace_metrics(hopper_driven->run, training, which, n);
		hopper_store_trials(hopper_driven->run, training, which, n, false);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		hopper_saved *saved = &training->saved[which[i]];

		saved->due = true;
		saved->retold = saved->retold || retold;
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
			if (retold ? training->saved[i].retold : training->saved[i].due)
				which[n++] = i;
		if (n > 0 && retold)
			hopper_store_replace_metrics(hopper_driven->run, training, which, n);
		else if (n > 0)
			hopper_store_trials(hopper_driven->run, training, which, n, false);
		for (int i = 0; i < n; i++)
		{
			training->saved[which[i]].retold = false;
			training->saved[which[i]].due = retold;
		}
	}
	pfree(which);
}

static void
write_halted(hopper_training *training)
{
	int		   *which = palloc(training->n_configs * sizeof(int));
	int			n = 0;
	instr_time	start;

	hopper_driven->n_halted = 0;
	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < training->n_configs; i++)
		if (training->saved[i].halts && training->saved[i].halted_in > training->saved[i].stored)
			which[n++] = i;
	if (n > 0)
	{
		hopper_outputs_write_checkpoints(training, which, n);
		for (int i = 0; i < n; i++)
			training->saved[which[i]].stored = training->saved[which[i]].halted_in;
		write_trials(training, which, n, false);
		note_written(n, start);
	}
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_saved *saved = &training->saved[i];

		if (!saved->halts)
			continue;
		steer(training, i, saved->halted_in);
		saved->halts = false;
		saved->halted = hopper_driven->halts;
		if (!hopper_driven->halts)
			hopper_backend.training->release(training, i);
	}
	pfree(which);
}

static void
write_ended(hopper_training *training)
{
	int		   *which = palloc(training->n_configs * sizeof(int));
	int			n = 0;
	instr_time	start;

	hopper_driven->n_ended = 0;
	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < training->n_configs; i++)
	{
		if (training->saved[i].ends)
			which[n++] = i;
		training->saved[i].ends = false;
	}
	hopper_outputs_write_ended(training, which, n);
	write_trials(training, which, n, true);
	note_written(n, start);
	for (int i = 0; i < n && hopper_driven->pool; i++)
		hopper_pool_ended(hopper_driven->pool, which[i]);
	pfree(which);
}

void
hopper_driver_write(hopper_training *training)
{
	if (hopper_driven->n_halted > 0 || hopper_driven->n_ended > 0)
		hopper_run_require_tables(&hopper_driven->row, true);
	if (hopper_driven->n_halted > 0)
		write_halted(training);
	if (hopper_driven->n_ended > 0)
		write_ended(training);
}
