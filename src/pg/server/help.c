/*
 * help.c
 *		help(): the functions by task, one of them with its arguments, or those whose texts have a
 *		word, out of the catalog and the functions' comments. A comment is
 *
 *			summary
 *
 *			Task: 6.1 compare
 *			argument: what it means
 *			Example:
 *			SELECT ...
 *
 *		The number gives the order in which users come to functions. All of one name share the
 *		comment of the first of them, and what the comments of the others say of arguments that it
 *		does not name. docs/reference/functions.md is made of the same (scripts/reference).
 */
#include "pg/server/glue.h"

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
HOPPER_FUNCTION(hopper_sql_help)
{
	return hopper_return_query(fcinfo, psprintf(
		"WITH " EXPLAINED
		" SELECT task, name, summary FROM explained ORDER BY at, name", hopper_schema()));
}

/* Whether the function is explained; *nearest gets one of nearly that name, or NULL. */
static bool
is_explained(const char *name, const char **nearest)
{
	uint64		n_rows = hopper_select("WITH " EXPLAINED
									   " SELECT name FROM explained ORDER BY name",
									   hopper_schema());
	const char **names = palloc(sizeof(char *) * (n_rows + 1));
	int			place;

	for (uint64 row = 0; row < n_rows; row++)
	{
		names[row] = hopper_cell(row, 1);
		if (strcmp(names[row], name) == 0)
			return true;
	}
	place = hopper_core()->nearest_name(name, (int) n_rows, names);
	*nearest = place >= 0 ? names[place] : NULL;
	return false;
}

/* A shorter word stands in nearly every text. */
#define SHORTEST_WORD 3

/*
 * Lines of the functions and settings whose names or texts have the word: each function's summary,
 * and what it says of arguments with the word.
 */
static char *
search_query(const char *word, const char *schema)
{
	const char *literal = hopper_literal(word);

	return psprintf("WITH " EXPLAINED ", "
					"wanted AS (SELECT lower(%s::text) AS word), "
					"said AS ("
					" SELECT e.name, e.at, e.summary, l.line, l.number"
					" FROM explained e, unnest(string_to_array(regexp_replace(regexp_replace("
					"  e.comment, E'\\nExample:\\n.*', ''), E'\\nTask: [^\\n]*', ''), E'\\n'))"
					"  WITH ORDINALITY AS l(line, number)), "
					"found AS (SELECT said.* FROM said, wanted"
					" WHERE strpos(lower(said.name || ' ' || said.line), word) > 0) "
					"SELECT line FROM ("
					"SELECT DISTINCT at, name, 0::bigint AS number,"
					" %s || '.' || name || ': ' || summary AS line FROM found"
					" UNION ALL SELECT at, name, number, '      ' || line FROM found, wanted"
					"  WHERE number > 1 AND strpos(lower(line), word) > 0"
					/* behind all functions */
					" UNION ALL SELECT 'z', s.name, 0, s.name || ': ' || s.short_desc"
					"  FROM pg_settings s, wanted WHERE s.name LIKE 'hopper.%%'"
					"  AND strpos(lower(concat_ws(' ', s.name, s.short_desc, s.extra_desc)), word)"
					"   > 0) AS f ORDER BY at, name, number",
					hopper_schema(), literal, hopper_literal(hopper_identifier(schema)));
}

/*
 * help(function_name): what it does, its arguments with types and defaults, an example. Of another
 * word: what speaks of it.
 */
HOPPER_SPI_FUNCTION(hopper_sql_help_function)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *schema = get_namespace_name(hopper_schema());
	const char *nearest = NULL;
	char	   *search;
	bool		found;

	if (strncmp(name, "hopper.", 7) == 0)
		name += 7;
	else if (strncmp(name, schema, strlen(schema)) == 0 && name[strlen(schema)] == '.')
		name += strlen(schema) + 1;
	if (strchr(name, '('))
		*strchr(name, '(') = '\0';
	search = search_query(name, schema);
	found = is_explained(name, &nearest);
	if (!found && strlen(name) >= SHORTEST_WORD && hopper_select("%s", search) > 0)
		return hopper_return_query(fcinfo, search);
	if (!found)
		hopper_raise(ERRCODE_UNDEFINED_FUNCTION,
					 errmsg("there is no function \"%s\" in model_hopper", name),
					 nearest ? errhint("Perhaps you meant \"%s\".", nearest)
					 : errhint("SELECT * FROM hopper.help() lists all functions."));
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
		/* Arguments of the first function in their order, then what the others have besides. */
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
