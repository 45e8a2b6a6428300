/*
 * supervisor.c
 *		After a start of the server, background workers for the runs that they were training before.
 *
 * The postmaster remembers workers over crashes of processes, but not over its own end. Where the
 * library is preloaded, a launcher without a database looks at the list of databases, once, and has
 * a short-lived worker look for such runs in each of them, one after the other. So does a worker
 * that gets no connection as its role, for its run: it is taken up, or interrupted.
 */
#include "pg/local/local.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_database.h"
#include "postmaster/bgworker.h"
#include "tcop/tcopprot.h"

#include "pg/run/lease.h"
#include "pg/server/ceilings.h"
#include "pg/server/own_tables.h"
#include "pg/train/store.h"

extern PGDLLEXPORT void hopper_run_launcher(Datum nothing);
extern PGDLLEXPORT void hopper_run_finder(Datum database);

void
hopper_supervisor_register(void)
{
	BackgroundWorker worker = hopper_worker_named("model_hopper launcher", "hopper_run_launcher");

	if (process_shared_preload_libraries_in_progress)
		RegisterBackgroundWorker(&worker);
}

static void
begin_worker(void)
{
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
}

/* The databases that take connections, in `context`. */
static List *
databases(MemoryContext context)
{
	List	   *found = NIL;
	Relation	relation;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	relation = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(relation, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);

		if (database->datallowconn)
		{
			MemoryContext caller = MemoryContextSwitchTo(context);

			found = lappend_oid(found, database->oid);
			MemoryContextSwitchTo(caller);
		}
	}
	table_endscan(scan);
	table_close(relation, AccessShareLock);
	CommitTransactionCommand();
	return found;
}

static void
launcher_ends(int code, Datum nothing)
{
	hopper_note_runs_found();
}

void
hopper_run_launcher(Datum nothing)
{
	ListCell   *cell;

	begin_worker();
	before_shmem_exit(launcher_ends, (Datum) 0);
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	foreach(cell, databases(TopMemoryContext))
	{
		BackgroundWorkerHandle *handle;

		if (!hopper_finder_start(lfirst_oid(cell), 0, &handle))
			hopper_raise(ERRCODE_INSUFFICIENT_RESOURCES,
						 errmsg("no background worker is free to look for interrupted runs"),
						 errhint("Raise max_worker_processes, or continue runs with "
								 "hopper.resume()."));
		(void) WaitForBackgroundWorkerShutdown(handle);
		CHECK_FOR_INTERRUPTS();
	}
	proc_exit(0);
}

/* One that its worker trained, or was to; somebody may have been quicker, or have paused it. */
static void
take_up(int64 run)
{
	hopper_run_row row;

	hopper_connect();
	if (hopper_lease_holder(run) == 0 && hopper_store_find(run, true, &row) &&
		row.outcome == NULL && hopper_store_wish(run) != HOPPER_WISH_PAUSE)
	{
		hopper_store_queued(run, "restarted", NULL);
		hopper_worker_start(&row);
	}
	hopper_finish();
}

/* Nothing is to take it up any more, until somebody resumes it or the server starts again. */
static void
interrupt(int64 run, const ErrorData *why)
{
	hopper_run_row row;

	StartTransactionCommand();
	hopper_connect();
	if (hopper_lease_holder(run) == 0 && hopper_store_find(run, true, &row) &&
		row.outcome == NULL)
		hopper_store_interrupted(run, why);
	hopper_finish();
	CommitTransactionCommand();
}

/* What one run lacks, its role's LOGIN say, costs the others nothing. */
static void
try_to_take_up(int64 run)
{
	MemoryContext caller = CurrentMemoryContext;
	ErrorData  *volatile why = NULL;

	PG_TRY();
	{
		StartTransactionCommand();
		take_up(run);
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		why = CopyErrorData();
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
	}
	PG_END_TRY();
	if (why)
		interrupt(run, why);
	MemoryContextSwitchTo(caller);
}

void
hopper_run_finder(Datum database)
{
	uint64		n = 0;
	int64		only;
	int64	   *runs = NULL;

	memcpy(&only, MyBgworkerEntry->bgw_extra, sizeof(only));
	begin_worker();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (hopper_store_is_there())
	{
		hopper_connect();
		n = hopper_own_select("SELECT run FROM @extschema@.all_runs WHERE outcome IS NULL"
							  " AND queued IS NOT NULL AND " INT64_FORMAT " IN (0, run)"
							  " ORDER BY run", only);
		runs = MemoryContextAlloc(TopMemoryContext, (n + 1) * sizeof(int64));
		for (uint64 row = 0; row < n; row++)
			runs[row] = hopper_int_cell(NULL, row, 1, 0, PG_INT64_MAX);
		hopper_finish();
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	for (uint64 i = 0; i < n; i++)
		try_to_take_up(runs[i]);
	proc_exit(0);
}
