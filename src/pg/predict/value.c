/*
 * value.c
 *		predict_value() and predict_outputs(): what functions of create_predict_function() call for
 *		each row, whose columns are arguments, or one row: one value, or the probabilities of all
 *		classes. What is the same for all rows of a statement is looked up once.
 */
#include "pg/predict/ready.h"
#include "pg/predict/run.h"

#include "access/htup_details.h"
#include "utils/typcache.h"

#define FIRST_COLUMN 3			/* of the arguments */

typedef struct row_function
{
	/* what it was looked up for: another snapshot may see another model, another role none */
	Oid			user;
	CommandId	command;
	TransactionId xmin;
	TransactionId xmax;

	hopper_ready_model *entry;
	uint64		serial;			/* of the entry, which another model may have taken since */
	TupleDesc	row;			/* of the one argument that holds the columns, or NULL */
	int			n;
	hopper_pack_column *columns;
	hopper_pack_values values;
	hopper_pack_source source;
	hopper_predict_classes classes;
} row_function;

/* The argument that holds the columns, or NULL where they are arguments. */
static HeapTupleHeader
row_of(FunctionCallInfo fcinfo)
{
	return PG_NARGS() == FIRST_COLUMN + 1 && !PG_ARGISNULL(FIRST_COLUMN) &&
		get_fn_expr_argtype(fcinfo->flinfo, FIRST_COLUMN) == RECORDOID
		? PG_GETARG_HEAPTUPLEHEADER(FIRST_COLUMN) : NULL;
}

static bool
is_of(HeapTupleHeader row, TupleDesc desc)
{
	if (row == NULL || desc == NULL)
		return row == NULL && desc == NULL;
	return HeapTupleHeaderGetTypeId(row) == desc->tdtypeid &&
		HeapTupleHeaderGetTypMod(row) == desc->tdtypmod;
}

static bool
is_current(const row_function *function, HeapTupleHeader row)
{
	Snapshot	snapshot = GetActiveSnapshot();

	return function && is_of(row, function->row) && function->entry &&
		function->user == GetUserId() &&
		function->command == snapshot->curcid && function->xmin == snapshot->xmin &&
		function->xmax == snapshot->xmax && hopper_ready_is(function->entry, function->serial);
}

static void
refuse_bytes(const hopper_ready_model *entry)
{
	hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("predict_value() takes no bytes, as model \"%s\" would read them",
						entry->model.shown),
				 errhint("Use hopper.predict_row()."));
}

/* The arguments' columns, which are the model's features in its order. */
static void
describe_columns(FunctionCallInfo fcinfo, row_function *function)
{
	hopper_ready_model *entry = function->entry;
	const hopper_predict_model *model = &entry->model;

	function->n = function->row ? function->row->natts : PG_NARGS() - FIRST_COLUMN;
	if (function->n != model->data.n_x_columns || get_fn_expr_variadic(fcinfo->flinfo))
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("model \"%s\" reads %d columns, not %d", model->shown,
							model->data.n_x_columns, function->n),
					 errdetail("Its features are %s.",
							   hopper_columns_words(model->data.n_x_columns,
													model->data.x_columns)),
					 errhint("Make the function anew with hopper.create_predict_function()."));
	function->columns = palloc0(function->n * sizeof(hopper_pack_column));
	for (int i = 0; i < function->n; i++)
	{
		hopper_pack_column *column = &function->columns[i];

		column->name = pstrdup(entry->model.data.x_columns[i]);
		column->declared = function->row ? TupleDescAttr(function->row, i)->atttypid
			: get_fn_expr_argtype(fcinfo->flinfo, FIRST_COLUMN + i);
		column->type = getBaseType(column->declared);
		column->sql_type = format_type_be(column->declared);
	}
	for (int i = 0; i < entry->n_inputs; i++)
		if (entry->is_bytea[i])
			refuse_bytes(entry);
	for (int i = 0; i < function->n; i++)
		if (function->columns[i].type == BYTEAOID)
			refuse_bytes(entry);
	hopper_predict_describe_features(&entry->model, &entry->features, entry->model.data.n_x_columns,
									 function->columns, "features", &function->values);
	function->values.divisor = entry->model.data.desc.normalizing_const;
}

static row_function *
look_up(FunctionCallInfo fcinfo, HeapTupleHeader row)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_table");
	row_function *function = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(row_function));
	Snapshot	snapshot = GetActiveSnapshot();
	MemoryContext caller;

	fcinfo->flinfo->fn_extra = function;
	function->user = GetUserId();
	function->command = snapshot->curcid;
	function->xmin = snapshot->xmin;
	function->xmax = snapshot->xmax;
	hopper_refuse_on_segment("predict_value()", "Use hopper.predict(), which predicts a whole "
							 "table on the segments.");
	hopper_connect();
	function->entry = hopper_ready_get(&table, !PG_ARGISNULL(1),
									   hopper_key_argument(fcinfo, 1), READY_ROW, 0, NULL);
	function->serial = function->entry->serial;
	hopper_predict_require_one_value(&function->entry->model);
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	if (row)
		function->row = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(row),
													HeapTupleHeaderGetTypMod(row));
	describe_columns(fcinfo, function);
	function->source.name.shown = "features";
	function->source.rows_hint = PREDICT_HINT_ROWS;
	function->source.segment = -1;
	function->source.row_number = 1;
	function->source.may_lack = hopper_predict_may_lack(fcinfo, 2);
	if (!function->entry->model.is_value)
		hopper_predict_classes_init(&function->classes, &function->entry->model);
	MemoryContextSwitchTo(caller);
	hopper_finish();
	return function;
}

/* The outputs for the arguments' columns; NULL where one is missing that may be. */
static const float *
compute(FunctionCallInfo fcinfo, row_function **looked_up)
{
	row_function *function = fcinfo->flinfo->fn_extra;
	HeapTupleHeader row = row_of(fcinfo);
	Datum	   *datums;
	bool	   *nulls;
	char	   *features;

	if (!is_current(function, row))
		function = look_up(fcinfo, row);
	*looked_up = function;
	datums = palloc(function->n * sizeof(Datum));
	nulls = palloc(function->n * sizeof(bool));
	if (row)
	{
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row),.t_data = row};

		heap_deform_tuple(&tuple, function->row, datums, nulls);
	}
	for (int i = 0; row == NULL && i < function->n; i++)
	{
		nulls[i] = PG_ARGISNULL(FIRST_COLUMN + i);
		datums[i] = nulls[i] ? (Datum) 0 : PG_GETARG_DATUM(FIRST_COLUMN + i);
	}
	features = palloc(function->values.size);
	if (!hopper_pack_values_encode(&function->values, &function->source, datums, nulls, features))
		return NULL;
	return hopper_ready_compute(function->entry, features, function->values.size);
}

/* predict_value(model_table, mst_key, on_null, VARIADIC columns) */
HOPPER_FUNCTION(hopper_sql_predict_value)
{
	row_function *function;
	const float *outputs = compute(fcinfo, &function);
	const hopper_predict_model *model = &function->entry->model;
	const char *predicted;

	if (outputs == NULL)
		PG_RETURN_NULL();
	if (model->is_value)
	{
		double		value;

		hopper_predict_values(model, 1, outputs, &value);
		predicted = psprintf("%.17g", value);
	}
	else
	{
		hopper_predict_rank(&function->classes, model, function->entry->n_outputs, outputs, true);
		predicted = hopper_predict_class_name(model, function->classes.order[0]);
	}
	hopper_ready_leave(function->entry);
	if (predicted == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(predicted));
}

/* predict_outputs(model_table, mst_key, on_null, VARIADIC columns) */
HOPPER_FUNCTION(hopper_sql_predict_outputs)
{
	row_function *function;
	const float *outputs = compute(fcinfo, &function);
	const hopper_predict_model *model = &function->entry->model;
	double		value;
	const double *numbers = &value;
	int			n = model->is_value ? 1 : model->n_classes;
	Datum		result;

	if (outputs == NULL)
		PG_RETURN_NULL();
	if (model->is_value)
		hopper_predict_values(model, 1, outputs, &value);
	else
	{
		hopper_predict_rank(&function->classes, model, function->entry->n_outputs, outputs, true);
		numbers = function->classes.probabilities;
	}
	result = hopper_floats_datum(n, numbers);
	hopper_ready_leave(function->entry);
	PG_RETURN_DATUM(result);
}
