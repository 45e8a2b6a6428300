/*
 * cursor.c
 *		Statements that find their names in pg_catalog, and cursors over them.
 *
 * Paths are put in place by the schemas' oids, not by the setting: processes on the segments that
 * are started meanwhile would take it over and keep it for the session.
 */
#include "pg/greenplum/segments.h"

#include "catalog/pg_namespace.h"
#include "tcop/pquery.h"

#include "pg/greenplum/kernel.h"

int
hopper_safe_path(void)
{
	OverrideSearchPath path = {0};

	path.schemas = list_make1_oid(PG_CATALOG_NAMESPACE);
	PushOverrideSearchPath(&path);
	return 0;
}

void
hopper_callers_path(int level)
{
	PopOverrideSearchPath();
}

static SPIPlanPtr
prepare(const char *query)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_NO_SCROLL);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

/*
 * A portal that is no cursor for the server: its statement runs in the processes that write. For a
 * cursor the server has them write down their snapshot first, and starts others that only read.
 */
Portal
hopper_portal_open_here(const char *query, bool read_only)
{
	Portal		portal = CreateNewPortal();
	SPIPlanPtr	plan = prepare(query);
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	MemoryContext caller = MemoryContextSwitchTo(hopper_portal_context(portal));
	List	   *statements = copyObject(cached->stmt_list);
	char	   *kept = pstrdup(query);

	MemoryContextSwitchTo(caller);
	hopper_release_plan(cached);
	SPI_freeplan(plan);
	hopper_define_select(portal, kept, statements);
	portal->cursorOptions = CURSOR_OPT_NO_SCROLL;
	if (!read_only)
		CommandCounterIncrement();
	PortalStart(portal, NULL, 0, read_only ? GetActiveSnapshot() : GetTransactionSnapshot(), NULL);
	return portal;
}

Portal
hopper_portal_open(const char *query, bool read_only)
{
	int			level = hopper_safe_path();
	Portal		portal = hopper_portal_open_here(query, read_only);

	hopper_callers_path(level);
	return portal;
}

Portal
hopper_cursor_open(const char *query, bool read_only)
{
	int			level = hopper_safe_path();
	SPIPlanPtr	plan = prepare(query);
	Portal		portal = SPI_cursor_open(NULL, plan, NULL, NULL, read_only);

	SPI_freeplan(plan);
	hopper_callers_path(level);
	return portal;
}

hopper_row_cursor
hopper_row_cursor_open(const char *query)
{
	hopper_row_cursor rows = {hopper_cursor_open(query, true)};

	rows.desc = rows.portal->tupDesc;
	return rows;
}

uint64
hopper_row_cursor_give(const hopper_row_cursor *rows, long n, hopper_row_taker take, void *state)
{
	SPITupleTable *table;
	uint64		n_rows;

	SPI_cursor_fetch(rows->portal, true, n);
	table = SPI_tuptable;
	n_rows = (uint64) SPI_processed;
	if (n_rows > 0)
	{
		Datum	   *values = palloc(table->tupdesc->natts * sizeof(Datum));
		bool	   *nulls = palloc(table->tupdesc->natts * sizeof(bool));

		for (uint64 row = 0; row < n_rows; row++)
		{
			heap_deform_tuple(table->vals[row], table->tupdesc, values, nulls);
			take(state, values, nulls);
		}
		pfree(values);
		pfree(nulls);
	}
	SPI_freetuptable(table);
	return n_rows;
}
