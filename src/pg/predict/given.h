/*
 * given.h
 *		One example as predict_row() is given it: a row, JSON, or text.
 */
#ifndef HOPPER_GIVEN_H
#define HOPPER_GIVEN_H

#include "pg/codec/schema.h"
#include "pg/server/glue.h"

#include "access/htup.h"

struct JsonbValue;

/* A feature by its column's name. */
typedef struct hopper_named_value
{
	const char *name;
	struct JsonbValue *json;	/* where it comes from, or NULL; then only the name is known */
	Oid			type;
	Datum		value;
	bool		isnull;
} hopper_named_value;

typedef struct hopper_given_row
{
	char	   *argument;		/* of predict_row() */
	bool		is_json;
	bool		isnull;
	Oid			type;			/* RECORDOID: values; FLOAT8ARRAYOID or BYTEAOID: value */
	Datum		value;
	int			n;
	hopper_named_value *values;
} hopper_given_row;

/* The columns of a row. */
extern void hopper_given_record(HeapTupleHeader record, hopper_given_row *row);
/* An object by names, an array, a number, or null; ERROR 22023 where it holds anything else. */
extern void hopper_given_jsonb(Datum json, hopper_given_row *row);
/* Fills what follows from value->json; the type is UNKNOWNOID where that is null. */
extern void hopper_given_read(hopper_named_value *value);
/* Reads a value for a column: texts are taken for what they say, and null has the column's type. */
extern void hopper_given_read_as(hopper_named_value *value, const hopper_schema_column *column);
/* JSON, an array such as '{1,2}', or bytes such as '\x0102'. */
extern void hopper_given_text(char *given, hopper_given_row *row);

#endif							/* HOPPER_GIVEN_H */
