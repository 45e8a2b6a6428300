/*
 * quoting.c
 *		Names and values as text in statements: they come in here and nowhere else.
 */
#include "pg/server/glue.h"

char *
hopper_identifier(const char *name)
{
	return pstrdup(quote_identifier(name));
}

char *
hopper_identifiers(int n, char *const *names)
{
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(list, "%s%s", i ? ", " : "", hopper_identifier(names[i]));
	return list->data;
}

const char *
hopper_literal(const char *value)
{
	return value ? quote_literal_cstr(value) : "NULL";
}

char *
hopper_keys_literal(int n, const int32 *first, Size stride)
{
	StringInfo	keys = makeStringInfo();

	appendStringInfoString(keys, "'{");
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(keys, "%s%d", i ? "," : "",
						 *(const int32 *) ((const char *) first + i * stride));
	}
	appendStringInfoString(keys, "}'::pg_catalog.int4[]");
	return keys->data;
}

char *
hopper_of_keys(int n, const int32 *first, Size stride)
{
	return psprintf(" WHERE mst_key OPERATOR(pg_catalog.=) ANY (%s)",
					hopper_keys_literal(n, first, stride));
}
