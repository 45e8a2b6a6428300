/*
 * arguments.c
 *		Texts and names as arguments.
 */
#include "pg/server/glue.h"

static bool
is_given(FunctionCallInfo fcinfo, int at)
{
	return at >= 0 && at < PG_NARGS() && !PG_ARGISNULL(at);
}

text *
hopper_text_argument(FunctionCallInfo fcinfo, int at)
{
	return is_given(fcinfo, at) ? PG_GETARG_TEXT_PP(at) : NULL;
}

char *
hopper_string_argument(FunctionCallInfo fcinfo, int at)
{
	return is_given(fcinfo, at) ? text_to_cstring(PG_GETARG_TEXT_PP(at)) : NULL;
}

char *
hopper_utf8_argument(FunctionCallInfo fcinfo, int at)
{
	char	   *value = hopper_string_argument(fcinfo, at);

	return value ? hopper_to_utf8(value) : NULL;
}

hopper_name
hopper_name_argument(FunctionCallInfo fcinfo, int at, const char *argument)
{
	return hopper_parse_name(hopper_text_argument(fcinfo, at), argument);
}

void
hopper_require_argument(FunctionCallInfo fcinfo, int at, const char *argument)
{
	if (!is_given(fcinfo, at))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", argument)));
}
