/*
 * integers.c
 *		Integers as arguments, in what widths and numbers callers have them.
 *
 * The type hopper.integers is one integer or a list of them, stored as integer[] is.
 * As an argument's type it takes what two functions of one name, with integer and with integer[],
 * would take, without being ambiguous where the argument is left out or NULL.
 */
#include "pg/server/glue.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"

PG_FUNCTION_INFO_V1(hopper_sql_integers_in);
PG_FUNCTION_INFO_V1(hopper_sql_integers_out);

/* integers_in(cstring): '{...}' as the array that it is, anything else as its only element. */
Datum
hopper_sql_integers_in(PG_FUNCTION_ARGS)
{
	char	   *value = PG_GETARG_CSTRING(0);

	if (strchr(value, '{') == NULL)
		value = psprintf("{%s}", value);
	return OidInputFunctionCall(F_ARRAY_IN, value, INT4OID, -1);
}

Datum
hopper_sql_integers_out(PG_FUNCTION_ARGS)
{
	return CStringGetDatum(OidOutputFunctionCall(F_ARRAY_OUT, PG_GETARG_DATUM(0)));
}

int32
hopper_key_argument(FunctionCallInfo fcinfo, int at)
{
	int64		key = PG_ARGISNULL(at) ? 0 : PG_GETARG_INT64(at);

	if (key < PG_INT32_MIN || key > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("no model has the number " INT64_FORMAT, key)));
	return (int32) key;
}
