/*
 * cursor.c
 *		Statements that find their names in pg_catalog, and cursors over them.
 */
#include "pg/server/glue.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"

/*
 * Not the setting: processes on the segments that are started meanwhile would take it over and keep
 * it for the session.
 */
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

Portal
hopper_cursor_open(const char *query, bool read_only)
{
	int			level = hopper_safe_path();
	SPIPlanPtr	plan = SPI_prepare_cursor(query, 0, NULL, CURSOR_OPT_NO_SCROLL);
	Portal		portal;

	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, read_only);
	hopper_callers_path(level);
	SPI_freeplan(plan);
	return portal;
}
