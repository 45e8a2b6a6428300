/*
 * importance.c
 *		feature_importance(): how much worse a model predicts when the values of a column are
 *		exchanged among the rows (Breiman 2001; Fisher, Rudin and Dominici 2019).
 */
#include "pg/predict/explained.h"

typedef struct score
{
	const char *name;
	bool		of_classes;
	bool		of_two;			/* classes alone */
	bool		larger_is_better;
	/*
	 * Of one column and repetition, SQL: o outputs, c the class from 1 or y the number, best the
	 * class of the largest output, r the rank of the second class's probability among all. Floats
	 * are summed up in one order, whichever way the server goes.
	 */
	const char *value;
} score;

static const score scores[] = {
	{"accuracy", true, false, true, "avg((best = c)::int4)::float8"},
	{"auc", true, true, true,
		"((sum(r) FILTER (WHERE c = 2) - count(*) FILTER (WHERE c = 2)"
		" * (count(*) FILTER (WHERE c = 2) + 1) / 2.0)"
		" / (count(*) FILTER (WHERE c = 2) * count(*) FILTER (WHERE c = 1)))::float8"},
	{"log_loss", true, false, false,
		"-avg(ln(greatest(o[c], 2.220446049250313e-16)) ORDER BY o[c])"},
	{"rmse", false, false, false, "sqrt(avg((o[1] - y) ^ 2 ORDER BY abs(o[1] - y)))"},
	{"mae", false, false, false, "avg(abs(o[1] - y) ORDER BY abs(o[1] - y))"},
};

static const score *
find_score(const hopper_explained *what, const char *given)
{
	bool		of_classes = !what->model.is_value;
	bool		of_two = what->model.n_class_values == 2;
	StringInfo	names = makeStringInfo();

	if (given == NULL)
		given = !of_classes ? "rmse" : of_two ? "auc" : "accuracy";
	for (int i = 0; i < lengthof(scores); i++)
	{
		if (scores[i].of_classes != of_classes || (scores[i].of_two && !of_two))
			continue;
		if (strcmp(scores[i].name, given) == 0)
			return &scores[i];
		appendStringInfo(names, "%s%s", names->len ? ", " : "", hopper_literal(scores[i].name));
	}
	hopper_wrong(errmsg("metric \"%s\" is not known for what model \"%s\" predicts", given,
						what->model.shown),
				 errhint("Use %s.", names->data));
	return NULL;
}

/* The number of a row's class, NULL of one that the model does not know, SQL. */
static char *
class_of(const hopper_explained *what, const char *label)
{
	StringInfo	cases = makeStringInfo();

	for (int i = 0; i < what->model.n_class_values; i++)
		if (what->model.class_values[i])
			appendStringInfo(cases, " WHEN %s THEN %d",
							 hopper_literal(what->model.class_values[i]), i + 1);
	return cases->len ? psprintf("CASE %s::text%s END", label, cases->data) : "NULL::int4";
}

/* Row i gets the column's value of row j, k times; column 0 is none. */
static char *
importance_query(const hopper_explained *what, const score *by, const char *rows, int repeats,
				 int64 seed)
{
	StringInfo	query = makeStringInfo();
	StringInfo	values = makeStringInfo();

	appendStringInfo(query, "WITH r AS (%s),", rows);
	appendStringInfo(query, " x AS (SELECT k, r.i, row_number() OVER (PARTITION BY k ORDER BY %s,"
					 " r.i) AS j FROM r, generate_series(1, %d) AS k),",
					 psprintf(HOPPER_SQL_HASH,
							  psprintf("'" INT64_FORMAT "/' || k || '/' || r.i", seed)), repeats);
	for (int i = 1; i <= what->n; i++)
		appendStringInfo(values, ", CASE WHEN f = %d THEN b.x%d ELSE a.x%d END", i, i, i);
	appendStringInfo(query, " p AS (SELECT f, x.k, a.c, a.y, %s AS o FROM"
					 " generate_series(0, %d) AS f, x, r AS a, r AS b"
					 " WHERE a.i = x.i AND b.i = x.j AND (f > 0 OR x.k = 1) OFFSET 0),",
					 hopper_explained_outputs(what, values->data), what->n);
	/* Ties share the mean of their ranks. */
	appendStringInfo(query, " q AS (SELECT p.*, %s AS best, rank() OVER (PARTITION BY f, k ORDER"
					 " BY o[2]) + (count(*) OVER (PARTITION BY f, k, o[2]) - 1) / 2.0 AS r"
					 " FROM p),", by->of_classes ? hopper_explained_largest(what) : "NULL");
	appendStringInfo(query, " v AS (SELECT f, k, %s AS v FROM q GROUP BY f, k)", by->value);
	/* Student's interval of 95 %, of more than 10 as of 10. */
	appendStringInfo(query, " SELECT (%s)[d.f], d.m, d.s, d.m - d.t * d.s, d.m + d.t * d.s,"
					 " %s::text, d.v FROM (SELECT v.f,"
					 " avg(%s(v.v - z.v) ORDER BY v.k)::float8 AS m,"
					 " stddev_samp(v.v ORDER BY v.k)::float8 AS s, (ARRAY[0, 12.706, 4.303, 3.182,"
					 " 2.776, 2.571, 2.447, 2.365, 2.306, 2.262])[least(count(*), 10)]::float8"
					 " / sqrt(count(*)) AS t, z.v FROM v, (SELECT v FROM v WHERE f = 0) AS z"
					 " WHERE v.f > 0 GROUP BY v.f, z.v) AS d ORDER BY d.m DESC, d.f", what->names,
					 hopper_literal(by->name), by->larger_is_better ? "-" : "");
	return query->data;
}

/* ERROR where one of the classes that the score compares is not among the rows. */
static void
require_two_classes(const hopper_explained *what, const score *by, const char *rows)
{
	bool		isnull;

	if (!by->of_two)
		return;
	(void) hopper_select("SELECT count(DISTINCT c)::int4 FROM (%s) AS r", rows);
	if (DatumGetInt32(hopper_value(0, 1, INT4OID, &isnull)) < 2)
		hopper_wrong(errmsg("rows of \"%s\" are of one class, of which there is no %s",
							what->source.shown, by->name),
					 errhint("Pass metric => 'log_loss', or a larger most_rows."));
}

/* feature_importance(model_table, source_table, mst_key, metric, repeats, most_rows, seed) */
HOPPER_SPI_FUNCTION(hopper_sql_feature_importance)
{
	hopper_explained what;
	int			repeats = hopper_explained_count(fcinfo, "repeats", 5, 2, 100);
	int			most = hopper_explained_count(fcinfo, "most_rows", 1000, 1, EXPLAINED_MOST_ROWS);
	int64		seed = hopper_explained_seed(fcinfo);
	const score *by;
	const char *label;
	const char *known;
	char	   *where;
	char	   *rows;

	hopper_explained_open(fcinfo, "source_table", &what);
	by = find_score(&what, hopper_string_named(fcinfo, "metric"));
	(void) hopper_require_column(what.relation, what.model.class_name);
	label = hopper_identifier(what.model.class_name);
	known = by->of_classes ? class_of(&what, label) : label;
	where = psprintf(" WHERE (%s) IS NOT NULL", known);
	hopper_explained_require_rows(&what, where, "Its label must be known.");
	rows = hopper_explained_rows(&what, psprintf(by->of_classes ? "%s AS c, NULL::float8 AS y"
												 : "NULL::int4 AS c, %s::float8 AS y", known),
								 where, most, seed);
	require_two_classes(&what, by, rows);
	return hopper_return_query(fcinfo, importance_query(&what, by, rows, repeats, seed));
}
