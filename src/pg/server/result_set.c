/*
 * result_set.c
 *		Result sets of set-returning functions, always materialized.
 */
#include "pg/server/glue.h"

#include "utils/tuplestore.h"

void
hopper_require_set_context(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		(result->allowedModes & SFRM_Materialize) == 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("set-valued function called in context that cannot accept a set"),
					 errhint("Call it in the FROM clause."));
}

/* The result's row type, in the memory of the query. */
static TupleDesc
result_descriptor(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TupleDesc	descriptor = NULL;

	hopper_require_set_context(fcinfo);
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		descriptor = result->expectedDesc;
	if (descriptor == NULL)
		elog(ERROR, "the function's result has no row type");
	return CreateTupleDescCopy(descriptor);
}

Tuplestorestate *
hopper_begin_result(FunctionCallInfo fcinfo, TupleDesc *descriptor)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller;
	Tuplestorestate *store;

	if (result == NULL || !IsA(result, ReturnSetInfo))
		(void) result_descriptor(fcinfo);	/* raises the error */
	caller = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
	*descriptor = result_descriptor(fcinfo);
	store = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false,
								  work_mem);
	result->returnMode = SFRM_Materialize;
	result->setResult = store;
	result->setDesc = *descriptor;
	MemoryContextSwitchTo(caller);
	return store;
}

hopper_guard *
hopper_guard_rows(hopper_rows *rows)
{
	return hopper_guard_add(rows, hopper_core()->rows_free);
}

hopper_rows *
hopper_take_rows(hopper_rows *rows)
{
	hopper_guard *guard = hopper_guard_rows(rows);
	Size		n = (Size) rows->n_rows * rows->n_columns;
	Size		size = sizeof(hopper_rows) + n * sizeof(char *);
	hopper_rows *copy;
	const char **cells;
	char	   *text;

	for (Size i = 0; i < n; i++)
		size += rows->cells[i] ? strlen(rows->cells[i]) + 1 : 0;
	copy = MemoryContextAllocHuge(CurrentMemoryContext, size);
	*copy = *rows;
	copy->cells = cells = (const char **) (copy + 1);
	text = (char *) (cells + n);
	for (Size i = 0; i < n; i++)
	{
		cells[i] = rows->cells[i] ? strcpy(text, rows->cells[i]) : NULL;
		text += cells[i] ? strlen(text) + 1 : 0;
	}
	hopper_guard_release(guard);
	return copy;
}

hopper_rows *hopper_rows_made;

hopper_rows *
hopper_made(int code)
{
	HOPPER_CHECK(code);
	return hopper_take_rows(hopper_rows_made);
}

void
hopper_tell_notes(const hopper_rows *rows, int first)
{
	for (int row = first; row < rows->n_rows; row++)
	{
		const char *const *cells = hopper_row(rows, row);

		ereport(NOTICE, errmsg_internal("%s", hopper_from_utf8(cells[0])),
				cells[1] ? errdetail_internal("%s", hopper_from_utf8(cells[1])) : 0,
				cells[2] ? errhint("%s", hopper_from_utf8(cells[2])) : 0);
	}
}

Datum
hopper_return_rows(FunctionCallInfo fcinfo, const hopper_rows *rows)
{
	TupleDesc	descriptor;
	Tuplestorestate *store = hopper_begin_result(fcinfo, &descriptor);
	AttInMetadata *input = TupleDescGetAttInMetadata(descriptor);
	char	  **values = palloc(sizeof(char *) * rows->n_columns);
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "hopper row",
													  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = CurrentMemoryContext;
	int			row;
	int			column;

	if (descriptor->natts != rows->n_columns)
		elog(ERROR, "the core returned %d columns where %d are declared", rows->n_columns,
			 descriptor->natts);
	for (row = 0; row < rows->n_rows; row++)
	{
		MemoryContextReset(row_context);
		MemoryContextSwitchTo(row_context);
		for (column = 0; column < rows->n_columns; column++)
			values[column] = hopper_from_utf8(hopper_row(rows, row)[column]);
		tuplestore_puttuple(store, BuildTupleFromCStrings(input, values));
		MemoryContextSwitchTo(caller);
	}
	MemoryContextDelete(row_context);
	return (Datum) 0;
}

Datum
hopper_return_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	descriptor;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the function's result is not a row");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}

hopper_param
hopper_text_param(const char *value)
{
	return value ? HOPPER_PARAM(TEXTOID, CStringGetTextDatum(value)) : HOPPER_NULL(TEXTOID);
}

hopper_param
hopper_utf8_param(const char *value)
{
	return hopper_text_param(hopper_from_utf8(value));
}

hopper_param
hopper_texts_param(int n, const void *texts)
{
	return n > 0 ? HOPPER_PARAM(TEXTARRAYOID, hopper_texts_datum(n, texts))
		: HOPPER_NULL(TEXTARRAYOID);
}

hopper_param
hopper_numbers_param(Oid element, int n, const int64_t *values)
{
	Datum	   *numbers = palloc(sizeof(Datum) * Max(n, 1));

	if (values == NULL)
		return HOPPER_NULL(get_array_type(element));
	for (int i = 0; i < n; i++)
		numbers[i] = element == INT4OID ? Int32GetDatum((int32) values[i])
			: Int64GetDatum(values[i]);
	return HOPPER_PARAM(get_array_type(element), hopper_array(element, n, numbers, NULL));
}

static Datum *
values_of(int n, const hopper_param *params, bool **nulls)
{
	Datum	   *values = palloc(n * sizeof(Datum));

	*nulls = palloc(n * sizeof(bool));
	for (int i = 0; i < n; i++)
	{
		values[i] = params[i].value;
		(*nulls)[i] = params[i].isnull;
	}
	return values;
}

Datum
hopper_return_params(FunctionCallInfo fcinfo, int n, const hopper_param *params)
{
	bool	   *nulls;
	Datum	   *values = values_of(n, params, &nulls);

	return hopper_return_row(fcinfo, values, nulls);
}

void
hopper_put_params(Tuplestorestate *store, TupleDesc descriptor, int n, const hopper_param *params)
{
	bool	   *nulls;
	Datum	   *values = values_of(n, params, &nulls);

	tuplestore_putvalues(store, descriptor, values, nulls);
}

void
hopper_put_selected(Tuplestorestate *store, TupleDesc descriptor)
{
	if (SPI_tuptable->tupdesc->natts != descriptor->natts)
		elog(ERROR, "the query returns %d columns where %d are declared",
			 SPI_tuptable->tupdesc->natts, descriptor->natts);
	/* The columns are those of a user's table, who may have changed their types. */
	for (int column = 0; column < descriptor->natts; column++)
		hopper_require_type(SPI_tuptable->tupdesc, column + 1,
							TupleDescAttr(descriptor, column)->atttypid);
	for (uint64 row = 0; row < SPI_processed; row++)
		tuplestore_puttuple(store, SPI_tuptable->vals[row]);
}

Datum
hopper_return_query(FunctionCallInfo fcinfo, const char *query)
{
	TupleDesc	descriptor;
	Tuplestorestate *store = hopper_begin_result(fcinfo, &descriptor);
	int			level = hopper_without_jit();
	bool		pushed = hopper_spi_push();

	hopper_connect();
	(void) hopper_select("%s", query);
	hopper_put_selected(store, descriptor);
	AtEOXact_GUC(false, level);
	hopper_finish();
	hopper_spi_pop(pushed);
	return (Datum) 0;
}
