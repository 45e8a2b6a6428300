/*
 * watch.c
 *		Progress in the server's slots, and the function that reads them.
 */
#include "pg/server/watch.h"

#include "pgstat.h"
#include "utils/tuplestore.h"

#include "pg/server/own_tables.h"

/* The number of our command, which the server's own ones do not reach: "MH". */
#define COMMAND 0x4d48
#define WATCH_INTERVAL_MS 200

/* Places in the slot. */
enum
{
	SLOT_RUN, SLOT_STARTED, SLOT_ITERATIONS, SLOT_ITERATIONS_TOTAL, SLOT_TRIALS,
	SLOT_TRIALS_TRAINING, SLOT_TRIALS_FAILED, SLOT_BEST_TRIAL, SLOT_BEST_VALUE, SLOT_WORK,
	SLOT_THREADS, SLOT_MEMORY
};

static TimestampTz last_watch = 0;
/* It empties the slot with the statement, or with the run that a session drives. */
static hopper_guard *shown = NULL;

bool
hopper_watch_due(void)
{
	return TimestampDifferenceExceeds(last_watch, GetCurrentTimestamp(), WATCH_INTERVAL_MS);
}

static int64
bits_of(double value)
{
	int64		bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void
stop_showing(void *last)
{
	shown = NULL;
	last_watch = 0;
	hopper_slot_clear();
}

void
hopper_watch(const hopper_watched *watched)
{
	int64		values[HOPPER_SLOT_VALUES];

	values[SLOT_RUN] = watched->run;
	values[SLOT_STARTED] = watched->started;
	values[SLOT_ITERATIONS] = watched->iterations;
	values[SLOT_ITERATIONS_TOTAL] = watched->iterations_total;
	values[SLOT_TRIALS] = watched->trials;
	values[SLOT_TRIALS_TRAINING] = watched->trials_training;
	values[SLOT_TRIALS_FAILED] = watched->trials_failed;
	values[SLOT_BEST_TRIAL] = watched->best_trial;
	values[SLOT_BEST_VALUE] = bits_of(watched->best_value);
	values[SLOT_WORK] = bits_of(watched->work);
	values[SLOT_THREADS] = watched->threads;
	values[SLOT_MEMORY] = watched->memory;
	if (shown == NULL)
		shown = hopper_guard_add(&last_watch, stop_showing);
	/* Each time: an aborted subtransaction, COPY and ANALYZE empty the slot. */
	hopper_slot_write(COMMAND, watched->packed, values);
	last_watch = GetCurrentTimestamp();
}

void
hopper_watch_end(void)
{
	if (shown)
		hopper_guard_release(shown);
}

static void
show(const hopper_slot *slot, TupleDesc descriptor, Tuplestorestate *rows)
{
	const int64 *slots = slot->values;
	bool		has_best = slots[SLOT_BEST_TRIAL] != 0;
	double		work;
	double		best;

	memcpy(&work, &slots[SLOT_WORK], sizeof(work));
	memcpy(&best, &slots[SLOT_BEST_VALUE], sizeof(best));
	hopper_put_params(rows, descriptor, HOPPER_PARAMS(
		HOPPER_INT4(slot->pid), HOPPER_OID(slot->role),
		HOPPER_IF(slots[SLOT_RUN] != 0, HOPPER_INT8(slots[SLOT_RUN])), HOPPER_OID(slot->target),
		HOPPER_TIME(slots[SLOT_STARTED]), HOPPER_INT8(slots[SLOT_ITERATIONS]),
		HOPPER_IF(slots[SLOT_ITERATIONS_TOTAL] != 0, HOPPER_INT8(slots[SLOT_ITERATIONS_TOTAL])),
		HOPPER_INT8(slots[SLOT_TRIALS]), HOPPER_INT8(slots[SLOT_TRIALS_TRAINING]),
		HOPPER_INT8(slots[SLOT_TRIALS_FAILED]),
		HOPPER_IF(has_best, HOPPER_INT4((int32) slots[SLOT_BEST_TRIAL])),
		HOPPER_IF(has_best, HOPPER_FLOAT8(best)), HOPPER_IF(work >= 0, HOPPER_FLOAT8(work)),
		HOPPER_INT8(slots[SLOT_THREADS]), HOPPER_INT8(slots[SLOT_MEMORY])));
}

/* Whether the run is shown to the caller though it is another role's. */
static bool
is_granted(int64 run)
{
	Oid			user = GetUserId();
	bool		granted;

	hopper_connect();
	granted = hopper_own_select("SELECT 1 FROM @extschema@.all_run_grants WHERE run = "
								INT64_FORMAT " AND CASE WHEN role = 0 THEN true"
								" ELSE pg_has_role(%u, role, 'USAGE') END", run, user) > 0;
	hopper_finish();
	return granted;
}

/*
 * progress_slots(): what trains now in this database, of roles whose rights the caller has, and of
 * runs that it was granted.
 */
HOPPER_FUNCTION(hopper_sql_progress_slots)
{
	TupleDesc	descriptor;
	Tuplestorestate *rows = hopper_begin_result(fcinfo, &descriptor);
	int			n = hopper_slots();

	for (int i = 0; i < n; i++)
	{
		hopper_slot slot;

		if (hopper_slot_read(i, COMMAND, &slot) && slot.values[SLOT_STARTED] != 0 &&
			slot.database == MyDatabaseId &&
			(has_privs_of_role(GetUserId(), slot.role) ||
			 (slot.values[SLOT_RUN] != 0 && is_granted(slot.values[SLOT_RUN]))))
			show(&slot, descriptor, rows);
	}
	return (Datum) 0;
}
