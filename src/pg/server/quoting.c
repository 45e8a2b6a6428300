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

const char *
hopper_literal(const char *value)
{
	return value ? quote_literal_cstr(value) : "NULL";
}
