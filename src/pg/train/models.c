/*
 * models.c
 *		models(): what has been trained, as far as the caller may read it.
 */
#include "pg/train/outputs.h"

#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

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
	"SELECT n.nspname::text, c.relname::text, c.oid::int8, s.oid::int8, n.oid::int8," \
	" c.relowner::int8, pg_get_userbyid(c.relowner)::text " \
	"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace" \
	" JOIN pg_class s ON s.relnamespace = n.oid" \
	"  AND s.relname::text = c.relname::text || '_summary' " \
	"WHERE c.relkind = 'r' AND s.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')" \
	" AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(s.oid, 'SELECT')" \
	" AND s.relowner = c.relowner AND has_schema_privilege(c.relowner, n.oid, 'USAGE')" \
	" AND has_table_privilege(c.relowner, c.oid, 'SELECT')" \
	" AND has_table_privilege(c.relowner, s.oid, 'SELECT')" \
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

/* Whether it still has this name and is a table. */
static bool
is_still(Oid relation, Oid schema, const char *name)
{
	return get_relname_relid(name, schema) == relation &&
		get_rel_relkind(relation) == RELKIND_RELATION;
}

/* false, and nothing locked, where another session holds one of them */
static bool
lock_pair(const Oid relations[2])
{
	if (!ConditionalLockRelationOid(relations[0], AccessShareLock))
		return false;
	if (ConditionalLockRelationOid(relations[1], AccessShareLock))
		return true;
	UnlockRelationOid(relations[0], AccessShareLock);
	return false;
}

static void
unlock_pair(const Oid relations[2])
{
	UnlockRelationOid(relations[1], AccessShareLock);
	UnlockRelationOid(relations[0], AccessShareLock);
}

/*
 * The bytes of a model's tables as text, or "NULL" where another session holds one of them: nobody
 * waits for what another role may hold for ever.
 */
static const char *
bytes_of_tables(Oid schema, const char *name)
{
	static const char *const suffixes[] = {"", "_info", "_summary", "_state", "_trials", "_rungs",
	"_decisions"};
	Oid			locked[lengthof(suffixes)];
	int			n = 0;
	bool		all = true;
	StringInfoData list;
	const char *bytes = NULL;

	initStringInfo(&list);
	for (int i = 0; i < lengthof(suffixes) && all; i++)
	{
		Oid			relation = get_relname_relid(psprintf("%s%s", name, suffixes[i]), schema);

		if (!OidIsValid(relation))
			continue;
		all = ConditionalLockRelationOid(relation, AccessShareLock);
		if (all)
		{
			appendStringInfo(&list, "%s%u", n ? "," : "", relation);
			locked[n++] = relation;
		}
	}
	if (all)
	{
		hopper_select("SELECT sum(pg_total_relation_size(p))::int8 FROM unnest('{%s}'::oid[]) p",
					  list.data);
		bytes = hopper_cell(0, 1);
	}
	while (n > 0)
		UnlockRelationOid(locked[--n], AccessShareLock);
	return bytes ? bytes : "NULL";
}

/* models() */
Datum
hopper_sql_models(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *queries = NIL;
	List	   *owners = NIL;
	SPITupleTable *listed;
	uint64		n;
	int			level;

	hopper_require_set_context(fcinfo);
	level = hopper_without_jit();
	hopper_connect();
	n = hopper_select(LISTED_TABLES);
	listed = SPI_tuptable;
	/*
	 * A query for each table: one for all would open as many connections to each segment. It has
	 * the rights of the table's owner: whatever that makes of these names until it runs, none of
	 * his functions gets the caller's rights.
	 */
	for (uint64 row = 0; row < n; row++)
	{
		char	   *schema;
		char	   *name;
		char	   *summary;
		char	   *role;
		const char *bytes;
		Oid			relations[2];
		Oid			namespace;
		Oid			owner;
		MemoryContext own;

		SPI_tuptable = listed;
		SPI_processed = n;
		schema = hopper_text_cell(NULL, row, 1);
		name = hopper_text_cell(NULL, row, 2);
		summary = psprintf("%s_summary", name);
		relations[0] = (Oid) hopper_int_cell(NULL, row, 3, 0, PG_UINT32_MAX);
		relations[1] = (Oid) hopper_int_cell(NULL, row, 4, 0, PG_UINT32_MAX);
		namespace = (Oid) hopper_int_cell(NULL, row, 5, 0, PG_UINT32_MAX);
		owner = (Oid) hopper_int_cell(NULL, row, 6, 0, PG_UINT32_MAX);
		role = hopper_text_cell(NULL, row, 7);
		if (!lock_pair(relations))
		{
			ereport(NOTICE,
					(errmsg("model \"%s.%s\" is left out: another session has locked it", schema,
							name)));
			continue;
		}
		/* Policies on rows are functions of their owner's. */
		if (!is_still(relations[0], namespace, name) ||
			!is_still(relations[1], namespace, summary) || hopper_hides_rows(relations[0]) ||
			hopper_hides_rows(relations[1]))
		{
			unlock_pair(relations);
			continue;
		}
		bytes = bytes_of_tables(namespace, name);
		own = MemoryContextSwitchTo(caller);
		owners = lappend_oid(owners, owner);
		queries = lappend(queries,
						  psprintf("SELECT %s::text, %s::text, end_training_time, source_table,"
								   " validation_table, (SELECT count(*) FROM ONLY %s.%s),"
								   " %s, %s, %s, %s::int8, %s::text FROM ONLY %s.%s s LIMIT 1",
								   hopper_literal(schema), hopper_literal(name),
								   hopper_identifier(schema), hopper_identifier(name),
								   where_there("best_mst_key", schema, name),
								   where_there("best_metric", schema, name),
								   where_there("best_value", schema, name),
								   bytes, hopper_literal(role), hopper_identifier(schema),
								   hopper_identifier(summary)));
		MemoryContextSwitchTo(own);
	}
	hopper_finish();
	AtEOXact_GUC(false, level);
	return hopper_return_queries(fcinfo, queries, owners);
}
