/*
 * calls.c
 *		Statements that call the functions of the segments.
 */
#include "pg/greenplum/segments.h"

#include "catalog/pg_namespace.h"

/* Up to PopOverrideSearchPath(). */
static void
push_own_path(void)
{
	OverrideSearchPath path = {0};

	path.schemas = list_make2_oid(PG_CATALOG_NAMESPACE, hopper_schema());
	PushOverrideSearchPath(&path);
}

SPIPlanPtr
hopper_calls_prepare(const char *query, int n, Oid *types)
{
	SPIPlanPtr	plan;

	push_own_path();
	plan = hopper_prepare(query, n, types, 0);
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
hopper_calls_once(const char *query, bool read_only, int expected, int n,
				  const hopper_param *params)
{
	Oid		   *types = palloc(n * sizeof(Oid));
	Datum	   *values = palloc(n * sizeof(Datum));
	SPIPlanPtr	plan;

	for (int i = 0; i < n; i++)
	{
		types[i] = params[i].type;
		values[i] = params[i].value;
	}
	plan = hopper_calls_prepare(query, n, types);
	hopper_calls_execute(plan, values, read_only, expected);
	SPI_freeplan(plan);
	return SPI_processed;
}

uint64
hopper_calls_select(const char *query)
{
	Portal		portal;

	push_own_path();
	portal = hopper_portal_open_here(query, true);
	PopOverrideSearchPath();
	SPI_cursor_fetch(portal, true, FETCH_ALL);
	SPI_cursor_close(portal);
	return (uint64) SPI_processed;
}

static char *
buffers_of(const hopper_packed *packed, hopper_split split, const char *keys)
{
	return psprintf("SELECT %s AS k, %d AS s, t.partition_id AS p, t.buffer_id AS b, t.n,"
					" t.%s AS x, t.%s AS y, t.checksum AS c FROM %s t%s",
					keys ? "v.key" : "t." HOPPER_DIST_KEY, split,
					hopper_identifier(packed->desc.x_column),
					hopper_identifier(hopper_packed_label(packed->desc.y_column)),
					packed->table.quoted, keys ? psprintf(", (VALUES %s) v (key)", keys) : "");
}

/*
 * The window sorts pointers to the buffers; an aggregate with an order of its own would sort what
 * else it is given with each of them. The condition keeps a planner from dropping the window.
 */
char *
hopper_calls_over_buffers(const char *columns, const hopper_packed *const splits[2],
						  const char *keys)
{
	StringInfo	buffers = makeStringInfo();

	for (int split = 0; split < 2; split++)
		if (splits[split])
			appendStringInfo(buffers, "%s%s", buffers->len ? " UNION ALL " : "",
							 buffers_of(splits[split], split, keys));
	return psprintf("SELECT %s FROM (SELECT t.*, pg_catalog.row_number() OVER"
					" (PARTITION BY k ORDER BY s, p, b) AS r FROM (%s) t) s"
					" WHERE r OPERATOR(pg_catalog.>) 0 GROUP BY k", columns, buffers->data);
}
