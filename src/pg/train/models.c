/*
 * models.c
 *		models(): what has been trained, as far as the caller may read it.
 */
#include "pg/train/outputs.h"

PG_FUNCTION_INFO_V1(hopper_sql_models);

/*
 * Plain tables with the columns that training gives them, in types of the server: nothing of
 * another role's runs when they are read.
 */
#define HAS_COLUMNS(relation, n, columns) \
	" AND " #n " = (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = " relation ".oid" \
	" AND a.attnum > 0 AND NOT a.attisdropped AND (a.attname::text, a.atttypid::oid) IN (" \
	columns "))"
#define LISTED_TABLES \
	"SELECT n.nspname::text, c.relname::text, c.oid::int8, s.oid::int8," \
	" (SELECT sum(pg_total_relation_size(p.oid))::int8 FROM pg_class p" \
	"  WHERE p.relnamespace = n.oid AND p.relname::text IN (c.relname::text," \
	"  c.relname::text || '_info', c.relname::text || '_summary', c.relname::text || '_state'," \
	"  c.relname::text || '_trials', c.relname::text || '_rungs'," \
	"  c.relname::text || '_decisions'))," \
	" pg_get_userbyid(c.relowner)::text " \
	"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace" \
	" JOIN pg_class s ON s.relnamespace = n.oid" \
	"  AND s.relname::text = c.relname::text || '_summary' " \
	"WHERE c.relkind = 'r' AND s.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')" \
	" AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(s.oid, 'SELECT')" \
	HAS_COLUMNS("c", 3, "('mst_key', 'int4'::regtype::oid), ('model_weights'," \
				" 'bytea'::regtype::oid), ('model_arch', 'json'::regtype::oid)") \
	HAS_COLUMNS("s", 7, "('model_info', 'text'::regtype::oid), ('source_table'," \
				" 'text'::regtype::oid), ('validation_table', 'text'::regtype::oid)," \
				" ('end_training_time', 'timestamptz'::regtype::oid), ('best_mst_key'," \
				" 'int4'::regtype::oid), ('best_metric', 'text'::regtype::oid)," \
				" ('best_value', 'float8'::regtype::oid)") \
	" ORDER BY 1, 2"

/* A column of the summary `s` that is of the best model; NULL where that was deleted since. */
static const char *
where_there(const char *column, const char *schema, const char *name)
{
	return psprintf("CASE WHEN s.best_mst_key IN (SELECT mst_key FROM ONLY %s.%s) THEN s.%s END",
					hopper_identifier(schema), hopper_identifier(name), column);
}

/* models() */
Datum
hopper_sql_models(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *queries = NIL;
	uint64		n;
	int			level;

	hopper_require_set_context(fcinfo);
	level = hopper_without_jit();
	hopper_connect();
	n = hopper_select(LISTED_TABLES);
	/* A query for each table: one for all would open as many connections to each segment. */
	for (uint64 row = 0; row < n; row++)
	{
		char	   *schema = hopper_text_cell(NULL, row, 1);
		char	   *name = hopper_text_cell(NULL, row, 2);
		const char *bytes = hopper_cell(row, 5);
		MemoryContext own;

		/* Policies on rows are functions of their owner's. */
		if (hopper_hides_rows((Oid) hopper_int_cell(NULL, row, 3, 0, PG_UINT32_MAX)) ||
			hopper_hides_rows((Oid) hopper_int_cell(NULL, row, 4, 0, PG_UINT32_MAX)))
			continue;
		own = MemoryContextSwitchTo(caller);
		queries = lappend(queries,
						  psprintf("SELECT %s::text, %s::text, end_training_time, source_table,"
								   " validation_table, (SELECT count(*) FROM ONLY %s.%s),"
								   " %s, %s, %s, %s::int8, %s::text FROM ONLY %s.%s s LIMIT 1",
								   hopper_literal(schema), hopper_literal(name),
								   hopper_identifier(schema), hopper_identifier(name),
								   where_there("best_mst_key", schema, name),
								   where_there("best_metric", schema, name),
								   where_there("best_value", schema, name),
								   bytes ? bytes : "NULL", hopper_literal(hopper_cell(row, 6)),
								   hopper_identifier(schema),
								   hopper_identifier(psprintf("%s_summary", name))));
		MemoryContextSwitchTo(own);
	}
	hopper_finish();
	AtEOXact_GUC(false, level);
	return hopper_return_queries(fcinfo, queries);
}
