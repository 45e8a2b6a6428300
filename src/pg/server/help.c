/*
 * help.c
 *		help(): the functions by task, or one of them with its arguments, out of the catalog and the
 *		functions' comments. A comment is
 *
 *			summary
 *
 *			Task: 6.1 compare
 *			argument: what it means
 *			Example:
 *			SELECT ...
 *
 *		The number gives the order in which users come to functions. Those of one name share the
 *		comment of the first of them, and what the comments of the others say of arguments that it
 *		does not name. docs/reference/functions.md is made of the same (scripts/reference).
 */
#include "pg/server/glue.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(hopper_sql_help);
PG_FUNCTION_INFO_V1(hopper_sql_help_function);

/* One row per name: its summary, task and whole comment. %u: the extension's schema. */
#define EXPLAINED \
	"explained AS (" \
	" SELECT DISTINCT ON (p.proname) p.proname::text AS name, d.description AS comment," \
	"  split_part(d.description, E'\\n', 1) AS summary," \
	"  substring(d.description FROM E'\\nTask: ([0-9.]+)') AS at," \
	"  substring(d.description FROM E'\\nTask: [0-9.]+ ([^\\n]*)') AS task" \
	" FROM pg_proc p" \
	" JOIN pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass" \
	" WHERE p.pronamespace = %u AND d.description LIKE E'%%\\nTask: %%'" \
	" ORDER BY p.proname, p.oid)"

/* help(): task, function and summary of each function. */
Datum
hopper_sql_help(PG_FUNCTION_ARGS)
{
	return hopper_return_query(fcinfo, psprintf(
		"WITH " EXPLAINED
		" SELECT task, name, summary FROM explained ORDER BY at, name", hopper_schema()));
}

/* ERROR 42883 unless the function is explained. */
static void
require_function(const char *name)
{
	const char **names;
	uint64		n_rows;
	uint64		row;
	int			nearest;

	hopper_connect();
	n_rows = hopper_select("WITH " EXPLAINED " SELECT name FROM explained ORDER BY name",
						   hopper_schema());
	names = palloc(sizeof(char *) * (n_rows + 1));
	for (row = 0; row < n_rows; row++)
	{
		names[row] = hopper_cell(row, 1);
		if (strcmp(names[row], name) == 0)
		{
			hopper_finish();
			return;
		}
	}
	nearest = hopper_core()->nearest_name(name, (int) n_rows, names);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("there is no function \"%s\" in model_hopper", name),
			 nearest >= 0 ? errhint("Perhaps you meant \"%s\".", names[nearest])
			 : errhint("SELECT * FROM hopper.help() lists all functions.")));
}

/* help(function_name): what it does, its arguments with types and defaults, an example. */
Datum
hopper_sql_help_function(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *schema = get_namespace_name(hopper_schema());

	if (strncmp(name, "hopper.", 7) == 0)
		name += 7;
	else if (strncmp(name, schema, strlen(schema)) == 0 && name[strlen(schema)] == '.')
		name += strlen(schema) + 1;
	if (strchr(name, '('))
		*strchr(name, '(') = '\0';
	require_function(name);
	return hopper_return_query(fcinfo, psprintf(
		"WITH " EXPLAINED ", "
		"these AS ("
		/* before version 12 no * shows an oid */
		" SELECT p.oid AS oid, p.proargtypes, p.proargnames, p.pronargs,"
		"  row_number() OVER (ORDER BY p.oid) AS number,"
		"  '\n' || regexp_replace((SELECT description FROM pg_description"
		"   WHERE objoid = p.oid AND classoid = 'pg_proc'::regclass AND objsubid = 0),"
		"   E'\\nExample:\\n.*', '')"
		"   || '\n' AS head"
		" FROM pg_proc p WHERE p.pronamespace = %u AND p.proname = %s), "
		"this AS (SELECT *, (SELECT string_agg(head, '' ORDER BY number) FROM these) AS heads"
		" FROM explained WHERE name = %s), "
		/* Those of the first function in their order, then what the others have besides. */
		"arguments AS ("
		" SELECT a.name, min(p.number * 1000 + a.at) AS at,"
		"  string_agg(DISTINCT format_type(p.proargtypes[a.at - 1], NULL), ' or ') AS type,"
		"  max(pg_get_function_arg_default(p.oid, a.at::int)) AS default"
		" FROM these p, unnest(p.proargnames[1:p.pronargs]) WITH ORDINALITY AS a(name, at)"
		" GROUP BY a.name), "
		"said AS ("
		" SELECT a.name, a.at, a.type,"
		"  regexp_replace(a.default, '::[a-z_. ]+([[][]])?', '') AS default,"
		"  coalesce(substring(heads FROM '\n' || a.name || ': ([^\n]*)'), '') AS meaning"
		" FROM arguments a, this), "
		"lines AS ("
		" SELECT 0 AS part, 0::bigint AS at, %s || '.' || name || ': ' || summary AS line FROM this"
		" UNION ALL SELECT 1, 0, '' FROM said HAVING count(*) > 0"
		" UNION ALL SELECT 1, s.at * 2,"
		"  '  ' || s.name || ' ' || s.type || coalesce(' DEFAULT ' || s.default, '')"
		"  FROM said s"
		" UNION ALL SELECT 1, s.at * 2 + 1, '      ' || s.meaning FROM said s WHERE s.meaning <> ''"
		" UNION ALL SELECT 2, 0, '' FROM this"
		" UNION ALL SELECT 2, e.at, e.line FROM this, unnest(string_to_array("
		"  substring(comment FROM E'\\nExample:\\n(.*)'), '\n')) WITH ORDINALITY AS e(line, at))"
		" SELECT line FROM lines ORDER BY part, at",
		hopper_schema(), hopper_schema(), hopper_literal(name), hopper_literal(name),
		hopper_literal(hopper_identifier(schema))));
}
