/*
 * worker.c
 *		A background worker that trains one run.
 *
 * A worker that dies, or whose server does, is started again by the postmaster, and goes on from
 * the run's last checkpoint: it leaves with exit code 1 unless the run has ended. Exit code 0 takes
 * it off the postmaster's list. One that is refused its connection is started again, too, but where
 * its role may not connect.
 */
#include "pg/local/local.h"

#include <unistd.h>

#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/syscache.h"

#include "pg/run/lease.h"

#define RESTART_SECONDS 5

/* What its starter tells it: bgw_extra. */
typedef struct worker_orders
{
	int64		run;
	Oid			database;
	Oid			role;
	TransactionId creator;		/* the transaction that made or changed the run's row */
} worker_orders;

extern PGDLLEXPORT void hopper_run_worker(Datum nothing);

/* worker_orders of workers that start when the transaction commits, in its memory context. */
static List *wanted = NIL;

BackgroundWorker
hopper_worker_named(const char *type, const char *function)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "model_hopper", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, function, sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, type, sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, type, sizeof(worker.bgw_type));
	return worker;
}

static void
start_worker(const worker_orders *orders)
{
	BackgroundWorker worker = hopper_worker_named("model_hopper run", "hopper_run_worker");

	StaticAssertStmt(sizeof(worker_orders) <= BGW_EXTRALEN, "the orders of a worker are too long");
	worker.bgw_flags |= HOPPER_INTERRUPTIBLE;
	worker.bgw_restart_time = RESTART_SECONDS;
	snprintf(worker.bgw_name, sizeof(worker.bgw_name), "model_hopper run " INT64_FORMAT,
			 orders->run);
	memcpy(worker.bgw_extra, orders, sizeof(*orders));
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return;
	hopper_raise(ERRCODE_INSUFFICIENT_RESOURCES,
				 errmsg("no background worker is free for run " INT64_FORMAT, orders->run),
				 errdetail("max_worker_processes is %d.", max_worker_processes),
				 errhint("Wait for other runs to end, train in the foreground with CALL "
						 "hopper.train(), or ask an administrator to raise max_worker_processes."));
}

bool
hopper_finder_start(Oid database, int64 run, BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = hopper_worker_named("model_hopper finder", "hopper_run_finder");

	worker.bgw_main_arg = ObjectIdGetDatum(database);
	memcpy(worker.bgw_extra, &run, sizeof(run));
	worker.bgw_notify_pid = handle ? MyProcPid : 0;
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

/* Only now: what is rolled back starts none. An error still takes the transaction back. */
static void
start_wanted(XactEvent event, void *nothing)
{
	ListCell   *cell;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			foreach(cell, wanted)
				start_worker(lfirst(cell));
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (wanted != NIL)
				hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
							 errmsg("a transaction that starts a run in the background cannot "
									"be prepared"));
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
			wanted = NIL;
			break;
		default:
			break;
	}
}

static void
require_role(const hopper_run_row *row)
{
	HeapTuple	tuple;
	bool		can_login;
	char	   *role;
	char	   *database = get_database_name(MyDatabaseId);

	hopper_store_require_role(row);
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(row->role));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "role %u is gone", row->role);
	can_login = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;
	ReleaseSysCache(tuple);
	role = hopper_role_name(row->role);
	if (HOPPER_BYPASS_LOGIN == 0 && !can_login)
		hopper_raise(ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION,
					 errmsg("role \"%s\" cannot train in the background", role),
					 errdetail("A background worker logs in as the role whose run it is."),
					 errhint("ALTER ROLE %s LOGIN; or train in the foreground with CALL "
							 "hopper.train().", hopper_identifier(role)));
	if (!hopper_any(hopper_select("SELECT WHERE has_database_privilege(%u, %u, 'CONNECT')",
								  row->role, MyDatabaseId)))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("role \"%s\" cannot train in the background", role),
					 errdetail("It may not connect to database \"%s\".", database),
					 errhint("GRANT CONNECT ON DATABASE %s TO %s; or train in the foreground with "
							 "CALL hopper.train().", hopper_identifier(database),
							 hopper_identifier(role)));
}

void
hopper_worker_start(const hopper_run_row *row)
{
	static bool registered = false;
	worker_orders *orders;
	MemoryContext caller;

	require_role(row);
	caller = MemoryContextSwitchTo(TopTransactionContext);
	orders = palloc(sizeof(worker_orders));
	*orders = (worker_orders) {row->run, MyDatabaseId, row->role, GetTopTransactionId()};
	wanted = lappend(wanted, orders);
	MemoryContextSwitchTo(caller);
	if (!registered)
		RegisterXactCallback(start_wanted, NULL);
	registered = true;
}

/* --- the worker --- */

static void
begin_transaction(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
}

static void
commit_transaction(void)
{
	CommitTransactionCommand();
}

static void
next_transaction(void)
{
	commit_transaction();
	pgstat_report_stat(false);
	begin_transaction();
}

/*
 * Reads and locks the run; false where it has ended or was dropped. Where the extension was dropped
 * and made anew, its number may be another run's.
 */
static bool
read_unended(const worker_orders *orders, hopper_run_row *row)
{
	return hopper_store_is_there() && hopper_store_find(orders->run, true, row) &&
		row->outcome == NULL && row->role == orders->role;
}

/* False where the run has ended, or somebody has paused, cancelled or dropped it meanwhile. */
static bool
is_wanted(const worker_orders *orders, hopper_run_row *row)
{
	bool		wanted = false;

	hopper_connect();
	if (read_unended(orders, row) && hopper_lease_holder(orders->run) == 0)
	{
		hopper_wish wish = hopper_store_wish(orders->run);

		if (wish == HOPPER_WISH_CANCEL)
			hopper_run_cancel(row);
		wanted = wish == HOPPER_WISH_RUN;
	}
	hopper_finish();
	return wanted;
}

static void
train(const worker_orders *orders)
{
	hopper_run_row row;

	begin_transaction();
	if (is_wanted(orders, &row))
	{
		pgstat_report_activity(STATE_RUNNING, psprintf("model_hopper run " INT64_FORMAT ": %s",
													   orders->run, row.statement));
		(void) hopper_run_train(orders->run, next_transaction);
	}
	commit_transaction();
}

/* What is to be known of a run that an error has ended; another session may have been quicker. */
static void
note_failure(const worker_orders *orders, const ErrorData *error)
{
	int64		run = orders->run;
	bool		cancelled = error->sqlerrcode == ERRCODE_QUERY_CANCELED;
	hopper_run_row row;

	begin_transaction();
	hopper_connect();
	if (hopper_lease_holder(run) == 0 && read_unended(orders, &row))
	{
		/* Whatever has ended it: who wished that it be cancelled was told that it is. */
		if (hopper_store_wish(run) == HOPPER_WISH_CANCEL)
			hopper_run_cancel(&row);
		else if (!cancelled)
			hopper_store_ended(run, "failed", NULL, error);
		else
		{
			hopper_store_event(run, "pause", 0, error->message);
			hopper_store_event(run, "paused", 0, NULL);
		}
	}
	hopper_finish();
	commit_transaction();
}

/* Of what refuses the connection: its SQLSTATE. 0 once there is one. */
static int	refusal = ERRCODE_INTERNAL_ERROR;

static void
note_refusal(void *nothing)
{
	refusal = geterrcode();
}

static bool ends_for_good = false;

/*
 * A worker whose database is gone, or whose role may not connect, would be started again for ever.
 * What else refuses it passes: a limit of connections, a database that takes none for now.
 */
static void
look_at_refusal(int code, Datum orders)
{
	const worker_orders *refused = (const worker_orders *) DatumGetPointer(orders);

	if (refusal == ERRCODE_UNDEFINED_DATABASE)
		ends_for_good = true;
	else if (refusal == ERRCODE_INSUFFICIENT_PRIVILEGE ||
			 refusal == ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION)
		ends_for_good = hopper_finder_start(refused->database, refused->run, NULL);
}

static void
leave_for_good(int code, Datum nothing)
{
	if (ends_for_good)
		_exit(0);
}

/* Of the role alone: to the one whose session has asked its functions could turn back. */
static void
connect_as(const worker_orders *orders)
{
	ErrorContextCallback callback = {error_context_stack, note_refusal, NULL};

	error_context_stack = &callback;
	BackgroundWorkerInitializeConnectionByOid(orders->database, orders->role, HOPPER_BYPASS_LOGIN);
	error_context_stack = callback.previous;
	refusal = 0;
}

/*
 * Settings of the role or the server that are meant for sessions, such as transactions that only
 * read, would end each attempt of it. So do the server's own workers (postmaster/autovacuum.c).
 */
static void
set_own_defaults(void)
{
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_read_only", "off", PGC_SUSET, PGC_S_OVERRIDE);
	/* Of PostgreSQL 17 and later: reading the data is one transaction. */
	if (GetConfigOption("transaction_timeout", true, false))
		SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
}

void
hopper_run_worker(Datum nothing)
{
	worker_orders orders;
	MemoryContext context;

	on_proc_exit(leave_for_good, (Datum) 0);
	before_shmem_exit(look_at_refusal, PointerGetDatum(&orders));
	memcpy(&orders, MyBgworkerEntry->bgw_extra, sizeof(orders));
	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, StatementCancelHandler);
	BackgroundWorkerUnblockSignals();
	connect_as(&orders);
	set_own_defaults();
	/* Its row is not to be seen before. */
	begin_transaction();
	XactLockTableWait(orders.creator, NULL, NULL, XLTW_None);
	commit_transaction();

	context = AllocSetContextCreate(TopMemoryContext, "hopper worker", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		train(&orders);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
		note_failure(&orders, error);
	}
	PG_END_TRY();
	proc_exit(0);
}
