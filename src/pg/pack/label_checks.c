/*
 * label_checks.c
 *		Labels of several outputs and weights of rows, looked at before any row is packed: behind
 *		the expression that joins them nobody knows any more which column a number came from.
 */
#include "pg/pack/pack.h"

/* What float32 holds, as an SQL condition on a float8. */
#define FINITE_CONDITION \
	"%s OPERATOR(pg_catalog.>) '-3.4028236e38'::pg_catalog.float8" \
	" AND %s OPERATOR(pg_catalog.<) '3.4028236e38'::pg_catalog.float8"

char *
hopper_pack_number_expression(Oid type, const char *number, const char *target)
{
	return type == BOOLOID ? psprintf("%s::pg_catalog.int4::pg_catalog.%s", number, target)
		: psprintf("%s::pg_catalog.%s", number, target);
}

/* "tags" has the dimensions of the output's shape. */
char *
hopper_pack_shape_condition(const hopper_pack_column *column, const hopper_output *output)
{
	const char *name = hopper_identifier(column->name);
	StringInfo	fits = makeStringInfo();

	for (int i = 0; i < output->rank; i++)
		appendStringInfo(fits, "%spg_catalog.array_length(%s, %d) OPERATOR(pg_catalog.=) "
						 INT64_FORMAT, i ? " AND " : "", name, i + 1, output->shape[i]);
	return fits->data;
}

/* Where a row cannot be packed for the sake of this label; NULL: there is no such row. */
static char *
wrong_label(const hopper_pack_job *part, const hopper_output *output, const char *expression)
{
	const hopper_pack_column *column = &part->source.y;
	const char *name = hopper_identifier(column->name);
	const char *number;

	switch (output->kind)
	{
		case HOPPER_LABEL_CLASS:
			/* all classes of training data are those that its rows have */
			return part->request.validation ? psprintf("(%s) IS NULL", expression) : NULL;
		case HOPPER_LABEL_VALUE:
			number = hopper_pack_number_expression(column->type, name, "float8");
			return psprintf("%s IS NULL OR NOT (" FINITE_CONDITION ")", name, number, number);
		default:
			return psprintf("%s IS NULL OR NOT coalesce(%s, false)"
							" OR %s::pg_catalog.text OPERATOR(pg_catalog.~) 'NULL|NaN|Infinity'",
							name, hopper_pack_shape_condition(column, output), name);
	}
}

/* Rows that are packed: " AND y IS NOT NULL" where those without a label are left out. */
static const char *
also_labelled(const hopper_pack_job *job)
{
	const char *labelled = hopper_pack_labelled_rows(&job->request, &job->source);

	return labelled[0] ? psprintf(" AND%s", labelled + strlen(" WHERE")) : "";
}

/* The row that SPI_tuptable has, behind `first_key` - 1 other columns. */
static char *
found_row(const hopper_pack_job *job, int first_key)
{
	hopper_pack_source source = job->source;

	if (source.n_keys == 0 && !source.has_ctid)
		return "A row";
	source.desc = SPI_tuptable->tupdesc;
	hopper_pack_deform(&source, SPI_tuptable->vals[0]);
	source.first_key = first_key;
	return hopper_pack_row_name(&source);
}

static void
refuse_class(const hopper_pack_job *part, const char *shown, const char *row)
{
	hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
				 errmsg("column \"%s\" of \"%s\" holds a label that \"%s\" was not packed with",
						part->source.y.name, part->source.name.shown,
						part->request.training.table.shown),
				 errdetail("%s has label %s; the classes are %s.", row,
						   shown == NULL ? "NULL"
						   : part->classes.family == PACK_TEXT ? psprintf("\"%s\"", shown) : shown,
						   hopper_pack_list_classes(&part->classes)),
				 errhint("Leave such rows out, or pack the training data with all classes."));
}

static void
refuse_label(const hopper_pack_job *part, const hopper_output *output, const char *shown,
			 const char *dimensions, const char *row)
{
	const char *column = part->source.y.name;
	const char *source = part->source.name.shown;
	bool		is_array = output->kind == HOPPER_LABEL_ARRAY;

	if (output->kind == HOPPER_LABEL_CLASS)
		refuse_class(part, shown, row);
	if (shown == NULL)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("column \"%s\" of \"%s\" holds NULL", column, source),
					 errdetail("%s.", row),
					 errhint("Pass null_labels => 'skip' to leave such rows out."));
	if (!is_array)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("column \"%s\" of \"%s\" holds %s", column, source,
							strcspn(shown, "NI") < strlen(shown) ? shown
							: "a value out of range for real"),
					 errdetail("%s.", row),
					 errhint("%s", PACK_HINT_ROWS));
	if (strcspn(shown, "NI") < strlen(shown))
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("an array in column \"%s\" of \"%s\" holds NULL, NaN or infinity",
							column, source),
					 errdetail("%s.", row),
					 errhint("%s", PACK_HINT_ROWS));
	hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
				 errmsg("arrays in column \"%s\" of \"%s\" differ in shape", column, source),
				 errdetail("%s has %s instead of shape %s.", row,
						   dimensions ? psprintf("dimensions %s", dimensions) : "no elements",
						   hopper_pack_shape_text(output->rank, output->shape)),
				 errhint("%s", PACK_HINT_ROWS));
}

/* Columns of a label in the query: whether it is wrong, its value, its dimensions. */
#define COLUMNS 3

void
hopper_pack_check_labels(const hopper_pack_job *job, int n, const hopper_output *outputs,
						 char *const *expressions)
{
	StringInfo	select = makeStringInfo();
	StringInfo	where = makeStringInfo();

	for (int i = 0; i < n; i++)
	{
		const char *name = hopper_identifier(job->source.labels[i].name);
		char	   *wrong = wrong_label(job->parts[i], &outputs[i], expressions[i]);

		appendStringInfo(select, "%s%s, %s::pg_catalog.text, %s", i ? ", " : "",
						 wrong ? psprintf("(%s)::pg_catalog.text", wrong) : "NULL", name,
						 outputs[i].kind == HOPPER_LABEL_ARRAY
						 ? psprintf("pg_catalog.array_dims(%s)", name) : "NULL");
		if (wrong)
			appendStringInfo(where, "%s(%s)", where->len ? " OR " : "", wrong);
	}
	if (where->len == 0)
		return;
	hopper_pack_append_row_names(&job->source, select);
	if (hopper_select_at_once("SELECT %s FROM %s WHERE (%s)%s LIMIT 1", select->data,
							  job->source.name.quoted, where->data, also_labelled(job)) == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		char	   *wrong = hopper_cell(0, COLUMNS * i + 1);

		if (wrong && wrong[0] == 't')
			refuse_label(job->parts[i], &outputs[i], hopper_cell(0, COLUMNS * i + 2),
						 hopper_cell(0, COLUMNS * i + 3), found_row(job, COLUMNS * n + 1));
	}
}

void
hopper_pack_check_weights(const hopper_pack_job *job, const hopper_pack_column *column)
{
	const char *name = hopper_identifier(column->name);
	const char *number;
	StringInfo	query = makeStringInfo();

	if (!hopper_pack_number_type(column->type))
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" of \"%s\" is of type %s, which cannot be a weight",
							column->name, job->source.name.shown, column->sql_type),
					 errhint("Weights are numbers from 0 on."));
	number = hopper_pack_number_expression(column->type, name, "float8");
	appendStringInfo(query, "SELECT %s::pg_catalog.text", name);
	hopper_pack_append_row_names(&job->source, query);
	appendStringInfo(query, " FROM %s WHERE (%s IS NULL OR NOT (%s"
					 " OPERATOR(pg_catalog.>=) 0::pg_catalog.float8 AND %s"
					 " OPERATOR(pg_catalog.<) 3e38::pg_catalog.float8))%s",
					 job->source.name.quoted, name, number, number, also_labelled(job));
	if (hopper_select_at_once("%s LIMIT 1", query->data) == 0)
		return;
	hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
				 errmsg("column \"%s\" of \"%s\" holds a weight that is NULL, negative or not "
						"finite", column->name, job->source.name.shown),
				 errdetail("%s has %s.", found_row(job, 2),
						   hopper_cell(0, 1) ? hopper_cell(0, 1) : "NULL"),
				 errhint("Weights are numbers from 0 on; a view can compute them."));
}
