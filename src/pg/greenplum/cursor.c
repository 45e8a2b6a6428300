/*
 * cursor.c
 *		Statements that find their names in pg_catalog, or also the functions of the segments, and
 *		cursors over them.
 *
 * Paths are put in place by the schemas' oids, not by the setting: processes on the segments that
 * are started meanwhile would take it over and keep it for the session.
 */
#include "pg/greenplum/segments.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"

static void
push_path(List *schemas)
{
	OverrideSearchPath path = {0};

	path.schemas = schemas;
	PushOverrideSearchPath(&path);
}

int
hopper_safe_path(void)
{
	push_path(list_make1_oid(PG_CATALOG_NAMESPACE));
	return 0;
}

void
hopper_callers_path(int level)
{
	PopOverrideSearchPath();
}

/* In the path that is in place. */
static Portal
open_cursor(const char *query, bool read_only)
{
	SPIPlanPtr	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_NO_SCROLL);
	Portal		portal;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, read_only);
	SPI_freeplan(plan);
	return portal;
}

Portal
hopper_cursor_open(const char *query, bool read_only)
{
	int			level = hopper_safe_path();
	Portal		portal = open_cursor(query, read_only);

	hopper_callers_path(level);
	return portal;
}

uint64
hopper_cursor_give(Portal portal, long n, hopper_row_taker take, void *state)
{
	SPITupleTable *table;
	uint64		n_rows;

	SPI_cursor_fetch(portal, true, n);
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

/* --- calls of the segments' functions --- */

/* Up to PopOverrideSearchPath(). */
static void
push_own_path(void)
{
	push_path(list_make2_oid(PG_CATALOG_NAMESPACE, hopper_schema()));
}

SPIPlanPtr
hopper_calls_prepare(const char *query, int n, Oid *types)
{
	SPIPlanPtr	plan;

	push_own_path();
	plan = hopper_prepare(query, n, types);
	PopOverrideSearchPath();
	return plan;
}

void
hopper_calls_execute(SPIPlanPtr plan, Datum *values, bool read_only, int expected)
{
	int			rc;

	push_own_path();
	rc = SPI_execute_plan(plan, values, NULL, read_only, 0);
	PopOverrideSearchPath();
	if (rc != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
}

uint64
hopper_calls_select(const char *query)
{
	Portal		portal;

	push_own_path();
	portal = open_cursor(query, true);
	PopOverrideSearchPath();
	SPI_cursor_fetch(portal, true, FETCH_ALL);
	SPI_cursor_close(portal);
	return (uint64) SPI_processed;
}

/*
 * The window sorts pointers to the buffers; an aggregate with an order of its own would sort what
 * else it is given with each of them. The condition keeps a planner from dropping the window.
 */
char *
hopper_calls_over_buffers(const char *columns, const hopper_packed *packed)
{
	return psprintf("SELECT %s FROM (SELECT " HOPPER_DIST_KEY " AS k, partition_id AS p,"
					" buffer_id AS b, n, %s AS x, %s AS y, checksum AS c,"
					" pg_catalog.row_number() OVER (PARTITION BY " HOPPER_DIST_KEY
					" ORDER BY partition_id, buffer_id) AS r FROM %s) s"
					" WHERE r OPERATOR(pg_catalog.>) 0 GROUP BY k",
					columns, hopper_identifier(packed->desc.x_column),
					hopper_identifier(hopper_packed_label(packed->desc.y_column)),
					packed->table.quoted);
}
