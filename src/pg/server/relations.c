/*
 * relations.c
 *		Tables by their names: finding and locking those that are there, claiming the names of those
 *		to be made, whose they are.
 */
#include "pg/server/glue.h"

#include "access/hash.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/syscache.h"

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
	bool		pushed = hopper_connect_within();

	n_rows = hopper_select(
						   "SELECT c.relname::pg_catalog.text FROM pg_catalog.pg_class c"
						   " JOIN pg_catalog.pg_namespace n"
						   " ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
						   " WHERE c.relkind::pg_catalog.text OPERATOR(pg_catalog.=)"
						   " ANY ('{r,v,m,f,p}'::pg_catalog.text[])"
						   " AND n.nspname OPERATOR(pg_catalog.<>)"
						   " ALL ('{pg_catalog,information_schema}'::pg_catalog.name[])"
						   " AND n.oid OPERATOR(pg_catalog.<>) %u"
						   " AND CASE WHEN %s IS NULL THEN pg_catalog.pg_table_is_visible(c.oid)"
						   " ELSE n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) %s END"
						   " ORDER BY c.relname LIMIT 10000", hopper_schema(),
						   hopper_literal(name->qualified ? name->schema : NULL),
						   hopper_literal(name->schema));
	nearest = nearest_cell(name->name, n_rows);
	if (nearest)
		result = MemoryContextStrdup(caller, name->qualified
									 ? psprintf("%s.%s", name->schema, nearest) : nearest);
	hopper_finish_within(pushed);
	return result;
}

static void
tell_waiting(const hopper_name *name)
{
	ereport(NOTICE, errmsg("waiting for other sessions that use \"%s\"", name->shown));
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

Oid
hopper_relation_oid(const hopper_name *name, bool missing_ok)
{
	Oid			relation = find_relation(name);
	char	   *nearest;

	if (OidIsValid(relation) || missing_ok)
		return relation;
	nearest = nearest_table(name);
	hopper_raise(ERRCODE_UNDEFINED_TABLE, errmsg("relation \"%s\" does not exist", name->shown),
				 nearest ? errhint("%s", hopper_meant_hint("table", nearest, name->shown)) : 0);
	pg_unreachable();
}

bool
hopper_is_gone(Oid relation)
{
	return get_rel_relkind(relation) == '\0';
}

Oid
hopper_source_oid(const hopper_name *name)
{
	Oid			relation;

	do
	{
		(void) hopper_relation_oid(name, false);
		relation = RangeVarGetRelid(makeRangeVar(name->schema, name->name, -1), AccessShareLock,
									true);
	}
	while (!OidIsValid(relation));
	return relation;
}

/* Where the table is, or would be made. */
static Oid
namespace_of(const hopper_name *name)
{
	Oid			relation = hopper_relation_oid(name, true);

	return OidIsValid(relation) ? get_rel_namespace(relation)
		: RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1));
}

void
hopper_require_other_table(const hopper_name *name, const char *argument,
						   const hopper_name *other, const char *other_argument)
{
	if (strcmp(name->name, other->name) != 0 || namespace_of(name) != namespace_of(other))
		return;
	hopper_wrong(errmsg("%s and %s are both \"%s\"", argument, other_argument, name->shown),
				 errhint("Give them different names."));
}

void
hopper_lock_table(const hopper_name *name, LOCKMODE mode, const char *mode_name)
{
	Oid			relation = hopper_relation_oid(name, false);
	AclResult	allowed = pg_class_aclcheck(relation, GetUserId(),
											ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_TABLE, hopper_relation_shown(relation));
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

	if (!OidIsValid(relation) || hopper_is_gone(relation))
		return false;
	/* A lock that he could not have by a statement of his own is not the caller's. */
	if (pg_class_aclcheck(relation, GetUserId(), right) != ACLCHECK_OK)
		return true;
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

static void
release_advisory(XactEvent event, void *nothing)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
		LockReleaseAll(USER_LOCKMETHOD, false);
}

void
hopper_release_advisory_first(void)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(release_advisory, NULL);
	registered = true;
}

/*
 * A second session that makes the same table would wait in CREATE TABLE for the end of the first
 * one's transaction, of its whole training perhaps, only to fail then on a catalog's unique index.
 */
static bool
claim_name(Oid schema, const hopper_name *name, bool waits)
{
	LOCKTAG		tag;

	hopper_release_advisory_first();
	/* The last number tells our locks from users' advisory ones, which have 1 and 2. */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, schema,
						 DatumGetUInt32(hash_any((const unsigned char *) name->name,
												 (int) strlen(name->name))), 3);
	return LockAcquire(&tag, ExclusiveLock, false, !waits) != LOCKACQUIRE_NOT_AVAIL;
}

bool
hopper_claim_if_free(const hopper_name *name)
{
	return claim_name(RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1)),
					  name, false) && !OidIsValid(hopper_relation_oid(name, true));
}

static void
refuse_existing(const hopper_name *name)
{
	if (OidIsValid(hopper_relation_oid(name, true)))
		hopper_raise(ERRCODE_DUPLICATE_TABLE, errmsg("relation \"%s\" already exists", name->shown),
					 errhint("Choose another name, or drop it first."));
}

static Oid
require_creatable(const hopper_name *name)
{
	/* What CREATE TABLE would say, without the text of our statement. */
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(name->schema, name->name, -1));
	AclResult	allowed = hopper_schema_aclcheck(schema, GetUserId(), ACL_CREATE);

	PreventCommandIfReadOnly("CREATE TABLE");
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_SCHEMA, get_namespace_name(schema));
	return schema;
}

void
hopper_claim_name(const hopper_name *name)
{
	if (!claim_name(require_creatable(name), name, false))
		hopper_raise(ERRCODE_OBJECT_IN_USE,
					 errmsg("another session is making the table \"%s\"", name->shown),
					 errhint("Choose another name, or wait for the end of its transaction."));
}

void
hopper_await_name(const hopper_name *name)
{
	Oid			schema = require_creatable(name);

	if (claim_name(schema, name, false))
		return;
	tell_waiting(name);
	(void) claim_name(schema, name, true);
	/* The claim goes before the catalog's caches hear of the table, its lock thereafter. */
	if (hopper_select_latest("SELECT c.oid::int8 FROM pg_class c WHERE c.relnamespace = %u"
							 " AND c.relname::text = %s", schema, hopper_literal(name->name)) > 0)
		LockRelationOid((Oid) hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX), AccessShareLock);
	hopper_renew_snapshot();
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
hopper_require_select(Oid relation)
{
	AclResult	allowed = pg_class_aclcheck(relation, GetUserId(), ACL_SELECT);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_TABLE, hopper_relation_shown(relation));
}

char *
hopper_role_name(Oid role)
{
	char	   *name = hopper_find_role_name(role);

	return name ? name : psprintf("unknown (OID=%u)", role);
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
