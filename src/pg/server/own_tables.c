/*
 * own_tables.c
 *		Writing and reading the extension's own tables with their owner's rights.
 *
 * The owner is a superuser, as a rule: whatever another role had put on such a table would run with
 * a superuser's rights.
 */
#include "pg/server/own_tables.h"

#include "storage/lmgr.h"

#include "pg/server/rights.h"

static Oid
own_table(const char *table)
{
	return get_relname_relid(table, hopper_schema());
}

/* It is locked, so that what it has now is what it has until the transaction ends. */
static void
refuse_triggers(Oid relation, const char *table)
{
	Relation	opened = relation_open(relation, NoLock);
	const char *trigger = hopper_user_trigger(opened);
	bool		has_rules = opened->rd_rules != NULL;

	trigger = trigger ? pstrdup(trigger) : NULL;
	relation_close(opened, NoLock);
	if (trigger == NULL && !has_rules)
		return;
	hopper_unmet(errmsg("table \"hopper.%s\" has a %s that is not the extension's", table,
						trigger ? "trigger" : "rule"),
				 errdetail("It would run with the rights of the table's owner."),
				 trigger ? errhint("DROP TRIGGER %s ON %s;", hopper_identifier(trigger),
								   hopper_own_name(table))
				 : errhint("Drop its rules."));
}

void
hopper_own_hold(const char *const *tables, int n, LOCKMODE mode, const char *what)
{
	bool		told = false;

	for (int i = 0; i < n; i++)
	{
		Oid			relation = own_table(tables[i]);

		if (!OidIsValid(relation))
			continue;
		if (!ConditionalLockRelationOid(relation, mode))
		{
			if (!told)
				ereport(NOTICE, errmsg("waiting for a session that has locked %s, \"hopper.%s\"",
									   what, tables[i]));
			told = true;
			LockRelationOid(relation, mode);
		}
		refuse_triggers(relation, tables[i]);
	}
}

hopper_own_scope
hopper_own_begin(const char *table)
{
	Oid			owner = hopper_owner(own_table(table));
	hopper_own_scope scope;

	if (!OidIsValid(owner))
		hopper_raise(ERRCODE_UNDEFINED_TABLE,
					 errmsg("relation \"hopper.%s\" does not exist", table),
					 errhint("Create the extension again: DROP EXTENSION model_hopper; CREATE "
							 "EXTENSION model_hopper;"));
	scope.before = hopper_restrict(owner);
	scope.level = hopper_backend.safe_path();
	return scope;
}

void
hopper_own_end(const hopper_own_scope *scope)
{
	hopper_backend.callers_path(scope->level);
	hopper_unrestrict(&scope->before);
}

/* --- statements that name tables of the extension --- */

#define SCHEMA "@extschema@"
#define RECORD "the record of runs"

/* The table that a statement names first. */
static const char *
first_table(const char *statement)
{
	const char *name = strstr(statement, SCHEMA ".") + strlen(SCHEMA ".");

	return pnstrdup(name, strspn(name, "abcdefghijklmnopqrstuvwxyz_"));
}

static const char *
with_schema(const char *statement)
{
	const char *schema = hopper_identifier(get_namespace_name(hopper_schema()));
	StringInfo	text = makeStringInfo();
	const char *found;

	for (; (found = strstr(statement, SCHEMA)) != NULL; statement = found + strlen(SCHEMA))
	{
		appendBinaryStringInfo(text, statement, found - statement);
		appendStringInfoString(text, schema);
	}
	appendStringInfoString(text, statement);
	return text->data;
}

/*
 * Of sessions that write what a slice or a training has come to, one has its turn after the other,
 * as each of them takes whole tables on segments: in an order that all keep, with what may be
 * written at any time first.
 */
static void
take_turn(const char *table)
{
	static const char *const at_any_time[] = {"all_run_events", "all_search_results",
	"all_run_grants", "journal_runs", "journal_visits"};
	static const char *const turn = "all_runs";

	if (!HOPPER_DATA_ON_SEGMENTS)
		return;
	for (int i = 0; i < lengthof(at_any_time); i++)
		if (strcmp(table, at_any_time[i]) == 0)
			return;
	hopper_own_hold(at_any_time, 1, RowExclusiveLock, RECORD);
	hopper_own_hold(&turn, 1, ExclusiveLock, RECORD);
}

/*
 * Where rows lie on segments a statement that changes some takes the whole table. It is to be had
 * at once: of two sessions that both began with less, neither could get more.
 */
static LOCKMODE
lock_of(const char *statement)
{
	return HOPPER_DATA_ON_SEGMENTS && strncmp(statement, "INSERT", strlen("INSERT")) != 0
		? ExclusiveLock : RowExclusiveLock;
}

void
hopper_own_change(int n, const hopper_param *params, const char *format,...)
{
	char	   *statement;
	const char *table;
	hopper_own_scope scope;
	int			rc;

	HOPPER_FORMAT(statement, format);
	table = first_table(statement);
	take_turn(table);
	hopper_own_hold(&table, 1, lock_of(statement), RECORD);
	scope = hopper_own_begin(table);
	rc = hopper_execute_params(with_schema(statement), n, params);
	hopper_own_end(&scope);
	if (rc < 0)
		elog(ERROR, "writing \"hopper.%s\" failed: %s", table, SPI_result_code_string(rc));
}

uint64
hopper_own_select(const char *format,...)
{
	char	   *statement;
	hopper_own_scope scope;
	uint64		n;

	HOPPER_FORMAT(statement, format);
	scope = hopper_own_begin(first_table(statement));
	n = hopper_select_latest("%s", with_schema(statement));
	hopper_own_end(&scope);
	return n;
}

/* --- many rows at once --- */

hopper_own_rows
hopper_own_rows_new(int width, const char *const *names, int allocated)
{
	hopper_own_rows rows = {.width = width,.names = names,.allocated = Max(allocated, 64)};

	for (int i = 0; i < width; i++)
	{
		rows.values[i] = palloc(rows.allocated * sizeof(Datum));
		rows.nulls[i] = palloc(rows.allocated * sizeof(bool));
	}
	return rows;
}

void
hopper_own_rows_add(hopper_own_rows *rows, int n, const hopper_param *params)
{
	bool		full = rows->n == rows->allocated;

	Assert(n == rows->width);
	rows->allocated *= full ? 2 : 1;
	for (int i = 0; i < n; i++)
	{
		if (full)
		{
			rows->values[i] = repalloc_huge(rows->values[i], rows->allocated * sizeof(Datum));
			rows->nulls[i] = repalloc_huge(rows->nulls[i], rows->allocated * sizeof(bool));
		}
		rows->types[i] = params[i].type;
		rows->values[i][rows->n] = params[i].value;
		rows->nulls[i][rows->n] = params[i].isnull;
	}
	rows->n++;
}

char *
hopper_own_rows_query(const hopper_own_rows *rows, int64 run, hopper_param *params)
{
	StringInfo	query = makeStringInfo();

	params[0] = HOPPER_INT8(run);
	for (int i = 0; i < rows->width; i++)
	{
		params[i + 1] = HOPPER_PARAM(get_array_type(rows->types[i]),
									 hopper_array(rows->types[i], rows->n, rows->values[i],
												  rows->nulls[i]));
		appendStringInfo(query, "%s pg_catalog.unnest($%d) AS %s", i ? "," : "", i + 2,
						 rows->names[i]);
	}
	return query->data;
}

char *
hopper_own_rows_names(const hopper_own_rows *rows, const char *before)
{
	StringInfo	text = makeStringInfo();

	for (int i = 0; i < rows->width; i++)
		appendStringInfo(text, "%s%s%s", i ? ", " : "", before, rows->names[i]);
	return text->data;
}

void
hopper_own_rows_insert(int64 run, const char *table, const hopper_own_rows *rows)
{
	hopper_param params[HOPPER_OWN_COLUMNS + 1];
	char	   *query;

	if (rows->n == 0)
		return;
	query = hopper_own_rows_query(rows, run, params);
	hopper_own_change(rows->width + 1, params,
					  "INSERT INTO @extschema@.%s (run, %s) SELECT $1,%s",
					  table, hopper_own_rows_names(rows, ""), query);
}

/*
 * close_own_tables(): takes the rights that default privileges have given others on the tables and
 * sequences of the schema hopper. Of the scripts of installation and update.
 */
HOPPER_ANY_VERSION_FUNCTION(hopper_sql_close_own_tables)
{
	SPITupleTable *tables;
	uint64		n;

	hopper_connect_only();
	n = hopper_select_latest("SELECT oid::int8 FROM pg_class WHERE relnamespace = %u"
							 " AND relkind IN ('r', 'S', 'v') ORDER BY oid", hopper_schema());
	tables = SPI_tuptable;
	for (uint64 row = 0; row < n; row++)
	{
		hopper_name table;

		SPI_tuptable = tables;
		SPI_processed = n;
		table = hopper_name_of((Oid) hopper_int_cell(NULL, row, 1, 0, PG_UINT32_MAX));
		hopper_close_table(&table);
	}
	SPI_finish();
	PG_RETURN_VOID();
}
