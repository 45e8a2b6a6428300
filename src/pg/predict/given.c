/*
 * given.c
 *		One example as predict_row() is given it. The rest sees values with SQL types, so that what
 *		they may be is said in one place, the codec of rows.
 */
#include "pg/predict/given.h"

#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/typcache.h"

#define HINT_FORMS "Give numbers: an array, or an object that has the features by their names."

void
hopper_given_record(HeapTupleHeader record, hopper_given_row *row)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(record),
												   HeapTupleHeaderGetTypMod(record));
	HeapTupleData tuple = {0};
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));

	tuple.t_len = HeapTupleHeaderGetDatumLength(record);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_data = record;
	heap_deform_tuple(&tuple, desc, values, nulls);
	row->type = RECORDOID;
	row->values = palloc(Max(desc->natts, 1) * sizeof(hopper_named_value));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped)
			row->values[row->n++] = (hopper_named_value) {NameStr(column->attname),
			NULL, column->atttypid, values[i], nulls[i]};
	}
}

/* --- JSON --- */

static void
refuse_json(const char *what, const char *name)
{
	hopper_wrong(name
				 ? errmsg("features hold %s for \"%s\", not a number or an array of numbers", what,
						  name)
				 : errmsg("features hold %s, not a number", what),
				 errhint(HINT_FORMS));
}

/*
 * As an element of an SQL array; a truth value is 0 or 1, as a boolean column is. What double
 * precision does not hold is infinite or 0, as numeric features are; the server would refuse it
 * with all its digits.
 */
static const char *
number_text(const JsonbValue *value, const char *name)
{
	Datum		number;

	switch (value->type)
	{
		case jbvNull:
			return "NULL";
		case jbvBool:
			return value->val.boolean ? "1" : "0";
		case jbvNumeric:
			number = DirectFunctionCall1(numeric_float8_no_overflow,
										 NumericGetDatum(value->val.numeric));
			return psprintf("%.17g", DatumGetFloat8(number));
		case jbvString:
			refuse_json("a string", name);
			break;
		default:
			refuse_json("an object", name);
	}
	return NULL;				/* not reached */
}

/* The array whose beginning the iterator has not given yet, as double precision[]. */
static Datum
read_array(JsonbContainer *container, const char *name)
{
	JsonbIterator *iterator = JsonbIteratorInit(container);
	StringInfo	text = makeStringInfo();
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		first = true;

	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_END_ARRAY)
		{
			appendStringInfoChar(text, '}');
			first = false;
			continue;
		}
		if (token != WJB_BEGIN_ARRAY && token != WJB_ELEM)
			refuse_json("an object", name);
		if (!first)
			appendStringInfoChar(text, ',');
		first = token == WJB_BEGIN_ARRAY;
		appendStringInfoString(text, first ? "{" : number_text(&value, name));
	}
	return OidInputFunctionCall(F_ARRAY_IN, text->data, FLOAT8OID, -1);
}

static bool
looks_like_bytes(const char *text, int length)
{
	return length >= 2 && text[0] == '\\' && text[1] == 'x';
}

void
hopper_given_read(hopper_named_value *into)
{
	const JsonbValue *value = into->json;

	into->isnull = value->type == jbvNull;
	into->type = into->isnull ? UNKNOWNOID : FLOAT8OID;
	if (into->isnull)
		return;
	if (value->type == jbvString &&
		looks_like_bytes(value->val.string.val, value->val.string.len))
	{
		char	   *text = pnstrdup(value->val.string.val, value->val.string.len);

		into->type = BYTEAOID;
		into->value = OidInputFunctionCall(F_BYTEAIN, text, BYTEAOID, -1);
	}
	else if (value->type == jbvBinary)
	{
		into->type = FLOAT8ARRAYOID;
		into->value = read_array(value->val.binary.data, into->name);
	}
	else
		into->value = DirectFunctionCall1(float8in,
										  CStringGetDatum(number_text(value, into->name)));
}

/* The type that a text is read as for a column, by the column's type: epochs go by it. */
static Oid
type_to_read(const hopper_schema_column *column)
{
	static const struct
	{
		const char *family;
		Oid			type;
	}			types[] = {
		{"number", FLOAT8OID}, {"integer", FLOAT8OID}, {"boolean", BOOLOID}, {"text", TEXTOID},
		{"date", DATEOID}, {"timestamp", TIMESTAMPOID}, {"numbers", FLOAT8ARRAYOID}
	};
	static const struct
	{
		const char *begin;
		const char *within;
		Oid			type;
	}			timed[] = {
		{"timestamp", "with time", TIMESTAMPTZOID}, {"timestamp", "", TIMESTAMPOID},
		{"time", "", TIMEOID}, {"interval", "", INTERVALOID}
	};
	Oid			type = TEXTOID;
	const char *name = hopper_from_utf8(column->sql_type);

	for (int i = 0; i < lengthof(types); i++)
		if (strcmp(types[i].family, column->family) == 0)
			type = types[i].type;
	if (type != FLOAT8OID && type != TIMESTAMPOID)
		return type;
	/* A type of the server's own has no schema before it: others are domains. */
	if (strchr(name, '.'))
		name = format_type_be(getBaseType(DatumGetObjectId(
			DirectFunctionCall1(regtypein, CStringGetDatum(name)))));
	for (int i = 0; i < lengthof(timed); i++)
		if (strncmp(name, timed[i].begin, strlen(timed[i].begin)) == 0 &&
			strstr(name, timed[i].within))
			return timed[i].type;
	return type;
}

/* A whole number as such: double precision does not hold all of them. */
static bool
read_integer(hopper_named_value *into)
{
	const JsonbValue *value = into->json;
	char	   *text = value->type == jbvString
		? pnstrdup(value->val.string.val, value->val.string.len)
		: value->type == jbvNumeric ? DatumGetCString(
			DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric))) : "";
	char	   *end;
	int64		number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0)
		return false;
	into->type = INT8OID;
	into->value = Int64GetDatum(number);
	return true;
}

static void
tell_feature(void *name)
{
	errcontext("feature \"%s\"", (const char *) name);
}

void
hopper_given_read_as(hopper_named_value *into, const hopper_schema_column *column)
{
	const JsonbValue *value = into->json;
	Oid			type = type_to_read(column);
	ErrorContextCallback callback = {.callback = tell_feature,.arg = (void *) into->name};

	if (value->type == jbvNull)
	{
		into->isnull = true;
		into->type = type;
		return;
	}
	if (value->type == jbvBool && type == BOOLOID)
	{
		into->type = BOOLOID;
		into->value = BoolGetDatum(value->val.boolean);
		return;
	}
	if (strcmp(column->family, "integer") == 0 && read_integer(into))
		return;
	if ((value->type == jbvNumeric || value->type == jbvBool) &&
		(type == TEXTOID || type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID))
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("feature \"%s\" is a %s in JSON but was packed with type %s",
							into->name, value->type == jbvNumeric ? "number" : "boolean",
							hopper_from_utf8(column->sql_type)),
					 errhint("Write it as a string."));
	if (value->type != jbvString)
	{
		hopper_given_read(into);
		return;
	}
	into->type = type;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	into->value = hopper_value_of(type, pnstrdup(value->val.string.val, value->val.string.len));
	error_context_stack = callback.previous;
}

void
hopper_given_jsonb(Datum json, hopper_given_row *row)
{
	Jsonb	   *root = (Jsonb *) PG_DETOAST_DATUM(json);
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	int			room = 0;

	if (!JB_ROOT_IS_OBJECT(root))
	{
		row->type = FLOAT8ARRAYOID;
		if (JB_ROOT_IS_SCALAR(root))
		{
			iterator = JsonbIteratorInit(&root->root);
			(void) JsonbIteratorNext(&iterator, &value, false);
			(void) JsonbIteratorNext(&iterator, &value, false);
			row->isnull = value.type == jbvNull;
		}
		if (!row->isnull)
			row->value = read_array(&root->root, NULL);
		return;
	}
	row->type = RECORDOID;
	iterator = JsonbIteratorInit(&root->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_KEY)
		{
			hopper_grow(row->values, row->n + 1, room);
			row->values[row->n] = (hopper_named_value) {
				pnstrdup(value.val.string.val, value.val.string.len)};
		}
		else if (token == WJB_VALUE)
		{
			row->values[row->n].json = palloc(sizeof(JsonbValue));
			*row->values[row->n++].json = value;
		}
	}
}

/* --- text --- */

static char *
skip_space(char *text)
{
	return text + strspn(text, " \t\r\n");
}

/* '{"a": 1}' is an object, as every '{' before '"' is; '{1,2}' an array. */
void
hopper_given_text(char *given, hopper_given_row *row)
{
	char	   *start = skip_space(given);

	row->type = FLOAT8ARRAYOID;
	if (looks_like_bytes(start, strlen(start)))
	{
		row->type = BYTEAOID;
		row->value = OidInputFunctionCall(F_BYTEAIN, start, BYTEAOID, -1);
	}
	else if (*start == '{' && *skip_space(start + 1) != '"')
		row->value = OidInputFunctionCall(F_ARRAY_IN, start, FLOAT8OID, -1);
	else
		hopper_given_jsonb(DirectFunctionCall1(jsonb_in, CStringGetDatum(start)), row);
}
