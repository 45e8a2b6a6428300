/*
 * sql.c
 *		Names of the user's objects, and SQL through SPI.
 *
 * A user's table is looked up in the caller's search_path once, where its name is read; from then
 * on it is named with its schema, and so are its companions. What our statements name themselves
 * (functions, operators, types) is looked up in pg_catalog alone, so that nothing that somebody put
 * into a schema of the path takes its place. The users' own functions, in views, row policies,
 * defaults and triggers, run with the caller's search_path, as they would without us.
 */
#include "pg/server/glue.h"

#include <ctype.h>

#include "access/sysattr.h"
#include "access/hash.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* --- names --- */

/* The schema as a statement names it; NULL where it is gone. */
static char *
schema_name(Oid schema)
{
	return isTempNamespace(schema) ? "pg_temp" : get_namespace_name(schema);
}

/* Where an unqualified name's table is, or would be made; NULL where no schema is selected. */
static char *
find_schema(char *name)
{
	Oid			relation = RangeVarGetRelid(makeRangeVar(NULL, name, -1), NoLock, true);
	List	   *path;

	if (OidIsValid(relation))
		return schema_name(get_rel_namespace(relation));
	path = fetch_search_path(false);
	return path == NIL ? NULL : schema_name(linitial_oid(path));
}

static hopper_name
make_name(char *schema, bool qualified, char *name)
{
	hopper_name result;

	result.schema = schema;
	result.name = name;
	result.qualified = qualified;
	result.quoted = quote_qualified_identifier(schema, name);
	result.shown = qualified ? psprintf("%s.%s", schema, name) : name;
	return result;
}

hopper_name
hopper_parse_name(text *value, const char *argument)
{
	char	   *written;
	char	   *parts;
	List	   *names = NIL;
	const char *c;

	if (value == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", argument)));
	written = text_to_cstring(value);
	for (c = written; isspace((unsigned char) *c); c++)
		;
	if (*c == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must not be empty", argument)));
	parts = pstrdup(written);
	if (!SplitIdentifierString(parts, '.', &names) || list_length(names) < 1 ||
		list_length(names) > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("argument \"%s\" is not a valid table name: %s", argument, written),
				 errhint("Write table or schema.table; put names with blanks, capitals or dots in "
						 "double quotes.")));
	if (list_length(names) == 1)
		return make_name(find_schema(linitial(names)), false, linitial(names));
	return make_name(linitial(names), true, lsecond(names));
}

hopper_name
hopper_name_with_suffix(const hopper_name *name, const char *suffix)
{
	char	   *longer = psprintf("%s_%s", name->name, suffix);

	if (strlen(longer) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("table name \"%s\" is too long", name->name),
				 errdetail("The table \"%s\" goes with it, and names have at most %d bytes.",
						   longer, NAMEDATALEN - 1),
				 errhint("Choose a shorter name.")));
	return make_name(name->schema, name->qualified, longer);
}

char *
hopper_written_name(const hopper_name *name)
{
	return name->qualified ? name->quoted : hopper_identifier(name->name);
}

/* The name of a relation as messages show it. */
static char *
relation_shown(Oid relation)
{
	char	   *name = get_rel_name(relation);

	return name ? name : psprintf("%u", relation);
}

/* The nearest of the rows' first column in SPI_tuptable, or NULL. */
static const char *
nearest_cell(const char *name, uint64 n_rows)
{
	const char **names = palloc(sizeof(char *) * (n_rows + 1));
	uint64		row;
	int			nearest;

	for (row = 0; row < n_rows; row++)
		names[row] = hopper_cell(row, 1);
	nearest = hopper_core()->nearest_name(name, (int) n_rows, names);
	return nearest >= 0 ? names[nearest] : NULL;
}

/* The name of a table that the user may have meant, or NULL. */
static char *
nearest_table(const hopper_name *name)
{
	MemoryContext caller = CurrentMemoryContext;
	const char *nearest;
	char	   *result = NULL;
	uint64		n_rows;
	bool		pushed = hopper_spi_push();

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	n_rows = hopper_select(
						   "SELECT c.relname::pg_catalog.text FROM pg_catalog.pg_class c"
						   " JOIN pg_catalog.pg_namespace n"
						   " ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
						   " WHERE c.relkind::pg_catalog.text OPERATOR(pg_catalog.=)"
						   " ANY ('{r,v,m,f,p}'::pg_catalog.text[])"
						   " AND n.nspname OPERATOR(pg_catalog.<>)"
						   " ALL ('{pg_catalog,information_schema,hopper}'::pg_catalog.name[])"
						   " AND CASE WHEN %s IS NULL THEN pg_catalog.pg_table_is_visible(c.oid)"
						   " ELSE n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) %s END"
						   " ORDER BY c.relname LIMIT 10000",
						   hopper_literal(name->qualified ? name->schema : NULL),
						   hopper_literal(name->schema));
	nearest = nearest_cell(name->name, n_rows);
	if (nearest)
		result = MemoryContextStrdup(caller, name->qualified
									 ? psprintf("%s.%s", name->schema, nearest) : nearest);
	SPI_finish();
	hopper_spi_pop(pushed);
	return result;
}

static void
tell_waiting(const hopper_name *name)
{
	ereport(NOTICE, (errmsg("waiting for other sessions that use \"%s\"", name->shown)));
}

/* Where another session has the table for itself, statements would wait without a word. */
static Oid
find_relation(const hopper_name *name)
{
	bool		told = false;

	for (;;)
	{
		Oid			relation = RangeVarGetRelid(makeRangeVar(name->schema, name->name, -1), NoLock,
												true);
		bool		locked;

		if (!OidIsValid(relation))
			return relation;
		locked = ConditionalLockRelationOid(relation, AccessShareLock);
		if (!locked)
		{
			if (!told)
				tell_waiting(name);
			told = true;
			LockRelationOid(relation, AccessShareLock);
		}
		UnlockRelationOid(relation, AccessShareLock);
		/* After a wait it may be gone, and another have its name. */
		if (locked)
			return relation;
	}
}

Oid
hopper_relation_oid(const hopper_name *name, bool missing_ok)
{
	Oid			relation = find_relation(name);
	char	   *nearest;

	if (OidIsValid(relation) || missing_ok)
		return relation;
	nearest = nearest_table(name);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation \"%s\" does not exist", name->shown),
			 nearest ? errhint("Perhaps you meant to reference the table \"%s\".", nearest) : 0));
	pg_unreachable();
}

Oid
hopper_source_oid(const hopper_name *name)
{
	(void) hopper_relation_oid(name, false);
	return RangeVarGetRelid(makeRangeVar(name->schema, name->name, -1), AccessShareLock, false);
}

void
hopper_lock_table(const hopper_name *name, LOCKMODE mode, const char *mode_name)
{
	Oid			relation = hopper_relation_oid(name, false);
	AclResult	allowed = pg_class_aclcheck(relation, GetUserId(),
											ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_TABLE, relation_shown(relation));
	if (!ConditionalLockRelationOid(relation, mode))
		tell_waiting(name);
	hopper_exec("LOCK TABLE %s IN %s MODE", name->quoted, mode_name);
}

/*
 * A second session that makes the same table would wait in CREATE TABLE for the end of the first
 * one's transaction, of its whole training perhaps, only to fail then on a catalog's unique index.
 */
static void
claim_name(Oid schema, const hopper_name *name)
{
	LOCKTAG		tag;

	/* The last number tells our locks from users' advisory ones, which have 1 and 2. */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, schema,
						 DatumGetUInt32(hash_any((const unsigned char *) name->name,
												 (int) strlen(name->name))), 3);
	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another session is making the table \"%s\"", name->shown),
				 errhint("Choose another name, or wait for the end of its transaction.")));
}

static void
refuse_existing(const hopper_name *name)
{
	if (OidIsValid(hopper_relation_oid(name, true)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name->shown),
				 errhint("Choose another name, or drop it first.")));
}

void
hopper_require_absent(const hopper_name *name)
{
	/* What CREATE TABLE would say, without the text of our statement. */
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1));
	AclResult	allowed = hopper_schema_aclcheck(schema, GetUserId(), ACL_CREATE);

	PreventCommandIfReadOnly("CREATE TABLE");
	/* It may be in a schema of the path where nothing could be made. */
	refuse_existing(name);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_SCHEMA, get_namespace_name(schema));
	claim_name(schema, name);
	refuse_existing(name);
}

void
hopper_require_other_table(const hopper_name *name, const char *argument,
						   const hopper_name *other, const char *other_argument)
{
	if (strcmp(name->name, other->name) != 0 ||
		RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1)) !=
		RangeVarGetCreationNamespace(makeRangeVar(other->schema, other->name, -1)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s and %s are both \"%s\"", argument, other_argument, name->shown),
			 errhint("Give them different names.")));
}

void
hopper_require_select(Oid relation)
{
	AclResult	allowed = pg_class_aclcheck(relation, GetUserId(), ACL_SELECT);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_TABLE, relation_shown(relation));
}

AttrNumber
hopper_require_column(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);
	Relation	opened;
	const char **names;
	const char *nearest = NULL;
	int			n_names = 0;
	int			index;

	if (number != InvalidAttrNumber)
		return number;
	opened = relation_open(relation, AccessShareLock);
	names = palloc(sizeof(char *) * (RelationGetNumberOfAttributes(opened) + 1));
	for (index = 0; index < RelationGetNumberOfAttributes(opened); index++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(opened), index);

		if (!attribute->attisdropped)
			names[n_names++] = pstrdup(NameStr(attribute->attname));
	}
	relation_close(opened, NoLock);
	index = hopper_core()->nearest_name(column, n_names, names);
	if (index >= 0)
		nearest = names[index];
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist", column,
					relation_shown(relation)),
			 nearest ? errhint("Perhaps you meant to reference the column \"%s\".", nearest) : 0));
	pg_unreachable();
}

/* --- statements --- */

static char *format_statement(const char *format, va_list arguments) pg_attribute_printf(1, 0);

static char *
format_statement(const char *format, va_list arguments)
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

void
hopper_connect(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
}

void
hopper_finish(void)
{
	PopActiveSnapshot();
	SPI_finish();
}

static void
execute(char *statement)
{
	int			rc = SPI_execute(statement, false, 0);

	if (rc < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
	pfree(statement);
}

void
hopper_exec(const char *format,...)
{
	va_list		arguments;
	char	   *statement;
	int			level;

	va_start(arguments, format);
	statement = format_statement(format, arguments);
	va_end(arguments);
	level = hopper_safe_path();
	execute(statement);
	hopper_callers_path(level);
}

void
hopper_change(const char *format,...)
{
	va_list		arguments;
	char	   *statement;

	va_start(arguments, format);
	statement = format_statement(format, arguments);
	va_end(arguments);
	execute(statement);
}

#ifdef GP_VERSION_NUM

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

#else

int
hopper_safe_path(void)
{
	int			level = NewGUCNestLevel();

	(void) hopper_set_for_level("search_path", "pg_catalog, pg_temp");
	return level;
}

void
hopper_callers_path(int level)
{
	AtEOXact_GUC(false, level);
}

#endif

#ifdef GP_VERSION_NUM

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

#else

/* Shows the place of an error in our statement, not in the caller's. */
static void
point_into_query(void *query)
{
	int			position = geterrposition();

	if (position <= 0)
	{
		errcontext("SQL statement \"%s\"", (const char *) query);
		return;
	}
	errposition(0);
	internalerrposition(position);
	internalerrquery(query);
}

/*
 * What SPI's cursors do, but with our search_path for the analysis alone, where names are looked
 * up. Planning already runs functions of users, or takes them apart, and SPI would analyse a
 * statement again as soon as the path is another.
 */
Portal
hopper_cursor_open(const char *query, bool read_only)
{
	Portal		portal = CreateNewPortal();
	MemoryContext caller = MemoryContextSwitchTo(portal->portalContext);
	char	   *kept = pstrdup(query);
	ErrorContextCallback context;
	List	   *queries;
	int			level;

	context.callback = point_into_query;
	context.arg = kept;
	context.previous = error_context_stack;
	error_context_stack = &context;
	level = hopper_safe_path();
	queries = hopper_analyze(linitial(pg_parse_query(kept)), kept);
	hopper_callers_path(level);
	PortalDefineQuery(portal, NULL, kept, HOPPER_TAG_SELECT,
					  hopper_plan_queries(queries, kept, CURSOR_OPT_NO_SCROLL), NULL);
	portal->cursorOptions = CURSOR_OPT_NO_SCROLL;
	MemoryContextSwitchTo(caller);
	if (!read_only)
		CommandCounterIncrement();
	PortalStart(portal, NULL, 0, read_only ? GetActiveSnapshot() : GetTransactionSnapshot());
	error_context_stack = context.previous;
	return portal;
}

#endif

static uint64
run_select(char *statement, bool read_only)
{
	Portal		portal = hopper_cursor_open(statement, read_only);

	SPI_cursor_fetch(portal, true, FETCH_ALL);
	SPI_cursor_close(portal);
	pfree(statement);
	return (uint64) SPI_processed;
}

uint64
hopper_select(const char *format,...)
{
	va_list		arguments;
	char	   *statement;

	va_start(arguments, format);
	statement = format_statement(format, arguments);
	va_end(arguments);
	return run_select(statement, true);
}

uint64
hopper_select_latest(const char *format,...)
{
	va_list		arguments;
	char	   *statement;

	va_start(arguments, format);
	statement = format_statement(format, arguments);
	va_end(arguments);
	return run_select(statement, false);
}

uint64
hopper_select_at_once(const char *format,...)
{
	va_list		arguments;
	char	   *statement;
	int			rc;

	va_start(arguments, format);
	statement = format_statement(format, arguments);
	va_end(arguments);
	rc = SPI_execute(statement, true, 0);
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
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" must be of type %s, not %s", SPI_fname(descriptor, column),
						format_type_be(type), format_type_be(found)),
				 errhint("Use the tables as the functions of schema hopper made them.")));
}

char *
hopper_type_name(Oid type, int32 typmod)
{
	int			level = hopper_safe_path();
	char	   *name = hopper_format_typmod(type, typmod);

	hopper_callers_path(level);
	return name;
}

/* --- cells --- */

/* A query that should have given a row gave none: its table changed, or hides its rows. */
static void
require_row(uint64 row)
{
	if (SPI_tuptable == NULL || row >= (uint64) SPI_processed)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a table has fewer rows than it had, or should have"),
				 errhint("Use the tables as the functions of schema hopper made them.")));
}

Datum
hopper_value(uint64 row, int column, Oid type, bool *isnull)
{
	Datum		value;

	require_row(row);
	value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
	if (!*isnull)
		hopper_require_type(SPI_tuptable->tupdesc, column, type);
	return value;
}

double
hopper_float_value(uint64 row, int column)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, FLOAT8OID, &isnull);

	return isnull ? 0 : DatumGetFloat8(value);
}

char *
hopper_cell(uint64 row, int column)
{
	require_row(row);
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

void
hopper_refuse_cell(const hopper_name *table, uint64 row, int column)
{
	const char *value = hopper_cell(row, column);

	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("\"%s\" is damaged", table ? table->shown : "a catalog"),
			 errdetail("Column \"%s\" holds %s.", SPI_fname(SPI_tuptable->tupdesc, column),
					   value ? value : "NULL"),
			 errhint("Use the tables as the functions of schema hopper made them.")));
	pg_unreachable();
}

char *
hopper_text_cell(const hopper_name *table, uint64 row, int column)
{
	char	   *value = hopper_cell(row, column);

	if (value == NULL)
		hopper_refuse_cell(table, row, column);
	return value;
}

int64
hopper_int_cell(const hopper_name *table, uint64 row, int column, int64 least, int64 most)
{
	bool		isnull;
	Datum		datum;
	int64		value = 0;

	require_row(row);
	datum = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
	if (isnull)
		hopper_refuse_cell(table, row, column);
	switch (getBaseType(SPI_gettypeid(SPI_tuptable->tupdesc, column)))
	{
		case INT2OID:
			value = DatumGetInt16(datum);
			break;
		case INT4OID:
			value = DatumGetInt32(datum);
			break;
		case INT8OID:
			value = DatumGetInt64(datum);
			break;
		default:
			hopper_require_type(SPI_tuptable->tupdesc, column, INT4OID);
	}
	if (value < least || value > most)
		hopper_refuse_cell(table, row, column);
	return value;
}

int32
hopper_key_cell(const hopper_name *table, uint64 row, int column)
{
	return (int32) hopper_int_cell(table, row, column, PG_INT32_MIN, PG_INT32_MAX);
}

/* --- quoting: nowhere else --- */

char *
hopper_identifier(const char *name)
{
	return pstrdup(quote_identifier(name));
}

const char *
hopper_literal(const char *value)
{
	return value ? quote_literal_cstr(value) : "NULL";
}
