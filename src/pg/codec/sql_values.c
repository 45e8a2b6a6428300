/*
 * sql_values.c
 *		SQL expressions of a column's values, which stand in queries over the rows: the value as a
 *		number, and hashes of values, by which rows are chosen whatever their order is.
 */
#include "pg/codec/rows.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

char *
hopper_number_text(const hopper_pack_column *column)
{
	const char *name = hopper_identifier(column->name);

	switch (column->type)
	{
		case BOOLOID:
			return psprintf("%s::pg_catalog.int4::pg_catalog.float8", name);
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case TIMEOID:
			return psprintf("extract(epoch FROM %s)::pg_catalog.float8", name);
		default:
			return psprintf("%s::pg_catalog.float8", name);
	}
}

/* The value as text that no setting changes. */
static char *
text_of(const hopper_pack_column *column)
{
	const char *name = hopper_identifier(column->name);
	const char *send;

	switch (column->type)
	{
		case FLOAT4OID:
			send = "float4send";
			break;
		case FLOAT8OID:
			send = "float8send";
			break;
		case DATEOID:
			send = "date_send";
			break;
		case TIMESTAMPOID:
			send = "timestamp_send";
			break;
		case TIMESTAMPTZOID:
			send = "timestamptz_send";
			break;
		case INTERVALOID:
			send = "interval_send";
			break;
		case BYTEAOID:
			send = "byteasend";
			break;
		default:
			if (!OidIsValid(get_element_type(column->type)))
				return psprintf("%s::pg_catalog.text", name);
			send = "array_send";
	}
	return psprintf("pg_catalog.encode(pg_catalog.%s(%s), 'hex')", send, name);
}

/* A call takes a hundred arguments; made of several calls, the text is no other. */
#define COLUMNS_OF_A_CALL 50

char *
hopper_hash_text(List *columns, int64 seed)
{
	StringInfo	values = makeStringInfo();
	ListCell   *cell;
	int			n = 0;

	foreach(cell, columns)
	{
		if (n > 0 && n % COLUMNS_OF_A_CALL == 0)
			appendStringInfoString(values, "), pg_catalog.concat_ws('|'");
		appendStringInfo(values, ", coalesce(%s, '\\N')", text_of(lfirst(cell)));
		n++;
	}
	return psprintf(HOPPER_SQL_HASH,
					psprintf("pg_catalog.concat_ws('|', '" INT64_FORMAT
							 "', pg_catalog.concat_ws('|'%s))", seed, values->data));
}
