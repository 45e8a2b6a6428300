/*
 * integers.c
 *		Integers as arguments, in what widths and numbers callers have them.
 *
 * The type hopper.integers is one integer or a list of them, stored as integer[] is.
 * As an argument's type it takes what two functions of one name, with integer and with integer[],
 * would take, without being ambiguous where the argument is left out or NULL.
 */
#include "pg/server/glue.h"

#include <ctype.h>

#include "utils/fmgroids.h"

int
hopper_compare_key(const void *a, const void *b)
{
	int32		x = *(const int32 *) a;
	int32		y = *(const int32 *) b;

	return x < y ? -1 : x > y;
}

/* Letters that are not of NULL: names of architectures, where their numbers are wanted. */
static bool
has_names(const char *value)
{
	for (const char *at = value; *at; at++)
	{
		if (pg_strncasecmp(at, "null", 4) == 0)
			at += 3;
		else if (isalpha((unsigned char) *at))
			return true;
	}
	return false;
}

/* integers_in(cstring): '{...}' as the array that it is, anything else as its only element. */
HOPPER_FUNCTION(hopper_sql_integers_in)
{
	char	   *value = PG_GETARG_CSTRING(0);

	if (has_names(value))
		hopper_raise(ERRCODE_INVALID_TEXT_REPRESENTATION,
					 errmsg("\"%s\" is not a number or a list of numbers", value),
					 errhint("Numbers of architectures by their names: hopper.model_ids(table, "
							 "name, ...)."));
	if (strchr(value, '{') == NULL)
		value = psprintf("{%s}", value);
	return OidInputFunctionCall(F_ARRAY_IN, value, INT4OID, -1);
}

HOPPER_FUNCTION(hopper_sql_integers_out)
{
	return CStringGetDatum(OidOutputFunctionCall(F_ARRAY_OUT, PG_GETARG_DATUM(0)));
}

int32
hopper_key_argument(FunctionCallInfo fcinfo, int at)
{
	int64		key = PG_ARGISNULL(at) ? 0 : PG_GETARG_INT64(at);

	if (key < PG_INT32_MIN || key > PG_INT32_MAX)
		hopper_raise(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
					 errmsg("no model has the number " INT64_FORMAT, key));
	return (int32) key;
}

int32
hopper_integer_argument(FunctionCallInfo fcinfo, int at, const char *argument, int32 otherwise)
{
	int64		value = PG_ARGISNULL(at) ? otherwise : PG_GETARG_INT64(at);

	if (value > PG_INT32_MAX)
		hopper_raise(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
					 errmsg("%s must be at most %d, got " INT64_FORMAT, argument, PG_INT32_MAX,
							value));
	if (value < PG_INT32_MIN)
		hopper_raise(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
					 errmsg("%s is out of range: " INT64_FORMAT, argument, value));
	return (int32) value;
}

void
hopper_require_positive(int32 value, const char *argument, const char *hint)
{
	if (value < 1)
		hopper_wrong(errmsg("%s must be at least 1, got %d", argument, value),
					 hint ? errhint("%s", hint) : 0);
}

int32
hopper_positive_argument(FunctionCallInfo fcinfo, int at, const char *argument, int32 otherwise)
{
	int32		value = hopper_integer_argument(fcinfo, at, argument, otherwise);

	if (otherwise < 1)
		hopper_require_argument(fcinfo, at, argument);
	hopper_require_positive(value, argument, NULL);
	return value;
}

char *
hopper_integers_problem(ArrayType *array, const char *argument, int least, int most)
{
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (array_contains_nulls(array))
		return psprintf("%s must not hold NULL", argument);
	if (ARR_NDIM(array) <= 1 && n >= least && n <= most)
		return NULL;
	if (most == 1)
		return psprintf("%s must be one number", argument);
	if (most == PG_INT32_MAX)
		return psprintf("%s must be a list of %snumbers", argument,
						least > 0 ? "one or more " : "");
	if (least == 0)
		return psprintf("%s must be a list of at most %d numbers", argument, most);
	return psprintf("%s must be a list of %d to %d numbers", argument, least, most);
}

int32 *
hopper_integers(ArrayType *array, int *n)
{
	Datum	   *elements;
	int32	   *numbers;

	deconstruct_array(array, INT4OID, sizeof(int32), true, 'i', &elements, NULL, n);
	numbers = palloc(Max(*n, 1) * sizeof(int32));
	for (int i = 0; i < *n; i++)
		numbers[i] = DatumGetInt32(elements[i]);
	pfree(elements);
	return numbers;
}

int32 *
hopper_integers_argument(FunctionCallInfo fcinfo, int at, const char *argument, int least,
						 int most, int *n)
{
	ArrayType  *array;
	char	   *problem;

	*n = 0;
	if (PG_ARGISNULL(at))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(at);
	problem = hopper_integers_problem(array, argument, least, most);
	if (problem)
		hopper_wrong(errmsg("%s", problem));
	return hopper_integers(array, n);
}

int32 *
hopper_sizes_argument(FunctionCallInfo fcinfo, int at, const char *argument, int least, int most,
					  int *n)
{
	int32	   *sizes = hopper_integers_argument(fcinfo, at, argument, least, most, n);

	for (int i = 0; i < *n; i++)
		if (sizes[i] < 1)
			hopper_wrong(errmsg("each number of %s must be at least 1, got %d", argument,
								sizes[i]));
	return sizes;
}
