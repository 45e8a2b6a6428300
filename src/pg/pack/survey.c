/*
 * survey.c
 *		What must be known of columns of any type before a row is packed, asked of the source: the
 *		statistics of features and of a label that is a number, in the rows to train on alone.
 *
 * All statistics are exact and do not depend on the order of the rows: counts, quantiles, and means
 * that are summed up as numeric. Most questions are one query. Which rows are put aside for
 * validation must be known before (pack/split.c).
 */
#include "pg/pack/pack.h"

#include "utils/json.h"

#include "pg/codec/refusals.h"
#include "pg/codec/schema.h"

#define MOST_COLUMNS_ASKED 400	/* at once; a query has 1,664 result columns at most */
#define MOST_VALUES 10001		/* of a category; the core keeps 10,000 of them */
#define MOST_WORDS 100000		/* of texts, as the core has it */

/* --- '*' --- */

static bool
is_named(const hopper_pack_request *request, const char *name)
{
	return hopper_pack_is_label(request, name) ||
		(request->weight_name && strcmp(request->weight_name, name) == 0) ||
		(request->fold_column && strcmp(request->fold_column, name) == 0) ||
		(request->split_name && strcmp(request->split_name, name) == 0);
}

static bool
is_key(const hopper_pack_source *source, const char *name)
{
	for (int i = 0; i < source->n_keys; i++)
		if (strcmp(source->keys[i], name) == 0)
			return true;
	return false;
}

/* Said by its name, so that nobody is told that it is left out. */
static bool
is_dropped(const hopper_pack_request *request, const char *name)
{
	return request->treatments && request->treatments[0] == '{' &&
		hopper_any(hopper_select("SELECT FROM json_each(%s::json) AS e WHERE e.key = %s"
								 " AND 'drop' IN (e.value #>> '{}', CASE json_typeof(e.value)"
								 " WHEN 'object' THEN e.value ->> 'treatment' END) LIMIT 1",
								 hopper_literal(request->treatments), hopper_literal(name)));
}

void
hopper_pack_find_features(hopper_pack_request *request, Oid relation)
{
	hopper_pack_source keys = {{0}};
	hopper_pack_column column;
	StringInfo	left_out = makeStringInfo();
	int			n_names;
	char	  **names = hopper_column_names(relation, &n_names);
	int			n = 0;

	hopper_pack_find_row_names(&keys, relation);
	for (int i = 0; i < n_names; i++)
	{
		char	   *name = names[i];

		if (is_named(request, name))
			continue;
		if (is_key(&keys, name))
		{
			request->passed_over = lappend(request->passed_over, name);
			continue;
		}
		hopper_pack_resolve_column(relation, name, &column);
		if (hopper_schema_family(column.type))
			request->x_names = lappend(request->x_names, column.name);
		else
		{
			request->passed_over = lappend(request->passed_over, name);
			if (is_dropped(request, name))
				continue;
			appendStringInfo(left_out, "%s\"%s\" (%s)", n++ > 0 ? ", " : "", name,
							 column.sql_type);
		}
	}
	if (n > 0)
		ereport(NOTICE, errmsg("%s of \"%s\" %s left out, for whose type there is no treatment",
							   hopper_plural(n, "column", "columns"), request->source.shown,
							   n == 1 ? "is" : "are"),
				errdetail("%s %s.", n == 1 ? "It is" : "They are", left_out->data));
	if (request->x_names == NIL)
		hopper_wrong(errmsg("no column of \"%s\" is left to be a feature", request->source.shown));
}

/* A column's number that is finite, exactly as far as numeric holds it, SQL. */
static char *
exact_of(const hopper_pack_column *column)
{
	char	   *number = hopper_number_text(column);

	return psprintf("CASE WHEN %s NOT IN ('NaN', 'Infinity', '-Infinity') THEN %s::numeric END",
					number, column->type == NUMERICOID ? hopper_identifier(column->name)
					: number);
}

/* "source WHERE ...": the rows to train on. */
static char *
training_rows(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	const char *labelled = hopper_pack_labelled_rows(&job->request, source);
	const char *fold = source->fold.expression ? source->fold.expression
		: source->fold.name ? hopper_identifier(source->fold.name) : NULL;

	return psprintf("%s%s%s", source->name.quoted, labelled,
					fold ? psprintf("%s NOT (%s)", labelled[0] ? " AND" : " WHERE", fold) : "");
}

/* --- questions and answers --- */

/* What the core wants to know of a column: a row of hopper_schema_api.plan. */
typedef struct question
{
	const hopper_pack_column *column;
	bool		of_logs;
	const char *fractions;		/* "0,0.5,1", or NULL */
	bool		moments;
	const char *least_rows;		/* of a value, or NULL: values are not asked */
	const char *letters;		/* the values are words, before which translate() puts stand_ins */
	const char *stand_ins;		/* in the place of letters; NULL: they are values as they are */
	bool		lengths;
} question;

/*
 * Three result columns: counts and so on as JSON, quantiles float8[], mean and deviation float8[].
 * Numbers come as such: their text depends on settings.
 */
static void
append_question(StringInfo query, const question *asked)
{
	const hopper_pack_column *column = asked->column;
	const char *name = hopper_identifier(column->name);
	char	   *written;
	char	   *number;			/* NULL where it is NaN */
	char	   *measured;

	if (asked->letters)
	{
		appendStringInfo(query, "(SELECT json_build_object('rows', (SELECT count(*) FROM"
						 " hopper_rows), 'nulls', (SELECT count(*) - count(%s) FROM hopper_rows),"
						 " 'bad', 0, 'values_found', count(*), 'words', coalesce(sum(s.n), 0),"
						 " 'values', json_agg(json_build_array(s.v, s.n))"
						 " FILTER (WHERE s.n >= %s AND s.place <= %d))::text"
						 " FROM (SELECT g.v, g.n,"
						 " row_number() OVER (ORDER BY g.n DESC, g.v DESC) AS place"
						 " FROM (SELECT w.v, count(*) AS n FROM (SELECT unnest(string_to_array("
						 "translate(%s::text, %s, %s), ' ')) COLLATE \"C\" AS v FROM hopper_rows) w"
						 " WHERE w.v <> '' GROUP BY 1) g) s), NULL::float8[], NULL::float8[]", name,
						 asked->least_rows, MOST_WORDS, name, hopper_literal(asked->letters),
						 hopper_literal(asked->stand_ins));
		return;
	}
	if (asked->least_rows)
	{
		appendStringInfo(query, "(SELECT json_build_object('rows', sum(s.n), 'nulls',"
						 " coalesce(sum(s.n) FILTER (WHERE s.v IS NULL), 0), 'bad', 0,"
						 " 'values_found', count(s.v), 'values',"
						 " json_agg(json_build_array(s.v, s.n))"
						 " FILTER (WHERE s.v IS NOT NULL AND s.n >= %s AND s.place <= %d))::text"
						 " FROM (SELECT g.v, g.n,"
						 " row_number() OVER (ORDER BY g.n DESC, g.v) AS place"
						 " FROM (SELECT %s::text COLLATE \"C\" AS v, count(*) AS n FROM hopper_rows"
						 " GROUP BY 1) g) s), NULL::float8[], NULL::float8[]", asked->least_rows,
						 MOST_VALUES, name);
		return;
	}
	if (asked->lengths)
	{
		appendStringInfo(query, "json_build_object('rows', count(*), 'nulls', count(*) - count(%s),"
						 " 'bad', 0, 'least_length', min(cardinality(%s)), 'largest_length',"
						 " max(cardinality(%s)))::text, NULL::float8[], NULL::float8[]", name, name,
						 name);
		return;
	}
	if (asked->fractions == NULL && !asked->moments)
	{
		appendStringInfo(query, "json_build_object('rows', count(*), 'nulls', count(*) - count(%s),"
						 " 'bad', 0)::text, NULL::float8[], NULL::float8[]", name);
		return;
	}
	number = written = hopper_number_text(column);
	/* What other tools write where a number is missing. */
	if (column->type == FLOAT4OID || column->type == FLOAT8OID || column->type == NUMERICOID)
		number = psprintf("nullif(%s, 'NaN')", written);
	measured = asked->of_logs ? psprintf("sign(%s) * ln(1 + abs(%s))", number, number) : number;
	appendStringInfo(query, "json_build_object('rows', count(*), 'nulls', count(*) - count(%s),"
					 " 'nans', count(%s) - count(%s), 'bad', count(*) FILTER"
					 " (WHERE %s IN ('Infinity', '-Infinity')))::text, ",
					 number, written, number, number);
	if (asked->fractions)
		appendStringInfo(query, "percentile_cont('{%s}'::float8[]) WITHIN GROUP (ORDER BY %s), ",
						 asked->fractions, measured);
	else
		appendStringInfoString(query, "NULL::float8[], ");
	if (asked->moments)
		appendStringInfo(query, "ARRAY[avg(%s)::float8, stddev_pop(%s)::float8]", exact_of(column),
						 exact_of(column));
	else
		appendStringInfoString(query, "NULL::float8[]");
}

static void
append_number(StringInfo text, double number)
{
	if (isfinite(number))
		appendStringInfo(text, "%.17g", number);
	else
		appendStringInfoString(text, "null");
}

/* One column's three cells as a JSON object. */
static void
append_answer(StringInfo text, const hopper_pack_job *job, const hopper_pack_column *column,
			  int at)
{
	char	   *counts = hopper_cell(0, at);
	double	   *numbers;
	int			n;

	if (!hopper_has_utf8(counts, strlen(counts)))
		hopper_pack_refuse_text(&job->source, column, NULL);
	/* "{...}" goes on */
	appendBinaryStringInfo(text, counts, (int) strlen(counts) - 1);
	numbers = hopper_float_cells(0, at + 1, &n);
	appendStringInfoString(text, ", \"quantiles\": [");
	for (int i = 0; i < n; i++)
	{
		if (i > 0)
			appendStringInfoChar(text, ',');
		append_number(text, numbers[i]);
	}
	appendStringInfoChar(text, ']');
	numbers = hopper_float_cells(0, at + 2, &n);
	if (n == 2)
	{
		appendStringInfoString(text, ", \"mean\": ");
		append_number(text, numbers[0]);
		appendStringInfoString(text, ", \"deviation\": ");
		append_number(text, numbers[1]);
	}
	appendStringInfoChar(text, '}');
}

/* {"columns": [...]} as hopper_schema_api.make wants it. */
static char *
ask(const hopper_pack_job *job, int n, const question *questions)
{
	char	   *rows = training_rows(job);
	StringInfo	answers = makeStringInfo();

	appendStringInfoString(answers, "{\"columns\": [");
	for (int first = 0; first < n; first += MOST_COLUMNS_ASKED)
	{
		int			last = Min(n, first + MOST_COLUMNS_ASKED);
		StringInfo	query = makeStringInfo();

		/* Which rows they are is computed once, however often they are read. */
		appendStringInfoString(query, "WITH hopper_rows AS (SELECT ");
		for (int i = first; i < last; i++)
			appendStringInfo(query, "%s%s", i > first ? ", " : "",
							 hopper_identifier(questions[i].column->name));
		appendStringInfo(query, " FROM %s)", rows);
		for (int i = first; i < last; i++)
		{
			appendStringInfoString(query, i > first ? ", " : " SELECT ");
			append_question(query, &questions[i]);
		}
		appendStringInfoString(query, " FROM hopper_rows");
		(void) hopper_select("%s", query->data);
		for (int i = first; i < last; i++)
		{
			if (i > 0)
				appendStringInfoString(answers, ", ");
			append_answer(answers, job, questions[i].column, 3 * (i - first) + 1);
		}
		SPI_freetuptable(SPI_tuptable);
		pfree(query->data);
	}
	appendStringInfoString(answers, "]}");
	return answers->data;
}

/* --- the label --- */

/* How labels that are numbers are scaled, by the rows that train. */
static void
ask_scale(const hopper_pack_column *y, const char *rows, hopper_label_scale *scale)
{
	double	   *numbers;
	int			n;

	(void) hopper_select("SELECT ARRAY[avg(%s)::float8, stddev_pop(%s)::float8, min(%s), max(%s)]"
						 " FROM %s", exact_of(y), exact_of(y), hopper_number_text(y),
						 hopper_number_text(y), rows);
	numbers = hopper_float_cells(0, 1, &n);
	/* What is not finite is refused with its row when it is packed. */
	if (n != 4 || !isfinite(numbers[2]) || !isfinite(numbers[3]))
		return;
	scale->is_scaled = true;
	scale->mean = numbers[0];
	scale->deviation = numbers[1] > 0 ? numbers[1] : 1;
	scale->least = numbers[2];
	scale->largest = numbers[3];
}

/* Of each label; scaled[i]: it is to be scaled. Returns that of the only one, or NULL. */
static hopper_schema_label *
ask_labels(hopper_pack_job *job, const int32 *scaled)
{
	const char *rows = training_rows(job);
	const hopper_pack_column *y = &job->source.y;
	hopper_schema_label *label;

	for (int i = 0; i < job->n_outputs; i++)
		if (scaled[i] && job->parts[i]->y_kind == HOPPER_LABEL_VALUE)
			ask_scale(&job->source.labels[i], rows, &job->outputs[i].scale);
	if (job->source.n_labels > 0)
		return NULL;
	label = palloc0(sizeof(hopper_schema_label));
	label->name = hopper_to_utf8(y->name);
	label->sql_type = hopper_to_utf8(y->sql_type);
	if (scaled[0] && job->y_kind == HOPPER_LABEL_VALUE)
		ask_scale(y, rows, &label->scale);
	return label;
}

/* --- the schema --- */

static void
append_names(StringInfo text, const List *names)
{
	const char *before = "";
	ListCell   *cell;

	foreach(cell, names)
	{
		appendStringInfoString(text, before);
		escape_json(text, lfirst(cell));
		before = ", ";
	}
}

static char *
request_text(const hopper_pack_job *job)
{
	const hopper_pack_request *request = &job->request;
	const hopper_pack_source *source = &job->source;
	StringInfo	text = makeStringInfo();

	appendStringInfoString(text, "{\"source\": ");
	escape_json(text, source->name.shown);
	appendStringInfo(text, ", \"star\": %s, \"labels\": [", request->star ? "true" : "false");
	append_names(text, request->y_names);
	appendStringInfoString(text, "], \"passed_over\": [");
	append_names(text, request->passed_over);
	appendStringInfo(text, "], \"treatments\": %s, ",
					 request->treatments ? request->treatments : "null");
	hopper_schema_append_columns(text, source->n_x, source->x);
	appendStringInfoChar(text, '}');
	return hopper_to_utf8(text->data);
}

/* One of the source's columns by its name in UTF-8. */
static const hopper_pack_column *
find_column(const hopper_pack_source *source, const char *name)
{
	const char *own = hopper_from_utf8(name);

	for (int i = 0; i < source->n_x; i++)
		if (strcmp(source->x[i].name, own) == 0)
			return &source->x[i];
	elog(ERROR, "the schema names the unknown column \"%s\"", own);
	return NULL;
}

static question *
read_plan(const hopper_pack_source *source, const char *request, int *n, int32 *labels_scaled)
{
	hopper_rows *rows =
		hopper_made(hopper_core()->schema.plan(request, &hopper_rows_made, labels_scaled,
											   hopper_fault));
	question   *questions;

	*n = rows->n_rows;
	questions = palloc0(sizeof(question) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		const char *const *cells = hopper_row(rows, i);

		questions[i].column = find_column(source, cells[0]);
		questions[i].of_logs = strcmp(cells[2], "log") == 0;
		questions[i].fractions = cells[3];
		questions[i].moments = cells[4][0] == 't';
		questions[i].least_rows = cells[5];
		questions[i].lengths = cells[6][0] == 't';
		questions[i].letters = cells[7];
		questions[i].stand_ins = cells[8];
	}
	return questions;
}

static char *
make_schema(const char *request, const char *answers, const hopper_schema_label *label)
{
	hopper_rows *rows =
		HOPPER_CORE_ROWS(schema.make, request, hopper_to_utf8(answers), label);

	hopper_tell_notes(rows, 1);
	return hopper_from_utf8(rows->cells[0]);
}

void
hopper_pack_complain_of_families(hopper_complaints *complaints, const hopper_pack_source *source)
{
	for (int i = 0; i < source->n_x; i++)
		if (hopper_schema_family(source->x[i].type) == NULL)
			hopper_complain(complaints, ERRCODE_DATATYPE_MISMATCH,
							psprintf("column \"%s\" of \"%s\" is of type %s, for which there is no "
									 "treatment", source->x[i].name, source->name.shown,
									 source->x[i].sql_type), NULL,
							"Leave it out, or make numbers or text of it in a view.");
}

/* What features as they are have, and columns with treatments have not. */
static void
require_plain_arguments(const hopper_pack_request *request)
{
	const char *refused = request->image_rank > 0 ? "image_shape"
		: request->bytea_type != 0 ? "bytea_type"
		: request->normalizing_const != 1 ? "normalizing_const" : NULL;

	if (refused)
		hopper_wrong(errmsg("%s is not for columns with treatments", refused),
					 errhint("Name one column of arrays or images, or leave it out."));
}

/* The features are the schema's columns, in its order. */
static void
take_columns(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	const hopper_schema_info *info = &job->schema->info;
	hopper_pack_column *columns = palloc(sizeof(hopper_pack_column) * info->n_columns);

	for (int i = 0; i < info->n_columns; i++)
		columns[i] = *find_column(source, info->columns[i].name);
	source->x = columns;
	source->n_x = info->n_columns;
}

/* Without rows there are no statistics. ERROR 22023. */
static void
require_training_rows(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;

	if (hopper_select("SELECT FROM %s LIMIT 1", training_rows(job)) > 0)
		return;
	if (source->fold.name == NULL ||
		hopper_select("SELECT FROM %s%s LIMIT 1", source->name.quoted,
					  hopper_pack_labelled_rows(&job->request, source)) == 0)
		hopper_wrong(errmsg("\"%s\" holds no rows", source->name.shown));
	hopper_wrong(errmsg("%s \"%s\" leaves no row for training",
						job->request.fold_column ? psprintf("column \"%s\" of", source->fold.name)
						: psprintf("validation_fraction %g of", job->request.validation_fraction),
						source->name.shown));
}

void
hopper_pack_survey(hopper_pack_job *job)
{
	hopper_pack_request *request = &job->request;
	hopper_schema_label *label;
	question   *questions;
	char	   *asked;
	int32	   *labels_scaled = palloc0(sizeof(int32) * list_length(request->y_names));
	int			n;

	if (!request->by_schema)
	{
		if (request->split_name)
			hopper_pack_choose_validation(job);
		return;
	}
	require_plain_arguments(request);
	if (request->validation)
	{
		job->schema = hopper_schema_open(request->training.schema_text);
		take_columns(job);
		return;
	}
	asked = request_text(job);
	questions = read_plan(&job->source, asked, &n, labels_scaled);
	if (job->source.n_labels == 0)
		hopper_pack_judge_label(job);
	/* The label's kind tells what is split by classes, and what is scaled. */
	hopper_pack_set_labels(job);
	hopper_pack_choose_validation(job);
	require_training_rows(job);
	label = ask_labels(job, labels_scaled);
	job->schema = hopper_schema_open(make_schema(asked, ask(job, n, questions), label));
	take_columns(job);
}
