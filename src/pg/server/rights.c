/*
 * rights.c
 *		The owner of a table, and who may do what with which of its rows.
 */
#include "pg/server/rights.h"

/* What somebody else than the owner may do with a table, or with a column of it. */
typedef struct right
{
	char	   *privilege;
	bool		may_grant;
	char	   *grantee;		/* as GRANT names it */
	char	   *column;			/* NULL: the whole table */
} right;

typedef struct policy
{
	char	   *name;
	char	   *clauses;		/* of CREATE POLICY, behind the table's name */
} policy;

struct hopper_rights
{
	char	   *owner;
	List	   *rights;
	bool		row_security;
	bool		forced;
	List	   *policies;
};

/* --- rights of others --- */

static List *
rights_on(Oid relation)
{
	uint64		n = hopper_select_latest("SELECT privilege_type::text, is_grantable,"
										 " CASE grantee WHEN 0 THEN NULL"
										 "  ELSE pg_get_userbyid(grantee)::text END, attname::text"
										 " FROM (SELECT (aclexplode(relacl)).*, relowner,"
										 "   NULL::name AS attname FROM pg_class WHERE oid = %u"
										 "  UNION ALL SELECT (aclexplode(attacl)).*, relowner,"
										 "   attname FROM pg_attribute"
										 "   JOIN pg_class c ON c.oid = attrelid"
										 "   WHERE attrelid = %u AND NOT attisdropped) a"
										 " WHERE grantee <> relowner", relation, relation);
	List	   *rights = NIL;

	for (uint64 row = 0; row < n; row++)
	{
		right	   *one = palloc(sizeof(right));
		const char *grantee = hopper_cell(row, 3);

		one->privilege = hopper_cell(row, 1);
		one->may_grant = strcmp(hopper_cell(row, 2), "t") == 0;
		one->grantee = grantee ? hopper_identifier(grantee) : "PUBLIC";
		one->column = hopper_cell(row, 4);
		rights = lappend(rights, one);
	}
	SPI_freetuptable(SPI_tuptable);
	return rights;
}

static void
give(const right *one, const hopper_name *table)
{
	hopper_exec("GRANT %s%s ON TABLE %s TO %s%s", one->privilege,
				one->column ? psprintf(" (%s)", hopper_identifier(one->column)) : "",
				table->quoted, one->grantee, one->may_grant ? " WITH GRANT OPTION" : "");
}

/* --- policies --- */

/* Expressions name what is not in pg_catalog with its schema. */
static List *
policies_of(Oid relation)
{
	List	   *policies = NIL;
	int			level;
	uint64		n;

	if (!HOPPER_HAS_POLICIES)
		return NIL;
	level = hopper_backend.safe_path();
	n = hopper_select_latest("SELECT polname::text, CASE WHEN polpermissive THEN 'PERMISSIVE'"
							 "  ELSE 'RESTRICTIVE' END, CASE polcmd WHEN 'r' THEN 'SELECT'"
							 "  WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE'"
							 "  WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,"
							 " (SELECT string_agg(CASE r WHEN 0 THEN 'PUBLIC'"
							 "  ELSE quote_ident(pg_get_userbyid(r)) END, ', ')"
							 "  FROM unnest(polroles) r),"
							 " ' USING (' || pg_get_expr(polqual, polrelid) || ')',"
							 " ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')'"
							 " FROM pg_policy WHERE polrelid = %u ORDER BY polname", relation);
	hopper_backend.callers_path(level);
	for (uint64 row = 0; row < n; row++)
	{
		policy	   *one = palloc(sizeof(policy));
		const char *using = hopper_cell(row, 5);
		const char *check = hopper_cell(row, 6);

		one->name = hopper_cell(row, 1);
		one->clauses = psprintf("AS %s FOR %s TO %s%s%s", hopper_cell(row, 2), hopper_cell(row, 3),
								hopper_cell(row, 4), using ? using : "", check ? check : "");
		policies = lappend(policies, one);
	}
	SPI_freetuptable(SPI_tuptable);
	return policies;
}

static void
read_row_security(Oid relation, hopper_rights *rights)
{
	if (!HOPPER_HAS_POLICIES)
		return;
	hopper_select_latest("SELECT relrowsecurity, relforcerowsecurity FROM pg_class"
						 " WHERE oid = %u", relation);
	rights->row_security = strcmp(hopper_text_cell(NULL, 0, 1), "t") == 0;
	rights->forced = strcmp(hopper_text_cell(NULL, 0, 2), "t") == 0;
	SPI_freetuptable(SPI_tuptable);
}

static bool
has_policy(Oid relation, const char *name)
{
	return hopper_any(hopper_select_latest("SELECT 1 FROM pg_policy WHERE polrelid = %u"
										   " AND polname::text = %s", relation,
										   hopper_literal(name)));
}

/* One that an event trigger has given the new table stays as it is. */
static void
give_policies(const hopper_rights *rights, const hopper_name *table)
{
	Oid			relation = hopper_relation_oid(table, false);
	ListCell   *cell;

	foreach(cell, rights->policies)
	{
		const policy *one = lfirst(cell);

		if (!has_policy(relation, one->name))
			hopper_exec("CREATE POLICY %s ON %s %s", hopper_identifier(one->name), table->quoted,
						one->clauses);
	}
	if (rights->row_security)
		hopper_exec("ALTER TABLE %s ENABLE ROW LEVEL SECURITY", table->quoted);
	if (rights->forced)
		hopper_exec("ALTER TABLE %s FORCE ROW LEVEL SECURITY", table->quoted);
}

/* --- all of them --- */

static char *
owner_of(Oid relation)
{
	return hopper_role_name(hopper_owner(relation));
}

hopper_rights *
hopper_rights_of(const hopper_name *table)
{
	Oid			relation = hopper_relation_oid(table, false);
	hopper_rights *rights = palloc0(sizeof(hopper_rights));

	rights->owner = owner_of(relation);
	rights->rights = rights_on(relation);
	read_row_security(relation, rights);
	rights->policies = policies_of(relation);
	return rights;
}

/* The owner first, who then gives the rights; one that the caller was given stays that way. */
void
hopper_give_rights(const hopper_rights *rights, const hopper_name *table)
{
	Oid			relation = hopper_relation_oid(table, false);
	ListCell   *cell;

	give_policies(rights, table);
	if (strcmp(owner_of(relation), rights->owner) != 0)
		hopper_exec("ALTER TABLE %s OWNER TO %s", table->quoted,
					hopper_identifier(rights->owner));
	foreach(cell, rights->rights)
	{
		const right *one = lfirst(cell);

		if (one->column == NULL || get_attnum(relation, one->column) != InvalidAttrNumber)
			give(one, table);
	}
}

void
hopper_close_table(const hopper_name *table)
{
	ListCell   *cell;

	foreach(cell, rights_on(hopper_relation_oid(table, false)))
	{
		const right *one = lfirst(cell);

		hopper_exec("REVOKE %s%s ON TABLE %s FROM %s CASCADE", one->privilege,
					one->column ? psprintf(" (%s)", hopper_identifier(one->column)) : "",
					table->quoted, one->grantee);
	}
}
