/*
 * version.c
 *		Comparing the library's version with that of the SQL objects, and what belongs to CREATE
 *		EXTENSION itself.
 */
#include "pg/server/glue.h"

#include "access/genam.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"

#define EXTENSION "model_hopper"

/* The extension's version in this database, or NULL, and its schema where it has one. */
static char *
read_extension(Oid *schema)
{
	Relation	extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *version = NULL;

	*schema = InvalidOid;
	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(EXTENSION));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(extensions), &isnull);

		if (!isnull)
			version = TextDatumGetCString(value);
		*schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return version;
}

/* Whether version a is older than b; both are numbers with dots between them. */
static bool
is_older(const char *a, const char *b)
{
	while (*a && *b)
	{
		char	   *a_end;
		char	   *b_end;
		long		a_number = strtol(a, &a_end, 10);
		long		b_number = strtol(b, &b_end, 10);

		if (a_number != b_number)
			return a_number < b_number;
		a = *a_end == '.' ? a_end + 1 : "";
		b = *b_end == '.' ? b_end + 1 : "";
	}
	return *a == '\0' && *b != '\0';
}

void
hopper_require_same_version(void)
{
	char	   *installed;
	Oid			schema;

	if (creating_extension)
		return;
	installed = read_extension(&schema);
	/* Without an extension the functions are a superuser's own work. */
	if (installed == NULL || strcmp(installed, HOPPER_VERSION) == 0)
		return;
	hopper_unmet(errmsg("the functions of schema hopper in this database are of version %s, but "
						"the library is of version %s", installed, HOPPER_VERSION),
				 hopper_backend.on_a_segment()	/* the coordinator's library is of the other */
				 ? errhint("Install the same version on all hosts, and reconnect.")
				 : is_older(installed, HOPPER_VERSION)
				 ? errhint("A superuser types in database \"%s\": ALTER EXTENSION " EXTENSION " "
						   "UPDATE;", get_database_name(MyDatabaseId))
				 : errhint("Reconnect, so that the session loads the library anew; where that "
						   "does not help, install version %s of " EXTENSION " on this server.",
						   installed));
}

Oid
hopper_schema(void)
{
	Oid			schema;

	(void) read_extension(&schema);
	return OidIsValid(schema) ? schema : get_namespace_oid("hopper", false);
}

char *
hopper_own_name(const char *name)
{
	return psprintf("%s.%s", hopper_identifier(get_namespace_name(hopper_schema())),
					hopper_identifier(name));
}

/*
 * check_schema(): ERROR where anybody but superusers owns the schema hopper or something in it, or
 * could create something there. Users call the extension's functions by name: a function of the
 * same name with better matching arguments would run with their rights.
 */
HOPPER_ANY_VERSION_FUNCTION(hopper_sql_check_schema)
{
	Oid			schema = get_namespace_oid("hopper", false);
	char	   *role;

	hopper_connect_only();
	if (hopper_select("WITH s AS (SELECT oid AS schema, nspowner FROM pg_namespace"
					  "  WHERE oid = %u)"
					  " SELECT NULL::name AS rolname FROM s"
					  " WHERE has_schema_privilege('public', s.schema, 'CREATE') UNION ALL"
					  " (SELECT rolname FROM pg_roles r, s WHERE NOT rolsuper AND (nspowner = r.oid"
					  "  OR has_schema_privilege(r.oid, s.schema, 'CREATE') OR r.oid IN"
					  "  (SELECT proowner FROM pg_proc WHERE pronamespace = s.schema UNION ALL"
					  "   SELECT relowner FROM pg_class WHERE relnamespace = s.schema UNION ALL"
					  "   SELECT typowner FROM pg_type WHERE typnamespace = s.schema UNION ALL"
					  "   SELECT oprowner FROM pg_operator WHERE oprnamespace = s.schema))"
					  "  ORDER BY rolname) LIMIT 1", schema) > 0)
	{
		role = hopper_cell(0, 1);
		hopper_unmet(role
					 ? errmsg("schema \"hopper\" exists, and objects in it are or may be those of "
							  "role \"%s\"", role)
					 : errmsg("schema \"hopper\" exists, and everybody may create objects in it"),
					 errdetail("They could run with the rights of those who use the extension."),
					 errhint("Drop the schema or give it another name: ALTER SCHEMA hopper "
							 "RENAME TO old_hopper;"));
	}
	SPI_finish();
	PG_RETURN_VOID();
}
