/*
 * named.c
 *		Tables that the caller has not named: those whose names another role's table holds, and
 *		companions.
 *
 * Whoever reads a view runs its functions with his own rights. That is his choice where he names
 * the view. Where he names a plain table, nothing that its owner writes into it, or puts beside it,
 * may lead him to one.
 */
#include "pg/server/glue.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static bool
is_trusted(Oid owner)
{
	return owner == GetUserId() || (OidIsValid(owner) && superuser_arg(owner));
}

/* Whose casts may run where a value of this type is read as another; InvalidOid: the server's. */
static Oid
type_owner(Oid type)
{
	Oid			element;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	type = getBaseType(type);
	element = get_element_type(type);
	if (OidIsValid(element))
		type = getBaseType(element);
	if (type < FirstNormalObjectId)
		return InvalidOid;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_type) GETSTRUCT(tuple))->typowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

static bool
has_others_types(Oid relation)
{
	Relation	opened = relation_open(relation, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(opened);
	bool		found = false;

	for (int i = 0; i < columns->natts && !found; i++)
	{
		Oid			owner = TupleDescAttr(columns, i)->attisdropped ? InvalidOid
			: type_owner(TupleDescAttr(columns, i)->atttypid);

		found = OidIsValid(owner) && !is_trusted(owner);
	}
	relation_close(opened, AccessShareLock);
	return found;
}

/* What of another role's runs when it is read; NULL: nothing. */
static const char *
what_runs(Oid relation)
{
	char		kind = get_rel_relkind(relation);

	if (kind == 'v')
		return "is a view";
	/* plain and partitioned tables and materialized views hold rows */
	if (strchr("rpm", kind) == NULL)
		return "is no plain table";
	if (hopper_hides_rows(relation))
		return "has row-level security";
	if (has_others_types(relation))
		return "has a column of a type of its own";
	return NULL;
}

void
hopper_require_harmless(const hopper_name *table, const hopper_name *named)
{
	Oid			relation = hopper_relation_oid(table, true);
	Oid			by = hopper_relation_oid(named, true);
	const char *what;

	if (!OidIsValid(relation) || is_trusted(hopper_owner(relation)))
		return;
	/* Locked, it cannot become another before it is read. */
	relation = hopper_source_oid(table);
	what = what_runs(relation);
	if (what == NULL)
		return;
	/* He has named what runs functions of this role himself. */
	if (OidIsValid(by) && hopper_owner(by) == hopper_owner(relation) && what_runs(by) != NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("\"%s\" leads to \"%s\", which %s and belongs to role \"%s\"", named->shown,
					table->shown, what, hopper_role_name(hopper_owner(relation))),
			 errdetail("Functions of that role could run with your rights when it is read."),
			 errhint("Let it be a plain table, or use tables of your own.")));
}

hopper_name
hopper_name_in(const hopper_name *holder, const hopper_name *named, const char *value,
			   const char *column)
{
	hopper_name name = hopper_parse_name(cstring_to_text(value), column);

	if (!is_trusted(hopper_owner(hopper_relation_oid(holder, false))))
		hopper_require_harmless(&name, named);
	return name;
}
