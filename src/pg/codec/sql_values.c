/*
 * sql_values.c
 *		What types are to packing and to schemas; and SQL expressions of a column's values, which
 *		stand in queries over the rows: the value as a number, and hashes of values, by which rows
 *		are chosen whatever their order is.
 */
#include "pg/codec/schema.h"

typedef struct sql_type
{
	Oid			oid;
	int32		packed;			/* hopper_type; 0: it is no number */
	const char *family;			/* of a schema's column; NULL: there is no treatment */
	hopper_pack_family classes; /* of labels */
	const char *send;			/* writes values as no setting changes them; NULL: so does a cast */
	bool		is_time;
} sql_type;

static const sql_type sql_types[] = {
	{BOOLOID, HOPPER_UINT8, "boolean", PACK_BOOL},
	{INT2OID, HOPPER_INT16, "integer", PACK_INTEGER},
	{INT4OID, HOPPER_INT32, "integer", PACK_INTEGER},
	{INT8OID, HOPPER_INT64, "integer", PACK_INTEGER},
	{FLOAT4OID, HOPPER_FLOAT32, "number", PACK_NO_CLASS, "float4send"},
	{FLOAT8OID, HOPPER_FLOAT64, "number", PACK_NO_CLASS, "float8send"},
	{NUMERICOID, HOPPER_FLOAT32, "number"},
	{INTERVALOID, 0, "number", PACK_NO_CLASS, "interval_send", true},
	{TIMEOID, 0, "number", PACK_NO_CLASS, NULL, true},
	{DATEOID, 0, "date", PACK_NO_CLASS, "date_send", true},
	{TIMESTAMPOID, 0, "timestamp", PACK_NO_CLASS, "timestamp_send", true},
	{TIMESTAMPTZOID, 0, "timestamp", PACK_NO_CLASS, "timestamptz_send", true},
	{TEXTOID, 0, "text", PACK_TEXT},
	{VARCHAROID, 0, "text", PACK_TEXT},
	{BPCHAROID, 0, "text", PACK_TEXT},
	{NAMEOID, 0, "text", PACK_TEXT},
	{CHAROID, 0, "text", PACK_TEXT},
	{BYTEAOID, 0, NULL, PACK_NO_CLASS, "byteasend"},
};

static const sql_type *
describe_type(Oid type)
{
	static const sql_type enums = {InvalidOid, 0, "text", PACK_TEXT};
	static const sql_type others = {InvalidOid};

	for (int i = 0; i < lengthof(sql_types); i++)
		if (sql_types[i].oid == type)
			return &sql_types[i];
	return get_typtype(type) == TYPTYPE_ENUM ? &enums : &others;
}

int32
hopper_pack_number_type(Oid type)
{
	return describe_type(type)->packed;
}

const char *
hopper_schema_family(Oid type)
{
	Oid			element = get_element_type(type);

	if (OidIsValid(element))
		return hopper_pack_number_type(getBaseType(element)) ? "numbers" : NULL;
	return describe_type(type)->family;
}

hopper_pack_family
hopper_pack_label_family(Oid type)
{
	return describe_type(type)->classes;
}

char *
hopper_number_text(const hopper_pack_column *column)
{
	return psprintf(describe_type(column->type)->is_time ? "extract(epoch FROM %s)%s" : "%s%s",
					hopper_identifier(column->name), column->type == BOOLOID
					? "::pg_catalog.int4::pg_catalog.float8" : "::pg_catalog.float8");
}

/* The value as text that no setting changes. */
static char *
text_of(const hopper_pack_column *column)
{
	const char *name = hopper_identifier(column->name);
	const char *send = OidIsValid(get_element_type(column->type)) ? "array_send"
		: describe_type(column->type)->send;

	if (send == NULL)
		return psprintf("%s::pg_catalog.text", name);
	return psprintf("pg_catalog.encode(pg_catalog.%s(%s), 'hex')", send, name);
}

/* A function takes a hundred arguments. */
#define COLUMNS_OF_A_CALL 50

char *
hopper_hash_text(List *columns, int64 seed)
{
	StringInfo	text = makeStringInfo();
	ListCell   *cell;
	int			n = 0;

	appendStringInfo(text, "pg_catalog.concat_ws('|', '" INT64_FORMAT "'", seed);
	foreach(cell, columns)
	{
		if (n > 0 && n % COLUMNS_OF_A_CALL == 0)
			appendStringInfoString(text, ", pg_catalog.concat_ws('|'");
		appendStringInfo(text, ", coalesce(%s, E'\\\\N')", text_of(lfirst(cell)));
		n++;
	}
	for (int i = 0; i <= (n - 1) / COLUMNS_OF_A_CALL; i++)
		appendStringInfoChar(text, ')');
	return psprintf(HOPPER_SQL_HASH, text->data);
}
