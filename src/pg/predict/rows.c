/*
 * rows.c
 *		predict_rows(): each row of a table with its prediction beside it. It writes nothing, so
 *		that it can be used in views, in read-only transactions and on standbys.
 */
#include "pg/predict/run.h"

#include "utils/tuplestore.h"

#define RESULT_COLUMNS 7		/* source, class_value, prob, rank, value, output, layer_output */

typedef struct result_rows
{
	hopper_prediction *run;
	TupleDesc	descriptor;
	Tuplestorestate *store;
} result_rows;

static void
begin(void *state, hopper_prediction *run)
{
}

/* A row for each value of an array, as predict_row() gives them. */
static void
put_values(const result_rows *result, Datum array, Datum *values, bool *nulls)
{
	Datum	   *numbers;
	int			n = hopper_elements(DatumGetArrayTypeP(array), &numbers, NULL);

	nulls[3] = nulls[4] = false;
	for (int i = 0; i < n; i++)
	{
		values[3] = Int32GetDatum(i + 1);
		values[4] = numbers[i];
		tuplestore_putvalues(result->store, result->descriptor, values, nulls);
	}
}

/*
 * Columns of predict()'s output as ours: id, class_name, class_value, prob, rank; or id, value.
 * Each of several outputs has its own rows of them, and so has each step or pixel.
 */
static void
put_row(void *state, const Datum *from, const bool *from_nulls)
{
	result_rows *result = state;
	const hopper_prediction *run = result->run;
	const hopper_predict_model *model = &run->model;
	bool		is_value = model->is_value;
	bool		has_rank;
	Datum		values[RESULT_COLUMNS] = {from[0]};
	bool		nulls[RESULT_COLUMNS] = {from_nulls[0], true, true, true, true, true, true};

	if (model->layer)
	{
		values[6] = from[1];
		nulls[6] = from_nulls[1];
		tuplestore_putvalues(result->store, result->descriptor, values, nulls);
		return;
	}
	if (model->n_parts > 0)
	{
		model = &model->parts[hopper_predict_output_part(run->work.output)];
		is_value = !hopper_predict_is_class(model) && !model->is_each;
		values[5] = CStringGetTextDatum(model->class_name);
		nulls[5] = false;
	}
	has_rank = run->what.kind != PREDICT_RESPONSE || model->is_each;
	if (is_value && model->is_array && !from_nulls[1])
	{
		put_values(result, from[1], values, nulls);
		return;
	}
	if (is_value)
	{
		values[4] = from[1];
		nulls[4] = from_nulls[1];
	}
	else
	{
		values[1] = from[2];
		nulls[1] = from_nulls[2];
		values[2] = from[3];
		nulls[2] = from_nulls[3];
		values[3] = has_rank ? from[4] : Int32GetDatum(1);
		nulls[3] = has_rank ? from_nulls[4] : from_nulls[3];
	}
	tuplestore_putvalues(result->store, result->descriptor, values, nulls);
}

/* The table or view whose row type the argument has. */
static hopper_name
table_of_rows(Oid type)
{
	Oid			relation = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	if (!OidIsValid(relation) || get_rel_relkind(relation) == RELKIND_COMPOSITE_TYPE)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("argument \"source_rows\" is of type %s, not of a table's or view's "
							"rows", OidIsValid(type) ? format_type_be(type) : "unknown"),
					 errhint("Write NULL::name, with the name of the table or view that has the "
							 "rows."));
	return hopper_name_of(relation);
}

/*
 * untyped_in(cstring): the server asks for the value of a literal while it reads the statement, so
 * that this is said before anything of the rows' columns.
 */
HOPPER_FUNCTION(hopper_sql_untyped_in)
{
	const char *given = PG_ARGISNULL(0) ? NULL : PG_GETARG_CSTRING(0);

	hopper_raise(ERRCODE_DATATYPE_MISMATCH,
				 given ? errmsg("argument \"source_rows\" is the text \"%s\", not of a table's or "
								"view's rows", given)
				 : errmsg("argument \"source_rows\" does not say of which table or view the rows "
						  "are"),
				 errhint("Write NULL::name, with the name of the table or view that has the "
						 "rows."));
	PG_RETURN_NULL();
}

/* A query that can be put between parentheses, as written in psql. */
static char *
query_argument(FunctionCallInfo fcinfo, int at)
{
	char	   *query;

	if (PG_ARGISNULL(at))
		return NULL;
	query = text_to_cstring(PG_GETARG_TEXT_PP(at));
	for (size_t end = strlen(query); end > 0 && strchr("; \t\r\n", query[end - 1]); end--)
		query[end - 1] = '\0';
	/* So that a comment at its end does not hide what follows. */
	return psprintf("%s\n", query);
}

/*
 * (model_table, source_rows, pred_type, mst_key, on_null, independent_varname, source_query,
 * layer): rows
 * (source, class_value, prob, rank, value, output, layer_output)
 */
HOPPER_SPI_FUNCTION(hopper_sql_predict_rows)
{
	static const hopper_predict_sink sink = {begin, put_row};
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	result_rows result = {0};
	hopper_prediction *run;
	hopper_name table;
	hopper_trained trained;

	result.store = hopper_begin_result(fcinfo, &result.descriptor);
	hopper_refuse_on_segment("predict_rows()",
							 "Call it in the FROM clause of a statement that reads no other table "
							 "of the segments, or use hopper.predict().");
	run = result.run = palloc0(sizeof(hopper_prediction));
	run->what.kind = PREDICT_RESPONSE;
	if (!PG_ARGISNULL(2))
		run->what = hopper_predict_what_argument(fcinfo, 2);
	if (run->what.kind == PREDICT_COLUMNS)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("predict_rows() has the same columns whatever the classes are"),
					 errhint("Use pred_type 'prob', or hopper.predict(), or "
							 "hopper.create_predict_function() with pred_type => 'columns'."));
	run->what.by_output = true;
	run->rows.may_lack = hopper_predict_may_lack(fcinfo, 4);
	table = hopper_name_argument(fcinfo, 0, "model_table");
	run->source = table_of_rows(type);
	if (!PG_ARGISNULL(1))
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("source_rows stands for all rows of a table or view and must be "
							"NULL, got one row"),
					 errhint("Write NULL::name; hopper.predict_row() predicts one row."));
	run->source_query = query_argument(fcinfo, 6);
	run->work.threads = hopper_effective_threads();
	hopper_read_trained(&table, !PG_ARGISNULL(3), hopper_key_argument(fcinfo, 3), &trained);
	hopper_predict_from_trained(&trained, &run->model);
	hopper_predict_take_layer(&run->model, hopper_text_argument(fcinfo, 7));
	hopper_predict_tell_unused(run, PREDICT_RESPONSE);
	hopper_predict_open_rows(run, type,
							 hopper_feature_list(hopper_text_argument(fcinfo, 5),
												 "independent_varname", trained.n_x_columns,
												 trained.x_columns, &trained.inputs,
												   table.shown));
	if (TupleDescAttr(result.descriptor, 0)->atttypid != type)
		elog(ERROR, "the result of predict_rows() is not made of the rows of its argument");
	(void) hopper_predict_through(run, &sink, &result);
	return (Datum) 0;
}
