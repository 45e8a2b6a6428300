/*
 * update_rights.c
 *		Rights on functions that an update of the extension drops and makes anew, and on those that
 *		it adds. What it replaces keeps its rights by itself.
 */
#include "pg/server/glue.h"

#include "commands/extension.h"

/* Between the two calls of a script; as JSON. */
static char *noted = NULL;

/*
 * note_rights(): at the head of an update's script. Each function with its name and who else than
 * its owner may call it; 0: everybody.
 */
HOPPER_ANY_VERSION_FUNCTION(hopper_sql_note_rights)
{
	hopper_connect_only();
	hopper_select_latest("SELECT json_agg(row_to_json(f))::text FROM"
						 " (SELECT p.oid::int8 AS id, p.proname::text AS name, coalesce("
						 "  (SELECT json_agg(row_to_json(h)) FROM"
						 "   (SELECT grantee::int8 AS role, bool_or(is_grantable) AS grantable"
						 "    FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))"
						 "    WHERE grantee <> p.proowner GROUP BY grantee) h), '[]') AS holders"
						 " FROM pg_proc p WHERE p.pronamespace = %u"
						 "  AND p.proname::text <> 'note_rights') f", hopper_schema());
	if (noted)
		pfree(noted);
	noted = MemoryContextStrdup(TopMemoryContext, hopper_text_cell(NULL, 0, 1));
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * Statements that give functions which were not there the rights that were noted: of the dropped
 * ones of the same name, or where there are none, of those of the same name that are there still,
 * or of all. A role has what it had on each of them; everybody, on a function of a new name, what
 * it had on one of them. What the script keeps from everybody stays so.
 */
#define STATEMENTS \
	"WITH f AS (SELECT id, name, holders, NOT EXISTS (SELECT 1 FROM pg_proc WHERE oid::int8 = id)" \
	"   AS dropped FROM json_to_recordset(%s::json) AS r (id int8, name text, holders json))," \
	" n AS (SELECT p.oid, p.proname::text AS name," \
	/* as JSON: before version 11 there is no such column, and no procedure */ \
	"   CASE row_to_json(p)->>'prokind' WHEN 'p' THEN 'PROCEDURE ' ELSE 'FUNCTION ' END" \
	"    || p.oid::regprocedure::text AS called," \
	"   EXISTS (SELECT 1 FROM f WHERE f.name = p.proname::text) AS has_name," \
	"   EXISTS (SELECT 1 FROM f WHERE f.name = p.proname::text AND dropped) AS replaces" \
	"  FROM pg_proc p WHERE p.pronamespace = %u AND p.oid::int8 NOT IN (SELECT id FROM f)" \
	"   AND p.proname::text <> 'give_noted_rights'" \
	"   AND has_function_privilege('public', p.oid, 'EXECUTE'))," \
	" a AS (SELECT n.oid, n.called, n.has_name, f.id, f.holders FROM n JOIN f" \
	"   ON NOT n.has_name OR (f.name = n.name AND (f.dropped OR NOT n.replaces)))," \
	" c AS (SELECT oid, called, has_name, count(*) AS n FROM a GROUP BY oid, called, has_name)," \
	" h AS (SELECT a.oid, r.role, bool_and(r.grantable) AS grantable, count(*) AS n" \
	"  FROM a, json_to_recordset(a.holders) AS r (role int8, grantable boolean)" \
	"  GROUP BY a.oid, r.role)" \
	" SELECT 'REVOKE ALL ON ' || c.called || ' FROM PUBLIC' FROM c" \
	" WHERE NOT EXISTS (SELECT 1 FROM h WHERE h.oid = c.oid AND h.role = 0" \
	"  AND (h.n = c.n OR NOT c.has_name))" \
	" UNION ALL" \
	" SELECT 'GRANT EXECUTE ON ' || c.called || ' TO ' ||" \
	"  quote_ident(pg_get_userbyid(h.role::oid)::text) ||" \
	"  CASE WHEN h.grantable THEN ' WITH GRANT OPTION' ELSE '' END" \
	" FROM c JOIN h USING (oid) WHERE h.role <> 0 AND h.n = c.n"

/* give_noted_rights(): at its end. */
HOPPER_ANY_VERSION_FUNCTION(hopper_sql_give_noted_rights)
{
	SPITupleTable *statements;
	uint64		n;
	int			level;
	bool		creating = creating_extension;

	if (noted == NULL)
		elog(ERROR, "no rights were noted");
	hopper_connect_only();
	/* For names with their schema. */
	level = hopper_backend.safe_path();
	n = hopper_select_latest(STATEMENTS, hopper_literal(noted), hopper_schema());
	hopper_backend.callers_path(level);
	statements = SPI_tuptable;
	/* They are the administrator's, which dumps have to hold: not those of a fresh installation. */
	creating_extension = false;
	PG_TRY();
	{
		for (uint64 row = 0; row < n; row++)
		{
			SPI_tuptable = statements;
			SPI_processed = n;
			hopper_exec("%s", hopper_cell(row, 1));
		}
	}
	PG_CATCH();
	{
		creating_extension = creating;
		PG_RE_THROW();
	}
	PG_END_TRY();
	creating_extension = creating;
	pfree(noted);
	noted = NULL;
	SPI_finish();
	PG_RETURN_VOID();
}
