/*
 * trust.c
 *		Tables that the caller reaches through a table of another role: companions, and those whose
 *		names such a table holds.
 *
 * Whoever reads a view runs its functions with his own rights. That is his choice where he names
 * the view. Where he names a plain table, nothing that its owner writes into it, or puts beside it,
 * may lead him to one.
 */
#include "pg/server/glue.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "catalog/pg_index.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "utils/syscache.h"

static bool
is_trusted(Oid owner)
{
	return owner == GetUserId() || (OidIsValid(owner) && superuser_arg(owner));
}

/* InvalidOid: the server's. */
static Oid
type_owner(Oid type)
{
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

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

/* The role whose casts may run where this type is read as another; InvalidOid: the server's. */
static Oid
casts_owner(Oid type)
{
	Oid			element;

	type = getBaseType(type);
	element = get_element_type(type);
	return type_owner(OidIsValid(element) ? getBaseType(element) : type);
}

/* Of what others have made of it, the relation being locked. */
static bool
has_others_types(Relation opened)
{
	TupleDesc	columns = RelationGetDescr(opened);

	for (int i = 0; i < columns->natts; i++)
	{
		Oid			owner = TupleDescAttr(columns, i)->attisdropped ? InvalidOid
			: casts_owner(TupleDescAttr(columns, i)->atttypid);

		if (OidIsValid(owner) && !is_trusted(owner))
			return true;
	}
	return false;
}

/* Whether one of the columns of this row of a catalog, which the cache knows by `oid`, is set. */
static bool
is_set(int cache, Oid oid, AttrNumber column, AttrNumber other)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));
	bool		is_null = true;

	if (!HeapTupleIsValid(tuple))
		return false;
	(void) SysCacheGetAttr(cache, tuple, column, &is_null);
	if (is_null)
		(void) SysCacheGetAttr(cache, tuple, other, &is_null);
	ReleaseSysCache(tuple);
	return !is_null;
}

static bool
has_index_expressions(Relation opened)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(opened))
		if (is_set(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indexprs, Anum_pg_index_indpred))
			return true;
	return false;
}

static bool
has_statistics_expressions(Relation opened)
{
	ListCell   *cell;

	foreach(cell, hopper_extended_statistics(opened))
		if (is_set(HOPPER_STATISTICS_CACHE, lfirst_oid(cell), HOPPER_STATISTICS_EXPRESSIONS,
				   HOPPER_STATISTICS_EXPRESSIONS))
			return true;
	return false;
}

/* What makes a relation another thing than a plain table of the server's types; NULL: nothing. */
static const char *
what_runs_openly(Oid relation)
{
	char		kind = get_rel_relkind(relation);
	Relation	opened;
	bool		typed;

	if (kind == RELKIND_VIEW)
		return "is a view";
	/* partitions may be foreign tables, and have indexes of their own */
	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW)
		return "is no plain table";
	if (hopper_hides_rows(relation))
		return "has row-level security";
	opened = relation_open(relation, AccessShareLock);
	typed = has_others_types(opened);
	relation_close(opened, NoLock);
	return typed ? "has a column of a type of its own" : NULL;
}

/*
 * What the planner computes with the reader's rights: the constant parts of expressions that it
 * looks at, whatever the query is (src/backend/optimizer/util/plancat.c).
 */
static const char *
what_is_planned(Relation opened)
{
	if (opened->rd_rel->relhassubclass)
		return "has child tables";
	if (has_index_expressions(opened))
		return "has an index with an expression or a condition";
	if (has_statistics_expressions(opened))
		return "has statistics of an expression";
	if (constraint_exclusion == CONSTRAINT_EXCLUSION_ON && opened->rd_att->constr &&
		opened->rd_att->constr->num_check > 0)
		return "has a check constraint";
	return NULL;
}

static bool
has_others_domains(Relation opened)
{
	TupleDesc	columns = RelationGetDescr(opened);

	/* A column that is left out gets a NULL, which a domain may check. */
	for (int i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped &&
			TupleDescAttr(columns, i)->atttypid >= FirstNormalObjectId &&
			get_typtype(TupleDescAttr(columns, i)->atttypid) == TYPTYPE_DOMAIN)
			return true;
	return false;
}

const char *
hopper_user_trigger(Relation opened)
{
	TriggerDesc *triggers = opened->trigdesc;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
		if (!triggers->triggers[i].tgisinternal)
			return triggers->triggers[i].tgname;
	return NULL;
}

/* More than a serial's: the server's functions, too, may run a text (query_to_xml()). */
static bool
has_expressions_for_columns(Relation opened)
{
	return hopper_any(hopper_select_latest("SELECT 1 FROM pg_attrdef a WHERE a.adrelid = %u AND"
										   " (pg_get_expr(a.adbin, a.adrelid)"
										   " !~ $e$^nextval\\('([^']|'')+'::regclass\\)$$e$ OR"
										   " EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid ="
										   " a.oid AND d.classid = 'pg_attrdef'::regclass AND"
										   " d.refclassid <> 'pg_class'::regclass)) LIMIT 1",
										   RelationGetRelid(opened)));
}

/* What runs when rows are written or deleted, with the writer's rights. */
static const char *
what_writing_runs(Relation opened)
{
	TupleConstr *constraints = opened->rd_att->constr;

	if (hopper_user_trigger(opened))
		return "has a trigger";
	if (opened->rd_rules)
		return "has a rule";
	if (constraints && constraints->num_check > 0)
		return "has a check constraint";
	if (constraints && constraints->num_defval > 0 && has_expressions_for_columns(opened))
		return "has a default";
	if (has_others_domains(opened))
		return "has a column of a domain";
	return NULL;
}

static const char *
what_is_hidden(Oid relation, bool written)
{
	Relation	opened = relation_open(relation, AccessShareLock);
	const char *what = what_is_planned(opened);

	if (what == NULL && written)
		what = what_writing_runs(opened);
	relation_close(opened, NoLock);
	return what;
}

/* Whether who names it asks for functions of its owner. */
static bool
is_asked_for(Oid relation)
{
	return !hopper_is_partitioned(get_rel_relkind(relation)) && what_runs_openly(relation) != NULL;
}

bool
hopper_reading_runs(Oid relation)
{
	return what_runs_openly(relation) != NULL || what_is_hidden(relation, false) != NULL;
}

/* `by`: what has led to it, or NULL: the caller has named it. */
static void
refuse_harmful(Oid relation, const hopper_name *table, const char *by, bool written)
{
	const char *what = what_runs_openly(relation);

	if (what == NULL)
		what = what_is_hidden(relation, written);
	if (what == NULL)
		return;
	hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
				 by == NULL ? errmsg("\"%s\" %s and belongs to role \"%s\"", table->shown, what,
									 hopper_role_name(hopper_owner(relation)))
				 : errmsg("%s leads to \"%s\", which %s and belongs to role \"%s\"", by,
						  table->shown, what, hopper_role_name(hopper_owner(relation))),
				 errdetail("Functions of that role could run with your rights when it is %s.",
						   written ? "written" : "read"),
				 errhint("Let it be a plain table, or use tables of your own."));
}

void
hopper_require_harmless(const hopper_name *table, const hopper_name *named, bool written)
{
	Oid			relation = hopper_relation_oid(table, true);
	Oid			by = hopper_relation_oid(named, true);

	if (!OidIsValid(relation) || is_trusted(hopper_owner(relation)))
		return;
	/* Locked, it cannot become another before it is read. */
	relation = hopper_source_oid(table);
	/* He has named what runs functions of this role himself. */
	if (OidIsValid(by) && hopper_owner(by) == hopper_owner(relation) && is_asked_for(by))
		return;
	refuse_harmful(relation, table, relation == by ? NULL : psprintf("\"%s\"", named->shown),
				   written);
}

void
hopper_require_plain(const hopper_name *table, const char *by, bool written)
{
	Oid			relation = hopper_relation_oid(table, true);
	AclResult	allowed;

	if (!OidIsValid(relation) || is_trusted(hopper_owner(relation)))
		return;
	allowed = pg_class_aclcheck(relation, GetUserId(), written ? ACL_INSERT : ACL_SELECT);
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, HOPPER_OBJECT_TABLE, table->shown);
	/* Nobody gives it a trigger before it is written. */
	relation = RangeVarGetRelid(makeRangeVar(table->schema, table->name, -1),
								written ? RowExclusiveLock : AccessShareLock, false);
	refuse_harmful(relation, table, by, written);
}

uint64
hopper_select_as(Oid owner, const char *query)
{
	hopper_restricted before;
	uint64		n_rows;

	if (owner == GetUserId())
		return hopper_select("%s", query);
	before = hopper_restrict(owner);
	n_rows = hopper_select("%s", query);
	hopper_unrestrict(&before);
	return n_rows;
}

hopper_name
hopper_name_in(const hopper_name *holder, const hopper_name *named, const char *value,
			   const char *column)
{
	hopper_name name = hopper_parse_name(cstring_to_text(value), column);
	hopper_name beside = hopper_name_beside(holder, name.name);

	if (OidIsValid(hopper_relation_oid(&beside, true)))
	{
		if (!OidIsValid(hopper_relation_oid(&name, true)))
			name = beside;
		else if (strcmp(name.quoted, beside.quoted) != 0)
			ereport(NOTICE, errmsg("\"%s\" names %s, and not the table of that name beside it",
								   holder->shown, name.quoted),
					errhint("If it means that one, as after ALTER SCHEMA ... RENAME: UPDATE %s "
							"SET %s = %s;", holder->quoted, column, hopper_literal(beside.quoted)));
	}
	if (!is_trusted(hopper_owner(hopper_relation_oid(holder, false))))
		hopper_require_harmless(&name, named, false);
	return name;
}

char *
hopper_type_in(const hopper_name *holder, const char *value)
{
	Oid			type;
	Oid			owner;
	char	   *text;

	/* Read as a type it is nothing else: what follows a type's name is an error. */
	if (hopper_select("SELECT t.oid::int8, format_type(t.oid, -1), e.oid::int8 FROM pg_type t"
					  " LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typlen = -1 WHERE t.oid ="
					  " %s::regtype", hopper_literal(value)) != 1)
		hopper_raise(ERRCODE_UNDEFINED_OBJECT,
					 errmsg("\"%s\" names the type \"%s\", which does not exist", holder->shown,
							value));
	type = (Oid) hopper_int_cell(NULL, 0, 1, 0, PG_UINT32_MAX);
	text = hopper_cell(0, 2);
	owner = type_owner(hopper_cell(0, 3) ? (Oid) hopper_int_cell(NULL, 0, 3, 0, PG_UINT32_MAX)
					   : type);
	SPI_freetuptable(SPI_tuptable);
	if (OidIsValid(owner) && !is_trusted(owner) &&
		!is_trusted(hopper_owner(hopper_relation_oid(holder, false))))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("\"%s\" leads to the type %s, which belongs to role \"%s\"",
							holder->shown, text, hopper_role_name(owner)),
					 errdetail("Functions of that role could run with your rights when a value "
							   "becomes one of this type."));
	return text;
}
