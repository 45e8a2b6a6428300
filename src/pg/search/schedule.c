/*
 * schedule.c
 *		hyperband_schedule()
 */
#include "pg/server/glue.h"

/* hyperband_schedule(schedule_table, r, eta, skip_last, additional, variant) -> iterations */
HOPPER_SPI_FUNCTION(hopper_sql_hyperband_schedule)
{
	hopper_name table;
	hopper_rows *rows;
	int64		iterations;
	int32		r = hopper_integer_argument(fcinfo, 1, "r", 0);
	int32		eta = hopper_integer_argument(fcinfo, 2, "eta", 3);
	int32		skip_last = hopper_integer_argument(fcinfo, 3, "skip_last", 0);
	const char *variant = PG_ARGISNULL(5) ? "floor"
		: hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(5)));

	table = hopper_name_argument(fcinfo, 0, "schedule_table");
	hopper_require_argument(fcinfo, 1, "r");
	rows = HOPPER_CORE_ROWS(search.hyperband_schedule, r, eta, skip_last,
							!PG_ARGISNULL(4) && PG_GETARG_BOOL(4), variant, &iterations);
	hopper_require_absent(&table);
	hopper_exec("CREATE TABLE %s (s pg_catalog.int4, i pg_catalog.int4, n_i pg_catalog.int4,"
				" r_i pg_catalog.int4, UNIQUE (s, i))" HOPPER_DISTRIBUTED_BY("s"),
				table.quoted);
	hopper_comment_table(&table, "rounds of Hyperband: n_i configurations, r_i iterations");
	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = hopper_row(rows, row);

		hopper_insert(&table, "VALUES (%s, %s, %s, %s)", cells[0], cells[1], cells[2], cells[3]);
	}
	PG_RETURN_INT64(iterations);
}
