/*
 * shapley.c
 *		explain_row(): what each column of a row adds to its prediction.
 *
 * Shapley values by sampling of permutations, each of which and its reverse lead from a row of the
 * background to the row that is explained, column by column (Strumbelj and Kononenko 2014; Mitchell
 * et al. 2022 on reversed ones). They add up to the difference of the two predictions.
 */
#include "pg/predict/explained.h"

#include "utils/json.h"

/* ERROR 42703 where the row, JSON by column, lacks columns. */
static void
require_members(const hopper_explained *what, const char *row)
{
	(void) hopper_select("SELECT string_agg('\"' || n || '\"', ', ' ORDER BY i)"
						 " FROM unnest(%s) WITH ORDINALITY AS u(n, i)"
						 " WHERE NOT jsonb_exists(%s::jsonb, n)", what->names, row);
	if (hopper_cell(0, 1) == NULL)
		return;
	hopper_raise(ERRCODE_UNDEFINED_COLUMN, errmsg("the row lacks %s", hopper_cell(0, 1)),
				 errdetail("Model \"%s\" reads %s.", what->model.shown,
						   hopper_columns_words(what->n, what->trained.data.x_columns)),
				 errhint("Give a row of the table: (SELECT t FROM ... AS t WHERE ...)."));
}

/* The row that is explained, in the types of the source's columns, as x1, x2, ... */
static char *
row_query(const hopper_explained *what, const char *row)
{
	StringInfo	list = makeStringInfo();
	StringInfo	types = makeStringInfo();

	for (int i = 0; i < what->n; i++)
	{
		const char *name = hopper_identifier(what->columns[i].name);

		appendStringInfo(list, "%s%s AS x%d", i ? ", " : "", name, i + 1);
		appendStringInfo(types, "%s%s %s", i ? ", " : "", name, what->columns[i].qualified_type);
	}
	/* Not of the source's row type, whose other columns may not be NULL. */
	return psprintf("SELECT %s FROM jsonb_to_record(%s::jsonb) AS r(%s)", list->data, row,
					types->data);
}

/* Of more than two classes the one that the model predicts. */
static void
take_predicted_class(hopper_explained *what, const char *row)
{
	StringInfo	list = makeStringInfo();
	bool		isnull;

	if (what->output > 0)
		return;
	for (int i = 1; i <= what->n; i++)
		appendStringInfo(list, ", x%d", i);
	(void) hopper_select("SELECT %s FROM (SELECT %s AS o FROM (%s) AS x OFFSET 0) AS q",
						 hopper_explained_largest(what),
						 hopper_explained_outputs(what, list->data), row_query(what, row));
	what->output = DatumGetInt32(hopper_value(0, 1, INT4OID, &isnull));
}

static char *
shapley_query(const hopper_explained *what, const char *row, int samples, int64 seed)
{
	int			n = what->n;
	StringInfo	query = makeStringInfo();
	StringInfo	values = makeStringInfo();

	/* s columns are the row's, the others the background's. */
	for (int i = 1; i <= n; i++)
		appendStringInfo(values, ", CASE WHEN (CASE d WHEN 0 THEN h.a[%d] ELSE %d - h.a[%d] END)"
						 " <= s THEN x.x%d ELSE z.x%d END", i, n + 1, i, i, i);
	appendStringInfo(query, "WITH x AS (%s), z AS (%s), m AS (SELECT count(*) AS m FROM z),",
					 row_query(what, row),
					 hopper_explained_rows(what, EXPLAINED_NO_LABEL, "", (samples + 1) / 2, seed));
	/* h: permutation; d: 0, and 1 for its reverse; a: places of the columns in it */
	appendStringInfo(query, " h AS (SELECT g.h, array_agg(g.a ORDER BY g.c) AS a FROM (SELECT h,"
					 " c, row_number() OVER (PARTITION BY h ORDER BY %s, c) AS a FROM"
					 " generate_series(1, %d) AS h, generate_series(1, %d) AS c) AS g"
					 " GROUP BY g.h),",
					 psprintf(HOPPER_SQL_HASH,
							  psprintf("'" INT64_FORMAT "/' || h || '/' || c", seed)),
					 (samples + 1) / 2, n);
	appendStringInfo(query, " p AS (SELECT h.h, d, s, h.a, (%s)[%d] AS v FROM x, m, h, z,"
					 " generate_series(0, 1) AS d, generate_series(0, %d) AS s"
					 " WHERE z.i = 1 + (h.h - 1) %% m.m),",
					 hopper_explained_outputs(what, values->data), what->output, n);
	appendStringInfo(query, " e AS (SELECT avg(v ORDER BY v) FILTER (WHERE s = 0) AS base,"
					 " avg(v ORDER BY v) FILTER (WHERE s = %d) AS v FROM p),", n);
	appendStringInfo(query, " w AS (SELECT c, avg(b.v - a.v ORDER BY b.v - a.v) AS w FROM"
					 " generate_series(1, %d) AS c, p AS a, p AS b WHERE a.h = b.h"
					 " AND a.d = b.d AND b.s = a.s + 1 AND b.s ="
					 " CASE b.d WHEN 0 THEN b.a[c] ELSE %d - b.a[c] END GROUP BY c)", n, n + 1);
	appendStringInfo(query, " SELECT (%s)[w.c], %s::jsonb ->> (%s)[w.c],"
					 " w.w::float8, e.base::float8, e.v::float8, %s FROM w, e"
					 " ORDER BY abs(w.w) DESC, w.c", what->names, row, what->names,
					 hopper_explained_class(what));
	return query->data;
}

/* A row as JSON, a literal in SQL: with all digits, whatever is set for those that are shown. */
static char *
row_argument(FunctionCallInfo fcinfo, int at)
{
	int			level = NewGUCNestLevel();
	char	   *row;

	hopper_require_argument(fcinfo, at, "source_row");
	hopper_set_for_now("extra_float_digits", "3");
	row = pstrdup(hopper_literal(TextDatumGetCString(
		DirectFunctionCall1(row_to_json, PG_GETARG_DATUM(at)))));
	AtEOXact_GUC(true, level);
	return row;
}

/* explain_row(model_table, source_row, background_table, mst_key, class_value, samples, seed) */
HOPPER_SPI_FUNCTION(hopper_sql_explain_row)
{
	hopper_explained what;
	int			samples = hopper_explained_count(fcinfo, "samples", 200, 2, 100000);
	char	   *row = row_argument(fcinfo, hopper_argument(fcinfo, "source_row"));

	hopper_explained_open(fcinfo, "background_table", &what);
	hopper_explained_take_class(fcinfo, &what);
	require_members(&what, row);
	hopper_explained_require_rows(&what, "", NULL);
	take_predicted_class(&what, row);
	return hopper_return_query(fcinfo, shapley_query(&what, row, samples,
													 hopper_explained_seed(fcinfo)));
}
