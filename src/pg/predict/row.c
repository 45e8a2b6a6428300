/*
 * row.c
 *		predict_row(): one example, answered at once. The model stays ready in the session.
 */
#include "pg/predict/ready.h"
#include "pg/predict/run.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "pg/server/words.h"

PG_FUNCTION_INFO_V1(hopper_sql_predict_row);
PG_FUNCTION_INFO_V1(hopper_sql_predict_row_best);

/* The features' number, before they are encoded; other problems are found there. */
static void
check_features(const hopper_ready_model *entry, Oid type, Datum features)
{
	const hopper_predict_model *model = &entry->model;
	int64		expected = 1;
	int64		given;

	for (int i = 0; i < model->x_rank; i++)
		expected *= model->x_shape[i];
	if (type == BYTEAOID)
	{
		int32		size = hopper_core()->type_size(entry->x_type);

		given = (int64) toast_raw_datum_size(features) - VARHDRSZ;
		if (given == expected * size)
			return;
	}
	else if (OidIsValid(get_element_type(type)))
	{
		ArrayType  *array = DatumGetArrayTypeP(features);

		/* which any number of steps may be given */
		if (model->padding && model->padding->given)
			return;
		given = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	else
		given = 1;
	if (given != expected)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("model \"%s\" expects %s, not %s", model->shown,
						hopper_predict_expectation(model),
						hopper_plural(given, "value", "values"))));
}

/* Rows (class_value, prob, value): classes with their probabilities, or values. */
static void
return_rows(FunctionCallInfo fcinfo, hopper_ready_model *entry, const float *outputs)
{
	const hopper_predict_model *model = &entry->model;
	TupleDesc	descriptor;
	Tuplestorestate *store = hopper_begin_result(fcinfo, &descriptor);
	hopper_predict_classes classes;
	double	   *shown = NULL;
	int			n = model->is_value ? entry->n_outputs : model->n_classes;

	if (model->is_value)
		hopper_predict_values(model, entry->n_outputs, outputs,
							  shown = palloc(entry->n_outputs * sizeof(double)));
	else
	{
		hopper_predict_classes_init(&classes, model);
		hopper_predict_rank(&classes, model, entry->n_outputs, outputs, false);
	}
	for (int i = 0; i < n; i++)
	{
		Datum		values[3] = {0};
		bool		nulls[3] = {true, true, true};

		if (model->is_value)
		{
			values[2] = Float8GetDatum(shown[i]);
			nulls[2] = false;
		}
		else
		{
			int			class = classes.order[i];
			const char *name = class < model->n_class_values ? model->class_values[class] : NULL;

			if (model->n_class_values == 0)
				name = psprintf("%d", class);
			values[0] = name ? CStringGetTextDatum(name) : (Datum) 0;
			nulls[0] = name == NULL;
			values[1] = Float8GetDatum(classes.probabilities[class]);
			nulls[1] = false;
		}
		tuplestore_putvalues(store, descriptor, values, nulls);
	}
}

/* One row of NULLs, so that LATERAL keeps the row that lacks a feature. */
static void
return_nothing_known(FunctionCallInfo fcinfo)
{
	TupleDesc	descriptor;
	Tuplestorestate *store = hopper_begin_result(fcinfo, &descriptor);
	Datum		values[3] = {0};
	bool		nulls[3] = {true, true, true};

	tuplestore_putvalues(store, descriptor, values, nulls);
}

/* `at`: the argument with the features, the last one. */
static Datum
predict_row(FunctionCallInfo fcinfo, bool has_key, int32 mst_key, int at)
{
	bool		may_lack = hopper_predict_may_lack(fcinfo, at + 1);
	hopper_name table;
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, at);
	hopper_pack_column column = {"features"};
	hopper_pack_values values;
	hopper_pack_source source = {{0}};
	hopper_ready_model *entry;
	Datum		datum;
	bool		isnull = false;
	char	   *features;

	hopper_require_set_context(fcinfo);
	if (PG_ARGISNULL(at) && !may_lack)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"features\" must not be null")));
	hopper_refuse_on_segment("predict_row()",
							 "Use hopper.predict(), which predicts a whole table on the segments, "
							 "or give predict_row() one row's features as a constant.");
	hopper_connect();
	table = hopper_name_argument(fcinfo, 0, "model_table");
	column.type = getBaseType(type);
	column.sql_type = format_type_be(type);
	source.name.shown = "predict_row";
	source.argument = "features";
	source.row_number = 1;
	source.may_lack = may_lack;

	if (column.type != BYTEAOID && OidIsValid(get_element_type(column.type)) &&
		hopper_pack_number_type(getBaseType(get_element_type(column.type))) == 0)
	{
		hopper_trained trained;
		hopper_predict_model model;

		hopper_read_trained(&table, has_key, mst_key, &trained);
		hopper_predict_from_trained(&trained, &model);
		hopper_predict_check_types(&model, 1, &column);
	}
	hopper_pack_values_init(&values, 1, &column, source.name.shown);
	entry = hopper_ready_get(&table, has_key, mst_key,
							 column.type == BYTEAOID ? READY_BYTES : values.type);
	datum = PG_GETARG_DATUM(at);
	isnull = PG_ARGISNULL(at);
	if (!isnull)
		check_features(entry, column.type, datum);
	if (column.type == BYTEAOID)
		hopper_pack_values_set_bytes_type(&values, entry->x_type, true);
	hopper_pack_values_set_shape(&values, entry->model.x_rank, entry->model.x_shape);
	hopper_pack_values_take_padding(&values, entry->model.padding);
	/* filled up with a number that the caller's type does not hold */
	if (values.layout == PACK_ARRAY && values.type != entry->x_type)
		entry = hopper_ready_get(&table, has_key, mst_key, values.type);
	values.divisor = entry->model.normalizing_const;
	features = palloc(values.size);
	if (hopper_pack_values_encode(&values, &source, &datum, &isnull, features))
		return_rows(fcinfo, entry, hopper_ready_compute(entry, features, values.size));
	else
		return_nothing_known(fcinfo);
	hopper_ready_leave(entry);
	hopper_finish();
	return (Datum) 0;
}

/* predict_row(model_table, mst_key, features, on_null) */
Datum
hopper_sql_predict_row(PG_FUNCTION_ARGS)
{
	return predict_row(fcinfo, !PG_ARGISNULL(1), hopper_key_argument(fcinfo, 1), 2);
}

/* predict_row(model_table, features, on_null) */
Datum
hopper_sql_predict_row_best(PG_FUNCTION_ARGS)
{
	return predict_row(fcinfo, false, 0, 1);
}
