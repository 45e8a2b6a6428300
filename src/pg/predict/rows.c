/*
 * rows.c
 *		predict_rows(): each row of a table with its prediction beside it. It writes nothing, so
 *		that it can be used in views, in read-only transactions and on standbys.
 */
#include "pg/predict/run.h"

#include "utils/tuplestore.h"

#define ROWS_COLUMNS 7		/* source, class_value, prob, rank, value, output, layer_output */

typedef struct result_rows
{
	hopper_prediction *run;
	TupleDesc	descriptor;
	Tuplestorestate *store;
	Datum		source;			/* the row that is predicted */
	bool		source_null;
} result_rows;

static void
begin_rows(void *state, hopper_prediction *run)
{
}

/* A row of the result: what is shown of it, beside the source's row. */
static void
put_shown(void *state, const Datum *shown, const bool *shown_nulls)
{
	const result_rows *result = state;
	Datum		values[ROWS_COLUMNS] = {result->source};
	bool		nulls[ROWS_COLUMNS] = {result->source_null};

	memcpy(values + 1, shown, sizeof(Datum) * (ROWS_COLUMNS - 2));
	memcpy(nulls + 1, shown_nulls, sizeof(bool) * (ROWS_COLUMNS - 2));
	nulls[ROWS_COLUMNS - 1] = true;
	tuplestore_putvalues(result->store, result->descriptor, values, nulls);
}

static void
put_row(void *state, const Datum *row, const bool *row_nulls)
{
	result_rows *result = state;
	Datum		values[ROWS_COLUMNS] = {row[0]};
	bool		nulls[ROWS_COLUMNS] = {row_nulls[0], true, true, true, true, true};

	result->source = row[0];
	result->source_null = row_nulls[0];
	if (result->run->model.layer == NULL)
	{
		hopper_predict_show(result->run->work.output, row, row_nulls, put_shown, result);
		return;
	}
	values[6] = row[1];
	nulls[6] = row_nulls[1];
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
	static const hopper_predict_sink sink = {begin_rows, put_row};
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
		hopper_wrong(errmsg("source_rows stands for all rows of a table or view and must be "
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
												 "independent_varname", trained.data.n_x_columns,
												 trained.data.x_columns, &trained.data.inputs,
												   table.shown));
	if (TupleDescAttr(result.descriptor, 0)->atttypid != type)
		elog(ERROR, "the result of predict_rows() is not made of the rows of its argument");
	(void) hopper_predict_through(run, &sink, &result);
	return (Datum) 0;
}
