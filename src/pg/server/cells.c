/*
 * cells.c
 *		Values out of rows that SPI has fetched: never used before they were looked at.
 */
#include "pg/server/glue.h"

/* A query that should have given a row gave none: its table changed, or hides its rows. */
static void
require_row(uint64 row)
{
	if (SPI_tuptable == NULL || row >= (uint64) SPI_processed)
		hopper_raise(ERRCODE_DATA_CORRUPTED,
					 errmsg("a table has fewer rows than it had, or should have"),
					 errhint("Use the tables as the functions of schema hopper made them."));
}

Datum
hopper_value(uint64 row, int column, Oid type, bool *isnull)
{
	Datum		value;

	require_row(row);
	value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
	if (!*isnull)
		hopper_require_type(SPI_tuptable->tupdesc, column, type);
	return value;
}

double
hopper_float_value(uint64 row, int column)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, FLOAT8OID, &isnull);

	return isnull ? 0 : DatumGetFloat8(value);
}

int
hopper_at_if_any(const char *column)
{
	return SPI_tuptable ? Max(SPI_fnumber(SPI_tuptable->tupdesc, column), 0) : 0;
}

int
hopper_at(const char *column)
{
	int			at = hopper_at_if_any(column);

	if (at == 0)
		hopper_raise(ERRCODE_UNDEFINED_COLUMN, errmsg("column \"%s\" does not exist", column));
	return at;
}

char *
hopper_cell(uint64 row, int column)
{
	require_row(row);
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

void
hopper_refuse_damaged(const hopper_name *table, const char *detail)
{
	hopper_raise(ERRCODE_DATA_CORRUPTED,
				 errmsg("\"%s\" is damaged", table ? table->shown : "a catalog"),
				 errdetail("%s", detail),
				 errhint("Use the tables as the functions of schema hopper made them."));
	pg_unreachable();
}

void
hopper_refuse_cell(const hopper_name *table, uint64 row, int column)
{
	const char *value = hopper_cell(row, column);

	hopper_refuse_damaged(table, psprintf("Column \"%s\" holds %s.",
										  SPI_fname(SPI_tuptable->tupdesc, column),
										  value ? value : "NULL"));
}

char *
hopper_text_cell(const hopper_name *table, uint64 row, int column)
{
	char	   *value = hopper_cell(row, column);

	if (value == NULL)
		hopper_refuse_cell(table, row, column);
	return value;
}

int64
hopper_int_cell(const hopper_name *table, uint64 row, int column, int64 least, int64 most)
{
	bool		isnull;
	Datum		datum;
	int64		value = 0;

	require_row(row);
	datum = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
	if (isnull)
		hopper_refuse_cell(table, row, column);
	switch (getBaseType(SPI_gettypeid(SPI_tuptable->tupdesc, column)))
	{
		case INT2OID:
			value = DatumGetInt16(datum);
			break;
		case INT4OID:
			value = DatumGetInt32(datum);
			break;
		case INT8OID:
			value = DatumGetInt64(datum);
			break;
		default:
			hopper_require_type(SPI_tuptable->tupdesc, column, INT4OID);
	}
	if (value < least || value > most)
		hopper_refuse_cell(table, row, column);
	return value;
}

char *
hopper_text(uint64 n)
{
	char	   *text = n > 0 ? hopper_cell(0, 1) : NULL;

	SPI_freetuptable(SPI_tuptable);
	return text;
}

int64
hopper_number(const hopper_name *table, uint64 n)
{
	int64		number = hopper_int_cell(table, 0, 1, 0, PG_INT64_MAX);

	SPI_freetuptable(SPI_tuptable);
	return number;
}

int32
hopper_key_cell(const hopper_name *table, uint64 row, int column)
{
	return (int32) hopper_int_cell(table, row, column, PG_INT32_MIN, PG_INT32_MAX);
}

char *
hopper_text_of(Oid type, Datum value)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	return OidOutputFunctionCall(function, value);
}

Datum
hopper_value_of(Oid type, const char *text)
{
	Oid			function;
	Oid			parameter;

	getTypeInputInfo(type, &function, &parameter);
	return OidInputFunctionCall(function, pstrdup(text), parameter, -1);
}

int
hopper_elements(const struct ArrayType *array, Datum **values, bool **nulls)
{
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		alignment;
	int			n;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array((ArrayType *) array, type, length, by_value, alignment, values, nulls, &n);
	return n;
}

Datum
hopper_array(Oid type, int n, const Datum *values, const bool *nulls)
{
	int			first = 1;
	int16		length;
	bool		by_value;
	char		alignment;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	return PointerGetDatum(construct_md_array((Datum *) values, (bool *) nulls, 1, &n, &first,
											  type, length, by_value, alignment));
}

Datum
hopper_texts_datum(int n, const char *const *texts)
{
	Datum	   *values = palloc((n + 1) * sizeof(Datum));
	bool	   *nulls = palloc((n + 1) * sizeof(bool));

	for (int i = 0; i < n; i++)
	{
		nulls[i] = texts[i] == NULL;
		values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(texts[i]);
	}
	return hopper_array(TEXTOID, n, values, nulls);
}

Datum
hopper_floats_datum(int n, const double *values)
{
	Datum	   *datums = palloc((n + 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		datums[i] = Float8GetDatum(values[i]);
	return hopper_array(FLOAT8OID, n, datums, NULL);
}

double *
hopper_float_cells(uint64 row, int column, int *n)
{
	bool		isnull;
	Datum		array = hopper_value(row, column, FLOAT8ARRAYOID, &isnull);
	Datum	   *datums;
	bool	   *nulls;
	double	   *numbers;

	*n = 0;
	if (isnull)
		return NULL;
	*n = hopper_elements(DatumGetArrayTypeP(array), &datums, &nulls);
	numbers = palloc(sizeof(double) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
		numbers[i] = nulls[i] ? 0 : DatumGetFloat8(datums[i]);
	return numbers;
}

char **
hopper_texts(Datum array, int *n)
{
	Datum	   *values;
	bool	   *nulls;
	char	  **texts;

	*n = hopper_elements(DatumGetArrayTypeP(array), &values, &nulls);
	texts = palloc(Max(*n, 1) * sizeof(char *));
	for (int i = 0; i < *n; i++)
		texts[i] = nulls[i] ? NULL : TextDatumGetCString(values[i]);
	return texts;
}

char **
hopper_text_cells(uint64 row, int column, int *n)
{
	bool		isnull;
	Datum		array = hopper_value(row, column, TEXTARRAYOID, &isnull);

	*n = 0;
	return isnull ? NULL : hopper_texts(array, n);
}

char **
hopper_name_cells(uint64 row, int column, int *n)
{
	char	  **names = hopper_text_cells(row, column, n);

	for (int i = 0; i < *n; i++)
		if (names[i] == NULL)
			names[i] = "";
	return names;
}
