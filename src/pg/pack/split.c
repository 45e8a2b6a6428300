/*
 * split.c
 *		Which rows go to the validation table, as an SQL expression over the row: by a hash of its
 *		values, of one column (its groups stay together), or by time.
 *
 * Columns with treatments need it before a row is read, because statistics are those of the rows to
 * train on. Packed numbers alone are split as they are written (pack/rows.c), unless by a column.
 */
#include "pg/pack/pack.h"

#include "pg/codec/schema.h"

#define MOST_STRATA 1000		/* more classes are not split apart */

/*
 * Columns of a relation that can be features or labels, or the one that is named, quoted; without
 * `n_left_out` others.
 */
static List *
hashed_columns(Oid relation, const char *named, const char *const *left_out, int n_left_out)
{
	List	   *columns = NIL;
	int			n;
	char	  **names = hopper_column_names(relation, &n);

	for (int i = 0; i < n; i++)
	{
		hopper_pack_column *column;
		bool		is_out = named && strcmp(hopper_identifier(names[i]), named) != 0;

		for (int k = 0; k < n_left_out; k++)
			is_out = is_out || strcmp(hopper_identifier(names[i]), left_out[k]) == 0;
		if (is_out)
			continue;
		column = palloc(sizeof(hopper_pack_column));
		hopper_pack_resolve_column(relation, names[i], column);
		if (named || hopper_schema_family(column->type))
			columns = lappend(columns, column);
	}
	return columns;
}

/* A bigint of the row's features and of the seed, SQL. */
static char *
row_hash(const hopper_pack_job *job)
{
	List	   *columns = NIL;

	for (int i = 0; i < job->source.n_x; i++)
		columns = lappend(columns, &job->source.x[i]);
	return hopper_hash_text(columns, job->request.seed);
}

/*
 * A hash of all columns of the source but the labels, for tables of few different rows: a column
 * that tells rows apart, a key say, splits them by chance.
 */
static char *
source_row_hash(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			n = Max(source->n_labels, 1);
	const char **labels = palloc(n * sizeof(char *));
	List	   *columns;

	if (source->n_labels == 0)
		labels[0] = hopper_identifier(source->y.name);
	for (int i = 0; i < source->n_labels; i++)
		labels[i] = hopper_identifier(source->labels[i].name);
	columns = hashed_columns(hopper_relation_oid(&source->name, false), NULL, labels, n);
	return columns == NIL ? row_hash(job) : hopper_hash_text(columns, job->request.seed);
}

/*
 * The largest hash of each class that is for validation, as rows of class and hash. Returns how
 * many; whether at least half of the rows are different; and whether classes that end at hashes of
 * their own separate rows of one hash.
 */
static uint64
largest_hashes(const hopper_pack_job *job, const char *label, const char *hash, bool *differ,
			   bool *separate)
{
	uint64		n = hopper_select("SELECT q.label, q.largest,"
								  " sum(sum(q.first)) OVER () * 2 >= sum(count(*)) OVER (),"
								  " bool_or(bool_or(q.separate)) OVER () FROM"
								  " (SELECT p.label, p.largest, p.first,"
								  " bool_or(p.is_for) OVER h <> bool_and(p.is_for) OVER h"
								  " AS separate"
								  " FROM (SELECT s.*, s.largest IS NOT NULL AND s.hash <= s.largest"
								  " AS is_for FROM (SELECT t.label, t.hash, t.first, max(t.hash)"
								  " FILTER (WHERE t.place <= floor(%.17g * t.n + 0.5))"
								  " OVER (PARTITION BY t.label) AS largest"
								  " FROM (SELECT r.label, r.hash, row_number() OVER w AS place,"
								  " count(*) OVER (PARTITION BY r.label) AS n,"
								  " (r.hash IS DISTINCT FROM lag(r.hash) OVER w)::int4 AS first"
								  " FROM (SELECT %s AS label, %s AS hash FROM %s%s) r"
								  " WINDOW w AS (PARTITION BY r.label ORDER BY r.hash)) t) s) p"
								  " WINDOW h AS (PARTITION BY p.hash)) q"
								  " GROUP BY q.label, q.largest ORDER BY q.label LIMIT %d",
								  job->request.validation_fraction, label, hash,
								  job->source.name.quoted,
								  hopper_pack_labelled_rows(&job->request, &job->source),
								  MOST_STRATA + 1);

	*differ = n == 0 || strcmp(hopper_cell(0, 3), "t") == 0;
	*separate = n > 0 && strcmp(hopper_cell(0, 4), "t") == 0;
	return n;
}

/*
 * Of each class (or of all rows) as many with the smallest hashes as validation_fraction says:
 * source->fold becomes an expression that is true of them. No label is in a hash: the same features
 * would have one label in training and another in validation. Where they are equal they stay
 * together, and classes do not give the same shares if that would separate them.
 */
static char *
split_rows(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	const char *hash = row_hash(job);
	const char *label = job->y_kind == HOPPER_LABEL_CLASS && source->n_labels == 0
		? psprintf("%s::pg_catalog.text", hopper_identifier(source->y.name))
		: "NULL::pg_catalog.text";
	StringInfo	fold = makeStringInfo();
	bool		differ;
	bool		separate;
	uint64		n;

	n = largest_hashes(job, label, hash, &differ, &separate);
	if (!differ)
	{
		hash = source_row_hash(job);
		n = largest_hashes(job, label, hash, &differ, &separate);
	}
	if (separate)
	{
		label = "NULL::pg_catalog.text";
		n = largest_hashes(job, label, hash, &differ, &separate);
	}
	if (n > MOST_STRATA)
		appendStringInfo(fold, "(%s) OPERATOR(pg_catalog.<=) '%.0f'::pg_catalog.int8", hash,
						 ldexp(job->request.validation_fraction, 64) - ldexp(1, 63));
	else if (n == 0)
		appendStringInfoString(fold, "false");
	else
	{
		appendStringInfo(fold, "coalesce((%s) OPERATOR(pg_catalog.<=) CASE", hash);
		for (uint64 i = 0; i < n; i++)
		{
			char	   *class = hopper_cell(i, 1);
			char	   *largest = hopper_cell(i, 2);

			appendStringInfo(fold, " WHEN (%s) %s%s THEN %s::pg_catalog.int8", label,
							 class ? "OPERATOR(pg_catalog.=) " : "IS NULL",
							 class ? psprintf("%s::pg_catalog.text", hopper_literal(class)) : "",
							 largest ? hopper_literal(largest) : "NULL");
		}
		appendStringInfoString(fold, " END, false)");
	}
	return fold->data;
}

static void
require_times(const hopper_pack_job *job)
{
	const hopper_pack_column *column = &job->source.split;
	const char *labelled = hopper_pack_labelled_rows(&job->request, &job->source);
	const char *family = hopper_schema_family(column->type);
	int64		n;

	if (family == NULL || strcmp(family, "text") == 0 || strcmp(family, "numbers") == 0 ||
		strcmp(family, "boolean") == 0)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" of \"%s\" is of type %s, which tells no point in time",
							column->name, job->source.name.shown, column->sql_type),
					 errhint("time_varname is a date, a timestamp or a number that grows."));
	(void) hopper_select("SELECT count(*) FROM %s%s coalesce(%s, 'NaN') = 'NaN'",
						 job->source.name.quoted,
						 labelled[0] ? psprintf("%s AND", labelled) : " WHERE",
						 hopper_number_text(column));
	n = hopper_int_cell(&job->source.name, 0, 1, 0, PG_INT64_MAX);
	if (n > 0)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("column \"%s\" of \"%s\" holds NULL or NaN in %s", column->name,
							job->source.name.shown, hopper_plural(n, "row", "rows")),
					 errdetail("Whether they belong to the rows for validation is not known."),
					 errhint("%s", PACK_HINT_ROWS));
}

/*
 * What does not separate rows with the same value of a column: whole groups by a hash of the value,
 * or the latest times. As many of them as come nearest to validation_fraction, at least one, and
 * not all.
 */
static char *
split_values(const hopper_pack_job *job)
{
	const hopper_pack_column *column = &job->source.split;
	bool		by_time = job->request.by_time;
	char	   *key;
	char	   *limit;

	if (by_time)
		require_times(job);
	key = by_time ? hopper_number_text(column)
		: hopper_hash_text(list_make1((void *) column), job->request.seed);
	if (hopper_select("SELECT s.k FROM (SELECT g.k, sum(g.n) OVER (ORDER BY g.k %s) AS upto,"
					  " sum(g.n) OVER () AS total FROM (SELECT %s AS k, count(*) AS n FROM %s%s"
					  " GROUP BY 1) g) s WHERE s.upto < s.total"
					  " ORDER BY abs(s.upto - s.total * %.17g), s.upto LIMIT 1",
					  by_time ? "DESC" : "ASC", key, job->source.name.quoted,
					  hopper_pack_labelled_rows(&job->request, &job->source),
					  job->request.validation_fraction) == 0)
		hopper_wrong(errmsg("column \"%s\" of \"%s\" holds no two values", column->name,
							job->source.name.shown),
					 errdetail("Its rows are not separated, so that one of training and "
							   "validation would be empty."));
	if (by_time)
	{
		bool		isnull;

		limit = psprintf("'%.17g'::pg_catalog.float8",
						 DatumGetFloat8(hopper_value(0, 1, FLOAT8OID, &isnull)));
	}
	else
		limit = psprintf("%s::pg_catalog.int8", hopper_literal(hopper_cell(0, 1)));
	return psprintf("(%s) OPERATOR(pg_catalog.%s) %s", key, by_time ? ">=" : "<=", limit);
}

void
hopper_pack_choose_validation(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;

	if (job->request.validation_fraction == 0)
		return;
	source->fold.expression = job->request.split_name ? split_values(job) : split_rows(job);
	source->fold.name = "validation_fraction";
	source->fold.declared = source->fold.type = BOOLOID;
	source->fold.sql_type = source->fold.qualified_type = "boolean";
}

/* --- for auto_fit() and cross_validate() --- */

/*
 * source_hash(source, named, seed, left_out) -> hopper_hash_text() of a column, or of all that can
 * be features or labels but one. No setting changes it: a view that chooses rows by it chooses the
 * same ones in each session.
 */
HOPPER_FUNCTION(hopper_sql_source_hash)
{
	const char *left_out = hopper_string_argument(fcinfo, 3);
	List	   *columns = hashed_columns(PG_GETARG_OID(0), hopper_string_argument(fcinfo, 1),
										 &left_out, left_out ? 1 : 0);

	PG_RETURN_TEXT_P(cstring_to_text(hopper_hash_text(columns, PG_GETARG_INT64(2))));
}
