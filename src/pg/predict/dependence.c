/*
 * dependence.c
 *		partial_dependence(): what a model predicts on average if all rows had the same value in a
 *		column (Friedman 2001), for values of that column.
 */
#include "pg/predict/explained.h"

/* Up to `points` values of the column among the rows r: v, and g their order. */
static char *
grid_query(Oid type, int column, int points)
{
	const char *family = hopper_schema_family(type);
	bool		ordered = family && strcmp(family, "text") != 0 && strcmp(family, "numbers") != 0;

	if (ordered)
		return psprintf("SELECT row_number() OVER (ORDER BY v) AS g, v"
						" FROM (SELECT DISTINCT u AS v FROM unnest((SELECT"
						" percentile_disc(ARRAY(SELECT i / %d::float8 FROM"
						" generate_series(0, %d) AS i)) WITHIN GROUP (ORDER BY r.x%d)"
						" FROM r)) AS u WHERE u IS NOT NULL) AS d", points - 1, points - 1, column);
	return psprintf("SELECT row_number() OVER (ORDER BY n DESC, v::text) AS g, v"
					" FROM (SELECT r.x%d AS v, count(*) AS n FROM r WHERE r.x%d IS NOT NULL"
					" GROUP BY 1 ORDER BY 2 DESC, r.x%d::text LIMIT %d) AS d", column, column,
					column, points);
}

static char *
dependence_query(const hopper_explained *what, int column, int points, int rows, int64 seed)
{
	StringInfo	query = makeStringInfo();
	StringInfo	values = makeStringInfo();

	for (int i = 1; i <= what->n; i++)
		appendStringInfo(values, i == column ? ", g.v" : ", r.x%d", i);
	appendStringInfo(query, "WITH r AS (%s), g AS (%s), p AS (SELECT g.g, g.v, (%s)[%d] AS o"
					 " FROM g, r OFFSET 0) SELECT v::text, avg(o ORDER BY o)::float8,"
					 " percentile_cont(0.1) WITHIN GROUP (ORDER BY o),"
					 " percentile_cont(0.9) WITHIN GROUP (ORDER BY o), count(*), %s"
					 " FROM p GROUP BY g, v ORDER BY g",
					 hopper_explained_rows(what, EXPLAINED_NO_LABEL, "", rows, seed),
					 grid_query(what->columns[column - 1].type, column, points),
					 hopper_explained_outputs(what, values->data), what->output,
					 hopper_explained_class(what));
	return query->data;
}

/* The number of the column that is called so, from 1. */
static int
find_feature(const hopper_explained *what, const char *feature)
{
	for (int i = 0; i < what->n; i++)
		if (strcmp(what->trained.data.x_columns[i], feature) == 0)
			return i + 1;
	hopper_raise(ERRCODE_UNDEFINED_COLUMN,
				 errmsg("model \"%s\" reads no column \"%s\"", what->model.shown, feature),
				 errdetail("Its features are %s.",
						   hopper_columns_words(what->n, what->trained.data.x_columns)));
	return 0;
}

/*
 * partial_dependence(model_table, source_table, feature, mst_key, class_value, points, most_rows,
 * seed)
 */
HOPPER_SPI_FUNCTION(hopper_sql_partial_dependence)
{
	hopper_explained what;
	int			points = hopper_explained_count(fcinfo, "points", 20, 2, 1000);
	int			rows = hopper_explained_count(fcinfo, "most_rows", 200, 1, EXPLAINED_MOST_ROWS);
	char	   *feature = hopper_string_named(fcinfo, "feature");
	int			column;
	const char *known;

	hopper_require_argument(fcinfo, hopper_argument(fcinfo, "feature"), "feature");
	hopper_explained_open(fcinfo, "source_table", &what);
	hopper_explained_take_class(fcinfo, &what);
	if (what.output == 0)
		hopper_wrong(errmsg("model \"%s\" has more than two classes", what.model.shown),
					 errhint("Pass class_value, whose probability is then predicted."));
	column = find_feature(&what, feature);
	known = psprintf(" WHERE %s IS NOT NULL", hopper_identifier(feature));
	hopper_explained_require_rows(&what, known, NULL);
	return hopper_return_query(fcinfo, dependence_query(&what, column, points, rows,
														hopper_explained_seed(fcinfo)));
}
