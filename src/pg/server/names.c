/*
 * names.c
 *		Names of the user's objects.
 *
 * A user's table is looked up in the caller's search_path once, where its name is read; from then
 * on it is named with its schema, and so are its companions.
 */
#include "pg/server/complaints.h"

#include <ctype.h>

#include "access/hash.h"
#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

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
	result.quoted = schema ? psprintf("%s.%s", hopper_identifier(schema), hopper_identifier(name))
		: hopper_identifier(name);
	result.shown = hopper_name_shown(schema, qualified, name);
	return result;
}

/* What SplitIdentifierString() would cut without a word. */
static void
refuse_long_parts(const char *written, const char *argument)
{
	int			length = 0;
	bool		quoted = false;

	for (const char *c = written; *c; c++)
	{
		if (*c == '"')
			quoted = !quoted;
		/* Of a quote within quotes, which is written twice, one counts. */
		if (*c == '"' && !(quoted && c > written && c[-1] == '"'))
			continue;
		if (!quoted && *c == '.')
			length = 0;
		else if (quoted || !isspace((unsigned char) *c))
			length++;
		if (length >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("argument \"%s\" is too long: %s", argument, written),
					 errdetail("Names have at most %d bytes.", NAMEDATALEN - 1),
					 errhint("Choose a shorter name.")));
	}
}

static bool
is_query(const char *written)
{
	return written[0] == '(' || pg_strncasecmp(written, "select ", 7) == 0 ||
		pg_strncasecmp(written, "with ", 5) == 0 || pg_strncasecmp(written, "values ", 7) == 0;
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
				 is_query(c)
				 ? errhint("Queries are not accepted: make a view of it, and name that.")
				 : errhint("Write table or schema.table; put names with blanks, capitals or dots "
						   "in double quotes.")));
	refuse_long_parts(written, argument);
	if (list_length(names) == 1)
		return make_name(find_schema(linitial(names)), false, linitial(names));
	return make_name(linitial(names), true, lsecond(names));
}

hopper_name
hopper_name_of(Oid relation)
{
	return make_name(schema_name(get_rel_namespace(relation)), !RelationIsVisible(relation),
					 get_rel_name(relation));
}

hopper_name
hopper_name_itself(const hopper_name *name)
{
	return make_name(name->schema, name->qualified, name->name);
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

	return name ? hopper_name_shown(schema_name(get_rel_namespace(relation)), false, name)
		: psprintf("%u", relation);
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

/*
 * Where another session has the table for itself, statements would wait without a word. What was
 * waited for stays locked while its name is looked up again: given back at once, it would have to
 * be waited for anew, for ever where others queue for it.
 */
static Oid
find_relation(const hopper_name *name)
{
	Oid			held = InvalidOid;

	for (;;)
	{
		Oid			relation = RangeVarGetRelid(makeRangeVar(name->schema, name->name, -1), NoLock,
												true);

		if (OidIsValid(held))
		{
			UnlockRelationOid(held, AccessShareLock);
			/* It may be gone, and another have its name. */
			if (held == relation)
				return relation;
		}
		else if (OidIsValid(relation) && !ConditionalLockRelationOid(relation, AccessShareLock))
			tell_waiting(name);
		else
		{
			if (OidIsValid(relation))
				UnlockRelationOid(relation, AccessShareLock);
			return relation;
		}
		if (!OidIsValid(relation))
			return relation;
		LockRelationOid(relation, AccessShareLock);
		held = relation;
		/* What the other session has done belongs to what is read from now on. */
		hopper_renew_snapshot();
	}
}

/* A hint at `nearest`, which was perhaps meant; names are folded where they are not quoted. */
static char *
meant_hint(const char *kind, const char *nearest, const char *written)
{
	return psprintf("Perhaps you meant to reference the %s \"%s\"%s", kind, nearest,
					strcmp(nearest, written) != 0 && pg_strcasecmp(nearest, written) == 0
					? ": put the name in double quotes." : ".");
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
			 nearest ? errhint("%s", meant_hint("table", nearest, name->shown)) : 0));
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

bool
hopper_lock_if_there(const hopper_name *name, LOCKMODE mode, const char *mode_name)
{
	Oid			relation = hopper_relation_oid(name, true);
	bool		reads = mode == AccessShareLock;
	AclMode		right = reads ? ACL_SELECT : ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE;
	RangeVar   *range = makeRangeVar(name->schema, name->name, -1);
	bool		waits;

	/* A lock that he could not have by a statement of his own is not the caller's. */
	if (!OidIsValid(relation) ||
		pg_class_aclcheck(relation, GetUserId(), right) != ACLCHECK_OK)
		return false;
	waits = !ConditionalLockRelationOid(relation, mode);
	if (waits)
		tell_waiting(name);
	else
		UnlockRelationOid(relation, mode);
	/* Another session may have dropped or renamed what was waited for. */
	relation = RangeVarGetRelid(range, mode, true);
	if (waits)
		hopper_renew_snapshot();
	if (OidIsValid(relation) && !reads)
		hopper_exec("LOCK TABLE %s IN %s MODE", name->quoted, mode_name);
	return OidIsValid(relation);
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
hopper_claim_name(const hopper_name *name)
{
	/* What CREATE TABLE would say, without the text of our statement. */
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1));
	AclResult	allowed = hopper_schema_aclcheck(schema, GetUserId(), ACL_CREATE);

	PreventCommandIfReadOnly("CREATE TABLE");
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_SCHEMA, get_namespace_name(schema));
	claim_name(schema, name);
}

void
hopper_require_absent(const hopper_name *name)
{
	(void) RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1));
	PreventCommandIfReadOnly("CREATE TABLE");
	/* It may be in a schema of the path where nothing could be made. */
	refuse_existing(name);
	hopper_claim_name(name);
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

Oid
hopper_owner(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* "ln(a)", "a::real", "*": more than a name. */
static bool
is_expression(const char *column)
{
	return column[strcspn(column, "()[]:*+/.'")] != '\0';
}

#define EXPRESSION_HINT \
	"Write names of columns only, without their table; make a view for what is computed from them."

/* A column that is spelt alike, or NULL. */
static const char *
nearest_column(Oid relation, const char *column)
{
	Relation	opened = relation_open(relation, AccessShareLock);
	const char **names = palloc(sizeof(char *) * (RelationGetNumberOfAttributes(opened) + 1));
	int			n_names = 0;
	int			index;

	for (index = 0; index < RelationGetNumberOfAttributes(opened); index++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(opened), index);

		if (!attribute->attisdropped)
			names[n_names++] = pstrdup(NameStr(attribute->attname));
	}
	relation_close(opened, NoLock);
	index = hopper_core()->nearest_name(column, n_names, names);
	return index >= 0 ? names[index] : NULL;
}

static void
complain_of_column(hopper_complaints *complaints, Oid relation, const char *column)
{
	const char *nearest = nearest_column(relation, column);

	hopper_complain(complaints, ERRCODE_UNDEFINED_COLUMN,
					psprintf("column \"%s\" of relation \"%s\" does not exist", column,
							 relation_shown(relation)), NULL,
					is_expression(column) ? EXPRESSION_HINT
					: nearest ? meant_hint("column", nearest, column) : NULL);
}

AttrNumber
hopper_require_column(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);
	hopper_complaints complaints = {NIL};

	if (number != InvalidAttrNumber)
		return number;
	complain_of_column(&complaints, relation, column);
	hopper_throw_complaints(&complaints, "");
	pg_unreachable();
}

#define MOST_MISSING 20			/* that a message lists */

void
hopper_complain_of_columns(hopper_complaints *complaints, Oid relation, List *columns)
{
	StringInfoData words;
	ListCell   *cell;
	const char *first = NULL;
	bool		expressions = false;
	int			n = 0;

	initStringInfo(&words);
	foreach(cell, columns)
	{
		const char *column = lfirst(cell);
		const char *nearest;

		CHECK_FOR_INTERRUPTS();
		if (get_attnum(relation, column) != InvalidAttrNumber)
			continue;
		if (n++ == 0)
			first = column;
		if (n > MOST_MISSING)
			continue;
		nearest = is_expression(column) ? NULL : nearest_column(relation, column);
		appendStringInfo(&words, "%s\"%s\"", n > 1 ? ", " : "", column);
		if (nearest)
			appendStringInfo(&words, " (perhaps \"%s\")", nearest);
		expressions = expressions || is_expression(column);
	}
	if (n == 1)
		complain_of_column(complaints, relation, first);
	if (n < 2)
		return;
	if (n > MOST_MISSING)
		appendStringInfo(&words, " and %d more", n - MOST_MISSING);
	hopper_complain(complaints, ERRCODE_UNDEFINED_COLUMN,
					psprintf("%d columns of relation \"%s\" do not exist", n,
							 relation_shown(relation)),
					psprintf("They are %s.", words.data), expressions ? EXPRESSION_HINT : NULL);
}

void
hopper_require_columns(Oid relation, List *columns)
{
	hopper_complaints complaints = {NIL};

	hopper_complain_of_columns(&complaints, relation, columns);
	hopper_throw_complaints(&complaints, "");
}
