/*
 * texts.c
 *		Texts and columns as arguments, in what forms callers have them.
 *
 * The type hopper.texts is one text or a list of them, stored as text[] is; hopper.columns is the
 * text of a list of columns. As arguments' types they take what several functions of one name would
 * take, without being ambiguous where the argument is left out or NULL.
 */
#include "pg/server/glue.h"

#include "utils/fmgroids.h"

static Datum
one_text(Datum text)
{
	return hopper_array(TEXTOID, 1, &text, NULL);
}

/* texts_in(cstring): '{...}' as the array that it is, anything else as its only element. */
HOPPER_FUNCTION(hopper_sql_texts_in)
{
	char	   *value = PG_GETARG_CSTRING(0);

	if (value[strspn(value, " \t\r\n")] == '{')
		return OidInputFunctionCall(F_ARRAY_IN, value, TEXTOID, -1);
	return one_text(CStringGetTextDatum(value));
}

HOPPER_FUNCTION(hopper_sql_texts_out)
{
	return CStringGetDatum(OidOutputFunctionCall(F_ARRAY_OUT, PG_GETARG_DATUM(0)));
}

/* A text may begin with a brace, as JSON does. */
HOPPER_FUNCTION(hopper_sql_texts_of_text)
{
	return one_text(PG_GETARG_DATUM(0));
}

/* 'true' and 'false' are how the classes of a boolean label are called; as text it would be 't'. */
HOPPER_FUNCTION(hopper_sql_texts_of_booleans)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, BOOLOID, 1, true, 'c', &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			values[i] = CStringGetTextDatum(DatumGetBool(values[i]) ? "true" : "false");
	PG_RETURN_ARRAYTYPE_P(construct_md_array(values, nulls, ARR_NDIM(array), ARR_DIMS(array),
											 ARR_LBOUND(array), TEXTOID, -1, false, 'i'));
}

HOPPER_FUNCTION(hopper_sql_columns_of_name)
{
	PG_RETURN_TEXT_P(cstring_to_text(hopper_identifier(NameStr(*PG_GETARG_NAME(0)))));
}

/* Of text[], name[] and what information_schema has of these. */
HOPPER_FUNCTION(hopper_sql_columns_of_names)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	bool		is_name = getBaseType(ARR_ELEMTYPE(array)) == NAMEOID;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	StringInfo	list = makeStringInfo();

	deconstruct_array(array, ARR_ELEMTYPE(array), is_name ? NAMEDATALEN : -1, false,
					  is_name ? 'c' : 'i', &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
						 errmsg("a list of columns must not hold NULL"));
		appendStringInfo(list, "%s%s", i > 0 ? ", " : "",
						 hopper_identifier(is_name ? NameStr(*DatumGetName(values[i]))
										   : TextDatumGetCString(values[i])));
	}
	PG_RETURN_TEXT_P(cstring_to_text(list->data));
}
