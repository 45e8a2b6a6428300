/*
 * value.c
 *		predict_value() and predict_outputs(): what functions of create_predict_function() call for
 *		each row, whose columns are arguments, or in one row: one value, or the probabilities of all
 *		classes. What is the same for all rows of a statement is looked up once.
 */
#include "pg/predict/ready.h"
#include "pg/predict/run.h"

#include "access/htup_details.h"
#include "utils/typcache.h"

#define FEATURES 3				/* the argument that names the columns */
#define CLASSES 4				/* of predict_outputs() alone */

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
	int			n;				/* features */
	int			n_given;		/* columns */
	int		   *places;			/* of the features among them */
	hopper_pack_column *columns;
	hopper_pack_values values;
	hopper_pack_source source;
	hopper_predict_classes classes;
} row_function;

/*
 * The argument that holds the columns, or NULL where they are arguments from `first` on. False: it
 * is NULL, and may be.
 */
static bool
get_row(FunctionCallInfo fcinfo, int first, HeapTupleHeader *row)
{
	*row = NULL;
	if (PG_NARGS() != first + 1 || !type_is_rowtype(get_fn_expr_argtype(fcinfo->flinfo, first)))
		return true;
	if (!PG_ARGISNULL(first))
		*row = PG_GETARG_HEAPTUPLEHEADER(first);
	else if (!hopper_predict_may_lack(fcinfo, 2))
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"source_row\" must not be null"));
	return *row != NULL;
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

static void refuse_other_columns(const hopper_ready_model *entry,
								 const char *what) pg_attribute_noreturn();

static void
refuse_other_columns(const hopper_ready_model *entry, const char *what)
{
	hopper_wrong(errmsg("model \"%s\" reads %s", entry->model.shown, what),
				 errdetail("Its features are %s.",
						   hopper_columns_words(entry->model.data.n_x_columns,
												entry->model.data.x_columns)),
				 errhint("Make the function anew with hopper.create_predict_function()."));
}

/* Texts of an array, NULL pointers where they are NULL. */
static char **
texts_of(Datum array, int *n)
{
	Datum	   *values;
	bool	   *nulls;
	char	  **texts;

	*n = hopper_elements(DatumGetArrayTypeP(array), &values, &nulls);
	texts = palloc((*n + 1) * sizeof(char *));
	for (int i = 0; i < *n; i++)
		texts[i] = nulls[i] ? NULL : TextDatumGetCString(values[i]);
	return texts;
}

/* Where in the list the model's feature is: at its own place in most cases. */
static int
place_of(const hopper_ready_model *entry, int feature, int n, char *const *names)
{
	const char *name = entry->model.data.x_columns[feature];

	for (int i = 0; i < n; i++)
	{
		int			at = (feature + i) % n;

		if (names[at] && strcmp(names[at], name) == 0)
			return at;
	}
	refuse_other_columns(entry, psprintf("a column \"%s\", which is not given", name));
}

/* Names of a row's columns, NULL pointers where they are dropped. */
static char **
names_of(TupleDesc row, int *n)
{
	char	  **names;

	if (row == NULL)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH, errmsg("what is given is no row"),
					 errhint("Give a row of a table or a subquery that has the model's features."));
	names = palloc0(Max(row->natts, 1) * sizeof(char *));
	*n = row->natts;
	for (int i = 0; i < row->natts; i++)
		if (!TupleDescAttr(row, i)->attisdropped)
			names[i] = NameStr(TupleDescAttr(row, i)->attname);
	return names;
}

static int
compare_column_names(const void *a, const void *b)
{
	const char *one = *(char *const *) a;
	const char *other = *(char *const *) b;

	return strcmp(one ? one : "", other ? other : "");
}

/* Of two columns of a feature's name, as a subquery may have, nobody knows which one is meant. */
static void
refuse_ambiguous(const hopper_packed *data, int n, char *const *names)
{
	char	  **sorted = memcpy(palloc(n * sizeof(char *)), names, n * sizeof(char *));

	qsort(sorted, n, sizeof(char *), compare_column_names);
	for (int i = 1; i < n; i++)
	{
		bool		is_twice = sorted[i] && compare_column_names(&sorted[i - 1], &sorted[i]) == 0;

		for (int k = 0; is_twice && k < data->n_x_columns; k++)
			if (strcmp(data->x_columns[k], sorted[i]) == 0)
				hopper_raise(ERRCODE_AMBIGUOUS_COLUMN,
							 errmsg("source_row has several columns \"%s\"", sorted[i]));
	}
}

/*
 * Where the model's features are among the columns. The model may be another one than the function
 * was made for, so that names are what tells: without them columns come in the model's order. An
 * empty list: the row has names.
 */
static void
find_features(FunctionCallInfo fcinfo, row_function *function)
{
	const hopper_packed *data = &function->entry->model.data;
	bool		named = !PG_ARGISNULL(FEATURES);
	int			n_names = 0;
	char	  **names = named ? texts_of(PG_GETARG_DATUM(FEATURES), &n_names) : NULL;

	if (named && n_names == 0)
	{
		names = names_of(function->row, &n_names);
		refuse_ambiguous(data, n_names, names);
	}
	if (named && n_names != function->n_given)
		hopper_wrong(errmsg("features names %s but %s given",
							hopper_plural(n_names, "column", "columns"),
							hopper_plural(function->n_given, "is", "are")));
	if (!named && function->n_given != data->n_x_columns)
		refuse_other_columns(function->entry, psprintf("%d columns, not %d", data->n_x_columns,
													   function->n_given));
	function->n = data->n_x_columns;
	function->places = palloc(function->n * sizeof(int));
	for (int i = 0; i < function->n; i++)
		function->places[i] = named ? place_of(function->entry, i, n_names, names) : i;
}

static void
describe_columns(FunctionCallInfo fcinfo, int first, row_function *function)
{
	hopper_ready_model *entry = function->entry;

	if (get_fn_expr_variadic(fcinfo->flinfo))
		hopper_wrong(errmsg("columns are given one by one, not as an array"));
	function->n_given = function->row ? function->row->natts : PG_NARGS() - first;
	find_features(fcinfo, function);
	function->columns = palloc0(function->n * sizeof(hopper_pack_column));
	for (int i = 0; i < function->n; i++)
	{
		hopper_pack_column *column = &function->columns[i];
		int			at = function->places[i];

		column->name = pstrdup(entry->model.data.x_columns[i]);
		column->declared = function->row ? TupleDescAttr(function->row, at)->atttypid
			: get_fn_expr_argtype(fcinfo->flinfo, first + at);
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

/* ERROR where the probabilities that are returned would be taken for those of other classes. */
static void
require_classes(FunctionCallInfo fcinfo, const hopper_predict_model *model)
{
	int			n;
	char	  **classes;
	bool		same;

	if (PG_ARGISNULL(CLASSES))
		return;
	classes = texts_of(PG_GETARG_DATUM(CLASSES), &n);
	same = n == model->n_class_values;
	for (int i = 0; same && i < n; i++)
		same = classes[i] && model->class_values[i]
			? strcmp(classes[i], model->class_values[i]) == 0
			: classes[i] == model->class_values[i];
	if (!same)
		hopper_wrong(errmsg("model \"%s\" has other classes than the function that calls it",
							model->shown),
					 errhint("Make the function anew with hopper.create_predict_function()."));
}

static row_function *
look_up(FunctionCallInfo fcinfo, int first, HeapTupleHeader row)
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
	hopper_connect_stable();
	function->entry = hopper_ready_get(&table, !PG_ARGISNULL(1),
									   hopper_key_argument(fcinfo, 1), 0, NULL);
	function->serial = function->entry->serial;
	hopper_predict_require_one_value(&function->entry->model);
	caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	if (row)
		function->row = lookup_rowtype_tupdesc_copy(HeapTupleHeaderGetTypeId(row),
													HeapTupleHeaderGetTypMod(row));
	describe_columns(fcinfo, first, function);
	if (first > CLASSES)
		require_classes(fcinfo, &function->entry->model);
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

/*
 * The outputs for the columns, which are arguments from `first` on, or a row there; NULL where one
 * is missing that may be.
 */
static const float *
compute(FunctionCallInfo fcinfo, int first, row_function **looked_up)
{
	row_function *function = fcinfo->flinfo->fn_extra;
	HeapTupleHeader row;
	Datum	   *given = NULL;
	bool	   *given_nulls = NULL;
	Datum	   *datums;
	bool	   *nulls;
	char	   *features;

	if (!get_row(fcinfo, first, &row))
		return NULL;
	if (!is_current(function, row))
		function = look_up(fcinfo, first, row);
	*looked_up = function;
	datums = palloc(function->n * sizeof(Datum));
	nulls = palloc(function->n * sizeof(bool));
	if (row)
	{
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row),.t_data = row};

		given = palloc(function->n_given * sizeof(Datum));
		given_nulls = palloc(function->n_given * sizeof(bool));
		heap_deform_tuple(&tuple, function->row, given, given_nulls);
	}
	for (int i = 0; i < function->n; i++)
	{
		int			at = function->places[i];

		nulls[i] = row ? given_nulls[at] : PG_ARGISNULL(first + at);
		datums[i] = nulls[i] ? (Datum) 0 : row ? given[at] : PG_GETARG_DATUM(first + at);
	}
	features = palloc(function->values.size);
	if (!hopper_pack_values_encode(&function->values, &function->source, datums, nulls, features))
		return NULL;
	return hopper_ready_compute(function->entry, features, function->values.size);
}

/* predict_value(model_table, mst_key, on_null, features, VARIADIC columns) */
HOPPER_FUNCTION(hopper_sql_predict_value)
{
	row_function *function;
	const float *outputs = compute(fcinfo, FEATURES + 1, &function);
	const hopper_predict_model *model;
	const char *predicted;

	if (outputs == NULL)
		PG_RETURN_NULL();
	model = &function->entry->model;
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

/* predict_outputs(model_table, mst_key, on_null, features, classes, VARIADIC columns) */
HOPPER_FUNCTION(hopper_sql_predict_outputs)
{
	row_function *function;
	const float *outputs = compute(fcinfo, CLASSES + 1, &function);
	const hopper_predict_model *model;
	double		value;
	const double *numbers = &value;
	Datum		result;

	if (outputs == NULL)
		PG_RETURN_NULL();
	model = &function->entry->model;
	if (model->is_value)
		hopper_predict_values(model, 1, outputs, &value);
	else
	{
		hopper_predict_rank(&function->classes, model, function->entry->n_outputs, outputs, true);
		numbers = function->classes.probabilities;
	}
	result = hopper_floats_datum(model->is_value ? 1 : model->n_classes, numbers);
	hopper_ready_leave(function->entry);
	PG_RETURN_DATUM(result);
}
