/*
 * arguments.c
 *		Arguments by their names; texts and names as arguments.
 */
#include "pg/server/glue.h"

#include "catalog/pg_proc.h"
#include "utils/syscache.h"

int
hopper_argument_if_any(FunctionCallInfo fcinfo, const char *argument)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no function %u", function);
	n = Min(get_func_arg_info(tuple, &types, &names, &modes), PG_NARGS());
	ReleaseSysCache(tuple);
	for (int at = 0; names && at < n; at++)
		if (strcmp(names[at], argument) == 0)
			return at;
	return -1;
}

int
hopper_argument(FunctionCallInfo fcinfo, const char *argument)
{
	int			at = hopper_argument_if_any(fcinfo, argument);

	if (at < 0)
		elog(ERROR, "function %u has no argument \"%s\"", fcinfo->flinfo->fn_oid, argument);
	return at;
}

bool
hopper_is_given(FunctionCallInfo fcinfo, int at)
{
	return at >= 0 && at < PG_NARGS() && !PG_ARGISNULL(at);
}

text *
hopper_text_argument(FunctionCallInfo fcinfo, int at)
{
	return hopper_is_given(fcinfo, at) ? PG_GETARG_TEXT_PP(at) : NULL;
}

char *
hopper_string_argument(FunctionCallInfo fcinfo, int at)
{
	return hopper_is_given(fcinfo, at) ? text_to_cstring(PG_GETARG_TEXT_PP(at)) : NULL;
}

char *
hopper_utf8_argument(FunctionCallInfo fcinfo, int at)
{
	return hopper_to_utf8(hopper_string_argument(fcinfo, at));
}

hopper_name
hopper_name_argument(FunctionCallInfo fcinfo, int at, const char *argument)
{
	return hopper_parse_name(hopper_text_argument(fcinfo, at), argument);
}

hopper_name
hopper_name_named(FunctionCallInfo fcinfo, const char *argument)
{
	return hopper_name_argument(fcinfo, hopper_argument(fcinfo, argument), argument);
}

char *
hopper_string_named(FunctionCallInfo fcinfo, const char *argument)
{
	return hopper_string_argument(fcinfo, hopper_argument(fcinfo, argument));
}

char *
hopper_utf8_named(FunctionCallInfo fcinfo, const char *argument)
{
	return hopper_utf8_argument(fcinfo, hopper_argument(fcinfo, argument));
}

bool
hopper_bool_named(FunctionCallInfo fcinfo, const char *argument, bool otherwise)
{
	int			at = hopper_argument(fcinfo, argument);

	return PG_ARGISNULL(at) ? otherwise : PG_GETARG_BOOL(at);
}

void
hopper_require_argument(FunctionCallInfo fcinfo, int at, const char *argument)
{
	if (!hopper_is_given(fcinfo, at))
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"%s\" must not be null", argument));
}

int
hopper_word_argument(FunctionCallInfo fcinfo, int at, const char *argument,
					 const char *const *words, const char *hint)
{
	const char *given = hopper_string_argument(fcinfo, at);

	if (given == NULL)
		return 0;
	for (int i = 0; words[i]; i++)
		if (strcmp(given, words[i]) == 0)
			return i;
	hopper_wrong(errmsg("%s \"%s\" is not known", argument, given),
				 errhint("%s", hint));
	return 0;
}

void
hopper_require_other_tables(FunctionCallInfo fcinfo, const char *output,
							const char *const *others)
{
	int			at = hopper_argument(fcinfo, output);
	hopper_name name;

	if (PG_ARGISNULL(at))
		return;
	name = hopper_name_argument(fcinfo, at, output);
	for (; *others; others++)
	{
		int			other_at = hopper_argument(fcinfo, *others);
		hopper_name other;

		if (PG_ARGISNULL(other_at))
			continue;
		other = hopper_name_argument(fcinfo, other_at, *others);
		hopper_require_other_table(&name, output, &other, *others);
	}
}

char *
hopper_call_text(FunctionCallInfo fcinfo)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	StringInfo	text = makeStringInfo();
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n;
	bool		first = true;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no function %u", function);
	n = Min(get_func_arg_info(tuple, &types, &names, &modes), PG_NARGS());
	appendStringInfo(text, "SELECT %s(",
					 hopper_own_name(NameStr(((Form_pg_proc) GETSTRUCT(tuple))->proname)));
	for (int at = 0; at < n; at++)
	{
		if (PG_ARGISNULL(at))
			continue;
		appendStringInfo(text, "%s%s := %s::%s", first ? "" : ", ",
						 hopper_identifier(names[at]),
						 hopper_literal(hopper_text_of(types[at], PG_GETARG_DATUM(at))),
						 hopper_format_type_qualified(types[at]));
		first = false;
	}
	ReleaseSysCache(tuple);
	appendStringInfoChar(text, ')');
	return text->data;
}
