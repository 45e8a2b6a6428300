/*
 * functions.c
 *		Runs in SQL: create_run(), submit(), step(), wait(), pause(), resume(), cancel(),
 *		drop_run() and expire_runs().
 */
#include "pg/run/driver.h"

#include "storage/proc.h"
#include "utils/fmgroids.h"

#include "pg/run/lease.h"
#include "pg/server/ceilings.h"
#include "pg/server/own_tables.h"

static char *
statement_argument(FunctionCallInfo fcinfo)
{
	hopper_require_argument(fcinfo, 0, "statement");
	return hopper_string_argument(fcinfo, 0);
}

int64
hopper_run_argument(FunctionCallInfo fcinfo)
{
	hopper_require_argument(fcinfo, 0, "run");
	return PG_GETARG_INT64(0);
}

/* create_run(statement) -> its number */
HOPPER_SPI_FUNCTION(hopper_sql_create_run)
{
	PG_RETURN_INT64(hopper_driver_create(statement_argument(fcinfo)));
}

/* submit(statement) -> its number */
HOPPER_SPI_FUNCTION(hopper_sql_submit)
{
	hopper_run_row row;
	int64		run;

	run = hopper_driver_create(statement_argument(fcinfo));
	hopper_store_read(run, true, &row);
	hopper_backend.start_worker(&row);
	hopper_store_queued(run, "submitted", NULL);
	PG_RETURN_INT64(run);
}

const char *
hopper_driver_state_words(hopper_driver_state state)
{
	static const char *const words[] = {
		[HOPPER_DRIVER_TRAINS] = "running",[HOPPER_DRIVER_PAUSED] = "paused",
		[HOPPER_DRIVER_CANCELLED] = "cancelled",[HOPPER_DRIVER_FAILED] = "failed",
		[HOPPER_DRIVER_DONE] = "done"
	};

	return words[state];
}

/*
 * Of a step of no time: trials that have not begun an iteration by then do not train. On segments a
 * step has begun all that there is room for.
 */
#define SECONDS_TO_BEGIN (HOPPER_DATA_ON_SEGMENTS ? 0 : 1)

/* The second argument; `otherwise` where it is NULL. ERROR 22023 for NaN, which no time reaches. */
static double
seconds_argument(FunctionCallInfo fcinfo, double otherwise)
{
	double		seconds = PG_ARGISNULL(1) ? otherwise : PG_GETARG_FLOAT8(1);

	if (isnan(seconds))
		hopper_wrong(errmsg("seconds must be a number, got NaN"));
	return seconds;
}

/*
 * step(run, seconds) -> state: trains for so long, and then to the end of each trial's iteration; 0
 * seconds: for one iteration of each. The end of the statement commits all that was trained, which
 * a timeout would take back: half of its time is for the iterations' end.
 */
HOPPER_FUNCTION(hopper_sql_step)
{
	int64		run = hopper_run_argument(fcinfo);
	double		seconds = seconds_argument(fcinfo, 10);
	TimestampTz start = GetCurrentTimestamp();
	hopper_driver_state state = HOPPER_DRIVER_TRAINS;
	bool		once = seconds <= 0;
	double		left;

	seconds = once ? SECONDS_TO_BEGIN : Min(seconds, hopper_seconds_to_timeout() / 2);
	left = seconds;
	hopper_driver_open(run, once);
	if (!HOPPER_DATA_ON_SEGMENTS)
		(void) hopper_driver_compact();
	for (;;)
	{
		if (!hopper_driver_has(run))
			hopper_driver_open(run, once);
		hopper_driver_wait(left > 0 ? left : 1);
		state = hopper_driver_step();
		left = seconds - hopper_seconds_since(start);
		if (state != HOPPER_DRIVER_TRAINS || hopper_driver_refuses() ||
			((once || left <= 0) && hopper_driver_has_halted()))
			break;
		if (left <= 0)
			hopper_driver_halt();
	}
	hopper_driver_end_transaction();
	PG_RETURN_TEXT_P(cstring_to_text(hopper_driver_state_words(state)));
}

/* The state as hopper.runs has it. */
static char *
state_in_view(int64 run)
{
	char	   *state = hopper_text(hopper_select_latest("SELECT state FROM %s WHERE run = "
														  INT64_FORMAT, hopper_own_name("runs"),
														  run));

	if (state == NULL)
		hopper_raise(ERRCODE_UNDEFINED_OBJECT, errmsg("there is no run " INT64_FORMAT, run),
					 errhint("See SELECT run, state, model_table FROM hopper.runs;"));
	return state;
}

/*
 * Locks are read after the snapshot is taken: of a driver that commits in between, the lock is gone
 * and the commit not seen. A second look sees it.
 */
static char *
state_of(int64 run)
{
	char	   *state = state_in_view(run);

	return strcmp(state, "running") == 0 ? state : state_in_view(run);
}

static bool
goes_on(const char *state)
{
	return strcmp(state, "running") == 0 || strcmp(state, "waiting") == 0;
}

/* No other process sees a run before the transaction that made it has ended. */
static void
refuse_own(int64 run)
{
	int64		writer = InvalidTransactionId;

	/* Segments have transaction ids of their own; and nothing waits there for a worker. */
	if (HOPPER_DATA_ON_SEGMENTS)
		return;
	if (hopper_own_select("SELECT xmin::text::bigint FROM @extschema@.all_runs WHERE run = "
						  INT64_FORMAT, run) == 1)
		writer = hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX);
	if (TransactionIdIsCurrentTransactionId((TransactionId) writer))
		hopper_unmet(errmsg("run " INT64_FORMAT " waits for the end of this transaction", run),
					 errhint("Call wait() in a statement of its own, after COMMIT."));
}

/*
 * After a start of the server the launcher takes up what a worker was training, or was to. It is
 * not waited for longer than that can take: a server may have no place for it.
 */
#define SECONDS_TO_BE_TAKEN_UP 60

/* Of an interrupted run. */
static bool
may_be_taken_up(int64 run)
{
	return hopper_any(hopper_own_select("SELECT FROM @extschema@.all_runs WHERE run = " INT64_FORMAT
										" AND queued IS NOT NULL", run));
}

#define LOOK_MS 100

/* wait(run, seconds) -> state: until the run ends, pauses or is interrupted. */
HOPPER_FUNCTION(hopper_sql_wait)
{
	int64		run = hopper_run_argument(fcinfo);
	double		seconds = seconds_argument(fcinfo, INFINITY);
	TimestampTz start = GetCurrentTimestamp();
	char	   *state;
	bool		waits;

	for (;;)
	{
		/* Before the state: one that is read later is as the launcher has left it. */
		bool		seeks = hopper_looks_for_runs() &&
			hopper_seconds_since(start) < SECONDS_TO_BE_TAKEN_UP;

		hopper_connect();
		state = MemoryContextStrdup(fcinfo->flinfo->fn_mcxt, state_of(run));
		waits = goes_on(state);
		if (waits)
			refuse_own(run);
		else if (strcmp(state, "interrupted") == 0 && seeks)
			waits = may_be_taken_up(run);
		hopper_finish();
		if (!waits || hopper_seconds_since(start) >= seconds)
			break;
		hopper_sleep(LOOK_MS);
	}
	PG_RETURN_TEXT_P(cstring_to_text(state));
}

/* ERROR 55000 where it has ended; `resumes`: but for one that failed. */
static void
read_unended(int64 run, bool lock, bool resumes, hopper_run_row *row)
{
	hopper_store_read_steered(run, lock, row);
	if (row->outcome == NULL || (resumes && strcmp(row->outcome, "failed") == 0))
		return;
	hopper_unmet(errmsg("run " INT64_FORMAT " is %s", run, row->outcome));
}

/* Its driver, or the next one, reads the event. */
HOPPER_SPI_FUNCTION(hopper_sql_pause)
{
	int64		run = hopper_run_argument(fcinfo);
	hopper_run_row row;

	read_unended(run, false, false, &row);
	hopper_wishes_hold(run);
	read_unended(run, false, false, &row);
	if (hopper_store_wish(run) == HOPPER_WISH_PAUSE)
		ereport(NOTICE, errmsg("run " INT64_FORMAT " is paused already", run));
	else
		hopper_store_event(run, "pause", 0, NULL);
	PG_RETURN_VOID();
}

HOPPER_SPI_FUNCTION(hopper_sql_resume)
{
	int64		run = hopper_run_argument(fcinfo);
	hopper_run_row row;
	int			pid;

	read_unended(run, false, true, &row);
	if (hopper_driver_has(run))
		hopper_driver_leave();
	pid = hopper_lease_holder(run);
	/* A step of this very transaction may have closed it. */
	if (pid != 0 && pid != MyProcPid)
		hopper_lease_refuse(run, pid);
	read_unended(run, true, true, &row);
	if (HOPPER_DATA_ON_SEGMENTS)
	{
		if (row.outcome)
			hopper_store_reopen(run);
		hopper_store_event(run, "resumed", 0, NULL);
		ereport(NOTICE, errmsg("run " INT64_FORMAT " goes on with the next hopper.step("
							   INT64_FORMAT ")", run, run));
	}
	else
	{
		hopper_store_queued(run, "resumed", hopper_settings_text());
		hopper_backend.start_worker(&row);
	}
	PG_RETURN_VOID();
}

void
hopper_run_cancel(const hopper_run_row *row)
{
	hopper_run_drop_tables(row);
	hopper_run_close(row, NULL);
	hopper_store_set_tables(row->run, NULL, NULL);
	hopper_store_ended(row->run, "cancelled", NULL, NULL);
}

/*
 * Whether a worker cancels it, with the rights of its role: tables of a role whose rights the
 * session has not, or what the run closes with. For a role without LOGIN none starts.
 */
static bool
needs_worker(const hopper_run_row *row)
{
	if (!has_privs_of_role(GetUserId(), row->role))
		return true;
	return row->closing && row->role != GetUserId() && !HOPPER_DATA_ON_SEGMENTS &&
		(HOPPER_BYPASS_LOGIN != 0 ||
		 hopper_any(hopper_select("SELECT FROM pg_roles WHERE oid = %u AND rolcanlogin",
								  row->role)));
}

HOPPER_SPI_FUNCTION(hopper_sql_cancel)
{
	int64		run = hopper_run_argument(fcinfo);
	hopper_run_row row;

	read_unended(run, false, true, &row);
	if (hopper_driver_has(run))
		hopper_driver_leave();
	hopper_wishes_hold(run);
	read_unended(run, false, true, &row);
	hopper_store_event(run, "cancel", 0, NULL);
	if (hopper_lease_try(run) == 0)
	{
		read_unended(run, true, true, &row);
		if (!needs_worker(&row))
			hopper_run_cancel(&row);
		else if (!HOPPER_DATA_ON_SEGMENTS)
			hopper_backend.start_worker(&row);
	}
	PG_RETURN_VOID();
}

static bool
is_final(const hopper_run_row *row)
{
	return row->outcome && strcmp(row->outcome, "failed") != 0;
}

/* `expires`: only where it has ended; false: then it has not, or there is none any more. */
static bool
read_dropped(int64 run, bool lock, bool expires, hopper_run_row *row)
{
	if (expires)
		return hopper_store_find(run, lock, row) && row->outcome != NULL;
	hopper_store_read(run, lock, row);
	return true;
}

/*
 * Published models are the user's: they stay. `expires`: only where it has ended, and another
 * session has not dropped it or goes on with it meanwhile; whether it was dropped.
 */
static bool
drop_run(int64 run, bool expires)
{
	hopper_run_row row;
	bool		drives;
	int			pid;

	if (!read_dropped(run, false, expires, &row))
		return false;
	if (hopper_driver_has(run))
		hopper_driver_leave();
	/* Nobody drives it again once it is done or cancelled: who has the lease then drops it. */
	drives = !is_final(&row);
	/*
	 * A session that has just resumed it is waited for without the lease: the worker that starts
	 * with its commit leaves where somebody has that.
	 */
	if (drives && expires &&
		(hopper_lease_holder(run) != 0 || !read_dropped(run, true, expires, &row)))
		return false;
	pid = drives ? hopper_lease_try(run) : 0;
	if (pid != 0 && expires)
		return false;
	if (pid != 0)
		hopper_lease_refuse(run, pid);
	if (!read_dropped(run, true, expires, &row))
	{
		if (drives)
			hopper_lease_give_back(run, false);
		return false;
	}
	/* cancel() has done so. */
	if (!is_final(&row))
	{
		hopper_run_drop_tables(&row);
		hopper_run_close(&row, NULL);
	}
	hopper_store_drop(run);
	if (drives)
		hopper_lease_give_back(run, false);
	return true;
}

HOPPER_SPI_FUNCTION(hopper_sql_drop_run)
{
	int64		run = hopper_run_argument(fcinfo);

	(void) drop_run(run, false);
	PG_RETURN_VOID();
}

/*
 * publish(run, new_name, replace) -> number of models: what a run has reached as models of their
 * own. A search's own tables say nothing before its end.
 * Restricted, as a step is: whoever has taken the role of the run lends its functions nothing.
 */
HOPPER_SPI_FUNCTION(hopper_sql_publish)
{
	int64		run = hopper_run_argument(fcinfo);
	hopper_run_row row;
	hopper_name name;
	hopper_outputs outputs;
	hopper_table searched[HOPPER_SEARCH_TABLES];
	hopper_restricted before;
	int64		n;

	hopper_store_read(run, false, &row);
	name = hopper_name_argument(fcinfo, 1, "new_name");
	before = hopper_restrict(GetUserId());
	if (row.tables == NULL)
		hopper_unmet(errmsg("run " INT64_FORMAT " has no models", run));
	hopper_run_open_tables(&row, false, &outputs, NULL);
	if (hopper_select_latest("SELECT 1 FROM %s LIMIT 1", outputs.model.quoted) == 0)
		hopper_unmet(errmsg("run " INT64_FORMAT " has no checkpoint yet", run),
					 errhint("It writes one every hopper.checkpoint_interval."));
	n = hopper_number(NULL, hopper_select_latest(
		"SELECT %s(%s, %s, NULL, %s)", hopper_own_name("copy_model"), hopper_literal(row.tables),
		hopper_literal(hopper_written_name(&name)),
		!PG_ARGISNULL(2) && PG_GETARG_BOOL(2) ? "true" : "false"));
	if (row.outcome == NULL || strcmp(row.outcome, "done") != 0)
		(void) hopper_drop_tables(searched, hopper_search_tables(&name, searched), NULL);
	hopper_unrestrict(&before);
	hopper_store_event(run, "published", 0, name.shown);
	PG_RETURN_INT64(n);
}

/* expire_runs(older_than) -> how many of the caller's ended runs were dropped */
HOPPER_SPI_FUNCTION(hopper_sql_expire_runs)
{
	Interval	none = {0};
	char	   *older;
	uint64		n;
	int64	   *runs;
	int32		n_dropped = 0;

	hopper_require_argument(fcinfo, 0, "older_than");
	/* All that has ended would be older. */
	if (DatumGetBool(DirectFunctionCall2(interval_lt, PG_GETARG_DATUM(0),
										 PointerGetDatum(&none))))
		hopper_wrong(errmsg("older_than must not be negative"));
	older = OidOutputFunctionCall(F_INTERVAL_OUT, PG_GETARG_DATUM(0));
	/* Not those that others let the caller see, which it may not drop. */
	n = hopper_own_select("SELECT run FROM @extschema@.all_runs"
						  " WHERE ended < clock_timestamp() - %s::interval AND pg_has_role(%u,"
						  " role, 'USAGE') ORDER BY run", hopper_literal(older), GetUserId());
	runs = palloc(Max(n, 1) * sizeof(int64));
	for (uint64 row = 0; row < n; row++)
		runs[row] = hopper_int_cell(NULL, row, 1, 0, PG_INT64_MAX);
	for (uint64 i = 0; i < n; i++)
	{
		n_dropped += drop_run(runs[i], true);
		CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_INT32(n_dropped);
}

/* --- rights --- */

static Oid
role_argument(FunctionCallInfo fcinfo)
{
	char	   *role;

	hopper_require_argument(fcinfo, 1, "role");
	role = hopper_string_argument(fcinfo, 1);
	return pg_strcasecmp(role, "public") == 0 ? InvalidOid : get_role_oid(role, false);
}

/* grant_run(run, role, privilege) */
HOPPER_SPI_FUNCTION(hopper_sql_grant_run)
{
	int64		run = hopper_run_argument(fcinfo);
	Oid			role = role_argument(fcinfo);
	static const char *const words[] = {"watch", "steer", NULL};
	bool		steers = hopper_word_argument(fcinfo, 2, "privilege", words, "Use 'watch' (see the "
											  "run) or 'steer' (pause, resume and cancel it, "
											  "too).") == 1;
	hopper_run_row row;

	hopper_store_read(run, false, &row);
	hopper_store_grant(run, role, steers);
	PG_RETURN_VOID();
}

/* revoke_run(run, role) */
HOPPER_SPI_FUNCTION(hopper_sql_revoke_run)
{
	int64		run = hopper_run_argument(fcinfo);
	Oid			role = role_argument(fcinfo);
	hopper_run_row row;

	hopper_store_read(run, false, &row);
	hopper_store_revoke(run, role);
	PG_RETURN_VOID();
}
