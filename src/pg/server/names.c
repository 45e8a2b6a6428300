/*
 * names.c
 *		Names of the user's objects.
 *
 * A user's table is looked up in the caller's search_path once, where its name is read; from then
 * on it is named with its schema, and so are its companions.
 */
#include "pg/server/glue.h"

#include <ctype.h>

#include "nodes/makefuncs.h"

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
			hopper_raise(ERRCODE_NAME_TOO_LONG,
						 errmsg("argument \"%s\" is too long: %s", argument, written),
						 errdetail("Names have at most %d bytes.", NAMEDATALEN - 1),
						 errhint("Choose a shorter name."));
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
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"%s\" must not be null", argument),
					 errhint("Name a table: %s => 'name'.", argument));
	written = text_to_cstring(value);
	for (c = written; isspace((unsigned char) *c); c++)
		;
	if (*c == '\0')
		hopper_wrong(errmsg("argument \"%s\" must not be empty", argument));
	parts = pstrdup(written);
	if (!SplitIdentifierString(parts, '.', &names) || list_length(names) < 1 ||
		list_length(names) > 2)
		hopper_raise(ERRCODE_INVALID_NAME,
					 errmsg("argument \"%s\" is not a valid table name: %s", argument, written),
					 is_query(c)
					 ? errhint("Queries are not accepted: make a view of it, and name that.")
					 : errhint("Write table or schema.table; put names with blanks, capitals or "
							   "dots in double quotes."));
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
	return hopper_name_beside(name, name->name);
}

hopper_name
hopper_name_beside(const hopper_name *name, char *other)
{
	return make_name(name->schema, name->qualified, other);
}

hopper_name
hopper_name_with_suffix(const hopper_name *name, const char *suffix)
{
	char	   *longer = psprintf("%s_%s", name->name, suffix);

	if (strlen(longer) >= NAMEDATALEN)
		hopper_raise(ERRCODE_NAME_TOO_LONG, errmsg("table name \"%s\" is too long", name->name),
					 errdetail("The table \"%s\" goes with it, and names have at most %d bytes.",
							   longer, NAMEDATALEN - 1),
					 errhint("Choose a shorter name."));
	return make_name(name->schema, name->qualified, longer);
}

hopper_name
hopper_name_of_run(const hopper_name *name, int64 number, const char *suffix)
{
	hopper_name own = *name;

	own.name = psprintf("hopper_run_" INT64_FORMAT "%s", number, suffix);
	own.qualified = true;
	own.quoted = psprintf("%s.%s", hopper_identifier(own.schema), hopper_identifier(own.name));
	own.shown = psprintf("%s.%s", own.schema, own.name);
	return own;
}

char *
hopper_written_name(const hopper_name *name)
{
	return name->qualified ? name->quoted : hopper_identifier(name->name);
}

char *
hopper_relation_shown(Oid relation)
{
	char	   *name = get_rel_name(relation);

	return name ? hopper_name_shown(schema_name(get_rel_namespace(relation)), false, name)
		: psprintf("%u", relation);
}

char *
hopper_meant_hint(const char *kind, const char *nearest, const char *written)
{
	const char *quotes = ".";

	/* Names are folded where they are not quoted. */
	if (strcmp(nearest, written) != 0 && pg_strcasecmp(nearest, written) == 0)
		quotes = strcmp(hopper_identifier(nearest), nearest) != 0
			? ": put the name in double quotes." : ": leave out the double quotes.";
	return psprintf("Perhaps you meant to reference the %s \"%s\"%s", kind, nearest, quotes);
}
