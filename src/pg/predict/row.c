/*
 * row.c
 *		predict_row(): one example, answered at once: an array, bytes, a row with columns of the
 *		features' names, or text or JSON that means one of these. The model stays ready in the
 *		session.
 */
#include "pg/predict/given.h"
#include "pg/predict/ready.h"
#include "pg/predict/run.h"

#include "utils/tuplestore.h"

#include "pg/server/row_types.h"

/* The features' number, before they are encoded; other problems are found there. */
static void
check_features(const hopper_ready_model *entry, Oid type, Datum features)
{
	const hopper_predict_model *model = &entry->model;
	int64		expected = hopper_shape_count(model->data.desc.x_rank, model->data.desc.x_shape);
	int64		given;

	if (type == BYTEAOID)
	{
		int32		size = hopper_core()->type_size(entry->features.x_type);

		given = (int64) toast_raw_datum_size(features) - VARHDRSZ;
		if (given == expected * size)
			return;
	}
	else if (OidIsValid(get_element_type(type)))
	{
		ArrayType  *array = DatumGetArrayTypeP(features);

		/* which any number of steps may be given */
		if (model->data.padding && model->data.padding->given)
			return;
		given = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	else
		given = 1;
	if (given != expected)
		hopper_wrong(errmsg("model \"%s\" expects %s, not %s", model->shown,
							hopper_predict_expectation(model),
							hopper_plural(given, "value", "values")));
}

#define ROW_COLUMNS 4		/* class_value, prob, value, output */

typedef struct row_result
{
	Tuplestorestate *store;
	TupleDesc	descriptor;
} row_result;

static void
put_row_result(void *state, const Datum *values, const bool *nulls)
{
	const row_result *result = state;
	const Datum shown[ROW_COLUMNS] = {values[0], values[1], values[3], values[4]};
	const bool	shown_nulls[ROW_COLUMNS] = {nulls[0], nulls[1], nulls[3], nulls[4]};

	tuplestore_putvalues(result->store, result->descriptor, (Datum *) shown,
						 (bool *) shown_nulls);
}

/* `outputs` is NULL where the row lacks a feature: a row of NULLs, so that LATERAL keeps it. */
static void
return_rows(FunctionCallInfo fcinfo, const hopper_ready_model *entry, const float *outputs)
{
	row_result result;
	Datum		values[PREDICT_MAX_COLUMNS] = {0};
	bool		nulls[PREDICT_MAX_COLUMNS] = {true, true, true, true, true};

	result.store = hopper_begin_result(fcinfo, &result.descriptor);
	if (outputs == NULL)
	{
		put_row_result(&result, values, nulls);
		return;
	}
	hopper_predict_output_begin(entry->output, (Datum) 0, true, outputs);
	while (hopper_predict_output_next(entry->output, values, nulls))
		hopper_predict_show(entry->output, values, nulls, put_row_result, &result);
}

/* What all calls begin with; `argument` holds the features. */
static hopper_name
begin_row(FunctionCallInfo fcinfo, bool isnull, const char *argument, bool may_lack)
{
	hopper_require_set_context(fcinfo);
	if (isnull && !may_lack)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"%s\" must not be null", argument));
	hopper_refuse_on_segment("predict_row()",
							 "Use hopper.predict(), which predicts a whole table on the segments, "
							 "or give predict_row() one row's features as a constant.");
	hopper_connect_stable();
	return hopper_name_argument(fcinfo, 0, "model_table");
}

/* Of one row with these values, which are encoded, computed with and returned. */
static void
answer(FunctionCallInfo fcinfo, hopper_ready_model *entry, hopper_pack_values *values,
	   const hopper_pack_source *source, const Datum *datums, const bool *nulls)
{
	char	   *features = palloc(values->size);

	values->divisor = entry->model.data.desc.normalizing_const;
	return_rows(fcinfo, entry, hopper_pack_values_encode(values, source, datums, nulls, features)
				? hopper_ready_compute(entry, features, values->size) : NULL);
	hopper_ready_leave(entry);
}

/* --- an array, or bytes --- */

/* ERROR 22023 where one value does not tell the model's features apart. */
static void
require_one_input(const hopper_ready_model *entry)
{
	const hopper_packed *data = &entry->model.data;

	if (data->inputs.n > 0)
		hopper_wrong(errmsg("model \"%s\" has several inputs, which one array does not tell apart",
							entry->model.shown),
					 errdetail("It has the inputs %s.",
							   hopper_columns_words(data->inputs.n, data->inputs.names)),
					 errhint("Give a row with the columns %s, such as "
							 "jsonb_populate_record(NULL::table, '{...}').",
							 hopper_columns_words(data->n_x_columns, data->x_columns)));
	if (entry->model.schema)
		hopper_wrong(errmsg("model \"%s\" reads columns by their names, which an array has not",
							entry->model.shown),
					 errdetail("Its features are %s.",
							   hopper_columns_words(data->n_x_columns, data->x_columns)),
					 errhint("Give a row, or a JSON object with a value for each of them."));
}

/* `at`: the argument with the features, the last one but on_null; their type and value. */
static void
predict_values(FunctionCallInfo fcinfo, bool has_key, int32 mst_key, int at, Oid type, Datum datum,
			   bool isnull)
{
	bool		may_lack = hopper_predict_may_lack(fcinfo, at + 1);
	hopper_name table = begin_row(fcinfo, isnull, "features", may_lack);
	hopper_ready_model *entry = hopper_ready_get(&table, has_key, mst_key, 0, NULL);
	hopper_pack_column column = {NULL};
	hopper_pack_values values;
	hopper_pack_source source = {{0}};
	bool		is_bytea;

	column.type = getBaseType(type);
	column.sql_type = format_type_be(type);
	is_bytea = column.type == BYTEAOID;
	require_one_input(entry);
	if (is_bytea != entry->is_bytea[0])
	{
		entry = hopper_ready_get(&table, has_key, mst_key, 1, &is_bytea);
		require_one_input(entry);
	}
	hopper_predict_check_types(&entry->model, 1, &column);
	if (!isnull)
		check_features(entry, column.type, datum);
	column.name = "features";
	source.name.shown = "predict_row";
	source.argument = "features";
	source.row_number = 1;
	source.may_lack = may_lack;
	hopper_predict_describe_features(&entry->model, &entry->features, 1, &column,
									 source.name.shown, &values);
	answer(fcinfo, entry, &values, &source, &datum, &isnull);
	hopper_finish();
}

/*
 * Arrays of columns of pg_stats are of type anyarray, and on Greenplum those that are written as
 * constants: what their elements are the value itself says.
 */
static Oid
array_type(FunctionCallInfo fcinfo, int at)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, at);

	if (type != ANYARRAYOID)
		return type;
	return PG_ARGISNULL(at) ? FLOAT4ARRAYOID
		: get_array_type(ARR_ELEMTYPE(PG_GETARG_ARRAYTYPE_P(at)));
}

/* --- a row with columns of the features' names --- */

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const hopper_named_value *) a)->name, ((const hopper_named_value *) b)->name);
}

static void
refuse_missing(const hopper_ready_model *entry, const hopper_given_row *row, const char *name)
{
	const hopper_packed *data = &entry->model.data;

	hopper_raise(ERRCODE_UNDEFINED_COLUMN,
				 errmsg("%s %s the feature \"%s\" of \"%s\"", row->argument,
						row->is_json ? "lack" : "lacks", name, entry->model.shown),
				 errdetail("The features are %s.",
						   hopper_columns_words(data->n_x_columns, data->x_columns)),
				 row->is_json ? errhint("Give an object that has them all: '{\"%s\": ...}'.", name)
				 : errhint("Name its columns: SELECT r FROM (SELECT ... AS %s) AS r, or give a "
						   "jsonb object.", hopper_identifier(name)));
}

/*
 * The columns that have the features' names, which are as many as this entry's features; their
 * values go to datums and nulls.
 */
static hopper_pack_column *
find_columns(const hopper_ready_model *entry, hopper_given_row *row, Datum *datums, bool *nulls)
{
	const hopper_packed *data = &entry->model.data;
	hopper_pack_column *columns = palloc0(data->n_x_columns * sizeof(hopper_pack_column));

	qsort(row->values, row->n, sizeof(hopper_named_value), compare_names);
	for (int i = 0; i < data->n_x_columns; i++)
	{
		hopper_named_value key = {data->x_columns[i]};
		hopper_named_value *end = row->values + row->n;
		hopper_named_value *found = bsearch(&key, row->values, row->n, sizeof(hopper_named_value),
											compare_names);

		if (found == NULL)
			refuse_missing(entry, row, key.name);
		if ((found > row->values && compare_names(found - 1, found) == 0) ||
			(found + 1 < end && compare_names(found + 1, found) == 0))
			hopper_raise(ERRCODE_AMBIGUOUS_COLUMN,
						 errmsg("source_row has several columns \"%s\"", key.name));
		if (found->json && entry->model.schema)
			hopper_given_read_as(found, &entry->model.schema->info.columns[i]);
		else if (found->json)
			hopper_given_read(found);
		datums[i] = found->value;
		nulls[i] = found->isnull;
		columns[i].name = pstrdup(key.name);
		columns[i].declared = found->type;
		columns[i].type = getBaseType(found->type);
		columns[i].sql_type = format_type_be(found->type);
	}
	return columns;
}

/* The first feature that a JSON object has as null, of which nobody knows the type; or NULL. */
static const char *
find_json_null(const hopper_ready_model *entry, const hopper_pack_column *columns)
{
	for (int i = 0; i < entry->model.data.n_x_columns; i++)
		if (columns[i].declared == UNKNOWNOID)
			return entry->model.data.x_columns[i];
	return NULL;
}

/* Which inputs are bytea in this row. */
static bool *
bytes_of(const hopper_ready_model *entry, const hopper_pack_column *columns)
{
	bool	   *is_bytea = palloc(entry->n_inputs * sizeof(bool));

	for (int i = 0, at = 0; i < entry->n_inputs; i++)
	{
		is_bytea[i] = columns[at].type == BYTEAOID;
		at += entry->model.data.inputs.n > 0 ? entry->model.data.inputs.columns[i] : 1;
	}
	return is_bytea;
}

/* `at`: the argument with the row, the last one but on_null. */
static void
predict_named(FunctionCallInfo fcinfo, bool has_key, int32 mst_key, int at, hopper_given_row *row)
{
	bool		may_lack = hopper_predict_may_lack(fcinfo, at + 1);
	hopper_name table = begin_row(fcinfo, row->isnull, row->argument, may_lack);
	hopper_ready_model *entry = hopper_ready_get(&table, has_key, mst_key, 0, NULL);
	hopper_pack_source source = {{0}};
	hopper_pack_column *columns;
	hopper_pack_values values;
	Datum	   *datums;
	bool	   *nulls;
	bool	   *is_bytea;
	const char *unknown = NULL;

	/* Twice where other inputs are bytea: perhaps another model, which is looked at anew. */
	for (int times = 0; !row->isnull; times++)
	{
		datums = palloc(entry->model.data.n_x_columns * sizeof(Datum));
		nulls = palloc(entry->model.data.n_x_columns * sizeof(bool));
		columns = find_columns(entry, row, datums, nulls);
		unknown = find_json_null(entry, columns);
		is_bytea = bytes_of(entry, columns);
		if (unknown || memcmp(is_bytea, entry->is_bytea, entry->n_inputs * sizeof(bool)) == 0)
			break;
		if (times > 0)
			hopper_refuse_changed(table.shown, "It has other features now.");
		entry = hopper_ready_get(&table, has_key, mst_key, entry->n_inputs, is_bytea);
	}
	if (unknown && !may_lack)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("features hold null for \"%s\"", unknown),
					 errhint("on_null => 'null' gives such rows no prediction."));
	if (row->isnull || unknown)
	{
		return_rows(fcinfo, entry, NULL);
		hopper_ready_leave(entry);
		hopper_finish();
		return;
	}
	hopper_predict_describe_features(&entry->model, &entry->features, entry->model.data.n_x_columns,
									 columns, row->argument, &values);
	source.name.shown = row->argument;
	source.rows_hint = PREDICT_HINT_ROWS;
	source.segment = -1;
	source.row_number = 1;
	source.may_lack = may_lack;
	answer(fcinfo, entry, &values, &source, datums, nulls);
	hopper_finish();
}

/*
 * Drivers that tell no types of parameters, such as node-postgres, give a key as text, and the
 * server takes three texts for model_table, features and on_null.
 */
static void
refuse_key_of_text(FunctionCallInfo fcinfo, int at)
{
	char	   *on_null = hopper_string_argument(fcinfo, at);
	char		first = on_null ? on_null[strspn(on_null, " \t\r\n")] : '\0';

	if (first == '{' || first == '[' || first == '\\')
		hopper_wrong(errmsg("on_null \"%s\" is not known", on_null),
					 errhint("Where that is the example, the argument before it is mst_key: give "
							 "that as a number, $2::bigint."));
}

/* predict_row(model_table, [mst_key,] features or source_row, on_null) */
HOPPER_FUNCTION(hopper_sql_predict_row)
{
	int			at = PG_NARGS() - 2;
	bool		has_key = at > 1 && !PG_ARGISNULL(1);
	int32		mst_key = at > 1 ? hopper_key_argument(fcinfo, 1) : 0;
	Oid			type = array_type(fcinfo, at);
	bool		is_record = type_is_rowtype(type);
	bool		is_text = type == TEXTOID || type == JSONOID;
	bool		is_json = is_text || type == JSONBOID;
	hopper_given_row row = {is_record ? "source_row" : "features", is_json, PG_ARGISNULL(at),
	is_record ? RECORDOID : is_json ? FLOAT8ARRAYOID : type, PG_GETARG_DATUM(at)};

	if (is_record && !row.isnull)
		hopper_given_record(PG_GETARG_HEAPTUPLEHEADER(at), &row);
	if (is_text && at == 1)
		refuse_key_of_text(fcinfo, at + 1);
	if (is_text && !row.isnull)
		hopper_given_text(text_to_cstring(PG_GETARG_TEXT_PP(at)), &row);
	if (type == JSONBOID && !row.isnull)
		hopper_given_jsonb(PG_GETARG_DATUM(at), &row);
	if (row.type == RECORDOID)
		predict_named(fcinfo, has_key, mst_key, at, &row);
	else
		predict_values(fcinfo, has_key, mst_key, at, row.type, row.value, row.isnull);
	return (Datum) 0;
}
