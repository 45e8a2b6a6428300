/*
 * sql.c
 *		SQL through SPI.
 *
 * What our statements name themselves (functions, operators, types) is looked up in pg_catalog
 * alone, so that nothing that somebody put into a schema of the path takes its place. The users'
 * own functions, in views, row policies, defaults and triggers, run with the caller's search_path,
 * as they would without us.
 *
 * None of our statements is compiled (hopper_without_jit()), but those over users' rows, which run
 * as one piece or by cursors of their own: these may be worth it.
 */
#include "pg/server/glue.h"

#include "utils/datum.h"

MemoryContext hopper_request_context = NULL;

void
hopper_after_spi(void)
{
	if (hopper_request_context)
		MemoryContextSwitchTo(hopper_request_context);
}

char *
hopper_formatted(const char *format, va_list arguments)
{
	char	   *statement;
	va_list		copy;
	int			length;

	va_copy(copy, arguments);
	length = vsnprintf(NULL, 0, format, copy);
	va_end(copy);
	if (length < 0)
		elog(ERROR, "could not format a statement: %m");
	statement = palloc((size_t) length + 1);
	vsnprintf(statement, (size_t) length + 1, format, arguments);
	return statement;
}

/* The snapshot of the innermost hopper_connect(), and the (sub)transaction that pushed it. */
static Snapshot connected = NULL;
static int	connected_level;

static void
forget_transaction(XactEvent event, void *argument)
{
	connected = NULL;
}

static void
forget_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent,
					  void *argument)
{
	/* One that began later has popped what it pushed. */
	if ((event == SUBXACT_EVENT_ABORT_SUB || event == SUBXACT_EVENT_COMMIT_SUB) &&
		GetCurrentTransactionNestLevel() <= connected_level)
		connected = NULL;
}

static void
push_snapshot(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(forget_transaction, NULL);
		RegisterSubXactCallback(forget_subtransaction, NULL);
		registered = true;
	}
	PushActiveSnapshot(GetTransactionSnapshot());
	connected = GetActiveSnapshot();
	connected_level = GetCurrentTransactionNestLevel();
}

void
hopper_connect_only(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

bool
hopper_connect_within(void)
{
	bool		pushed = hopper_spi_push();

	hopper_connect_only();
	return pushed;
}

void
hopper_finish_within(bool pushed)
{
	SPI_finish();
	hopper_spi_pop(pushed);
}

void
hopper_connect(void)
{
	hopper_connect_only();
	hopper_watch_client();
	CommandCounterIncrement();
	push_snapshot();
}

void
hopper_connect_stable(void)
{
	if (HOPPER_DATA_ON_SEGMENTS)
	{
		hopper_connect();
		return;
	}
	hopper_connect_only();
	hopper_watch_client();
	PushActiveSnapshot(GetActiveSnapshot());
	connected = NULL;			/* that one stays as it is */
}

void
hopper_see_latest(void)
{
	/* A parallel query writes nothing that could be seen. */
	if (!hopper_in_parallel_mode())
		CommandCounterIncrement();
	PopActiveSnapshot();
	push_snapshot();
}

void
hopper_renew_snapshot(void)
{
	if (connected == NULL || GetCurrentTransactionNestLevel() != connected_level ||
		!ActiveSnapshotSet() || GetActiveSnapshot() != connected || IsolationUsesXactSnapshot())
		return;
	PopActiveSnapshot();
	push_snapshot();
}

void
hopper_finish(void)
{
	PopActiveSnapshot();
	connected = NULL;
	SPI_finish();
}

Datum
hopper_call_connected(FunctionCallInfo fcinfo, PGFunction body)
{
	MemoryContext caller = CurrentMemoryContext;
	Datum		result;
	int16		length;
	bool		by_value;

	hopper_connect();
	result = body(fcinfo);
	if (!fcinfo->isnull && result != (Datum) 0)
	{
		get_typlenbyval(get_func_rettype(fcinfo->flinfo->fn_oid), &length, &by_value);
		MemoryContextSwitchTo(caller);
		result = datumCopy(result, by_value, length);
	}
	hopper_finish();
	return result;
}

int
hopper_without_jit(void)
{
	int			level = NewGUCNestLevel();

	hopper_disable_jit();
	return level;
}

/* true: what the users' functions and triggers have set stays */
static void
callers_jit(int level)
{
	AtEOXact_GUC(true, level);
}

static int
execute(char *statement)
{
	int			level = hopper_without_jit();
	int			rc = SPI_execute(statement, false, 0);

	hopper_after_spi();
	callers_jit(level);
	if (rc < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
	pfree(statement);
	return rc;
}

void
hopper_exec(const char *format,...)
{
	char	   *statement;
	int			level;

	HOPPER_FORMAT(statement, format);
	level = hopper_backend.safe_path();
	(void) execute(statement);
	hopper_backend.callers_path(level);
}

void
hopper_require_inserted(const hopper_name *table, int rc)
{
	if (rc < 0)
		elog(ERROR, "inserting into \"%s\" failed: %s", table->shown, SPI_result_code_string(rc));
	if (rc != SPI_OK_INSERT || SPI_processed != 1)
		hopper_unmet(errmsg("\"%s\" does not take all rows that are written to it", table->shown),
					 errhint("Look for triggers and rules that something gives to new tables."));
}

void
hopper_insert(const hopper_name *table, const char *format,...)
{
	char	   *row;
	int			level;

	HOPPER_FORMAT(row, format);
	level = hopper_backend.safe_path();
	hopper_require_inserted(table, execute(psprintf("INSERT INTO %s %s", table->quoted, row)));
	hopper_backend.callers_path(level);
	pfree(row);
}

int
hopper_execute_params(const char *statement, int n, const hopper_param *params)
{
	Oid		   *types = palloc(Max(n, 1) * sizeof(Oid));
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));
	char	   *nulls = palloc(Max(n, 1));
	int			rc;

	for (int i = 0; i < n; i++)
	{
		types[i] = params[i].type;
		values[i] = params[i].value;
		nulls[i] = params[i].isnull ? 'n' : ' ';
	}
	rc = SPI_execute_with_args(statement, n, types, values, nulls, false, 0);
	hopper_after_spi();
	return rc;
}

char *
hopper_insert_statement(const hopper_name *table, const char *columns, int n)
{
	StringInfo	statement = makeStringInfo();

	appendStringInfo(statement, "INSERT INTO %s %s VALUES (", table->quoted, columns);
	for (int i = 0; i < n; i++)
		appendStringInfo(statement, "%s$%d", i ? ", " : "", i + 1);
	appendStringInfoChar(statement, ')');
	return statement->data;
}

void
hopper_insert_params(const hopper_name *table, int n, const hopper_param *params)
{
	hopper_require_inserted(table, hopper_execute_params(hopper_insert_statement(table, "", n), n,
														 params));
}

void
hopper_change(const char *format,...)
{
	char	   *statement;

	HOPPER_FORMAT(statement, format);
	(void) execute(statement);
}

void
hopper_change_at(Snapshot snapshot, const char *format,...)
{
	char	   *statement;
	int			level;
	int			rc;

	HOPPER_FORMAT(statement, format);
	level = hopper_without_jit();
	rc = SPI_execute_snapshot(hopper_prepare(statement, 0, NULL, 0), NULL, NULL, snapshot,
							  InvalidSnapshot, false, true, 0);
	hopper_after_spi();
	callers_jit(level);
	if (rc < 0)
		elog(ERROR, "SPI_execute_snapshot failed: %s", SPI_result_code_string(rc));
	pfree(statement);
}

static uint64
run_select(char *statement, bool read_only)
{
	int			level = hopper_without_jit();
	Portal		portal = hopper_backend.open_at_once(statement, read_only);

	/* Whether it is compiled its plan says. */
	callers_jit(level);
	SPI_cursor_fetch(portal, true, FETCH_ALL);
	SPI_cursor_close(portal);
	hopper_after_spi();
	pfree(statement);
	return (uint64) SPI_processed;
}

uint64
hopper_select(const char *format,...)
{
	char	   *statement;

	HOPPER_FORMAT(statement, format);
	return run_select(statement, true);
}

bool
hopper_any(uint64 n)
{
	SPI_freetuptable(SPI_tuptable);
	return n > 0;
}

uint64
hopper_select_latest(const char *format,...)
{
	char	   *statement;

	HOPPER_FORMAT(statement, format);
	return run_select(statement, false);
}

uint64
hopper_select_at_once(const char *format,...)
{
	char	   *statement;
	int			rc;

	HOPPER_FORMAT(statement, format);
	rc = SPI_execute(statement, true, 0);
	hopper_after_spi();
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute of a SELECT failed: %s", SPI_result_code_string(rc));
	pfree(statement);
	return (uint64) SPI_processed;
}

void
hopper_require_type(TupleDesc descriptor, int column, Oid type)
{
	Oid			found = SPI_gettypeid(descriptor, column);

	if (getBaseType(found) != type)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" must be of type %s, not %s",
							SPI_fname(descriptor, column), format_type_be(type),
							format_type_be(found)),
					 errhint("Use the tables as the functions of schema hopper made them."));
}

char *
hopper_type_name(Oid type, int32 typmod)
{
	int			level = hopper_backend.safe_path();
	char	   *name = hopper_format_typmod(type, typmod);

	hopper_backend.callers_path(level);
	return name;
}

SPIPlanPtr
hopper_prepare(const char *query, int n, const Oid *types, int options)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, n, (Oid *) types, options);

	hopper_after_spi();
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}
