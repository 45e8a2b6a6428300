/*
 * refusals.c
 *		What is said of values that cannot be packed or predicted from.
 */
#include "pg/codec/refusals.h"

const char *
hopper_pack_rows_hint(const hopper_pack_source *source)
{
	return source->rows_hint ? source->rows_hint : PACK_HINT_ROWS;
}

/* Of a row that lacks a value, which prediction can do without. */
static const char *
lacking_hint(const hopper_pack_source *source)
{
	return source->rows_hint ? PREDICT_HINT_LACKING : PACK_HINT_ROWS;
}

/* What holds the values: a column of a table, or an argument. */
static const char *
holder(const hopper_pack_source *source, const hopper_pack_column *column)
{
	if (source->argument)
		return psprintf("argument \"%s\"", source->argument);
	return psprintf("column \"%s\" of \"%s\"", column->name, source->name.shown);
}

/* "Row number 5, value 3 of 13." */
static const char *
place(const hopper_pack_source *source, int64 index, int64 count)
{
	if (source->argument)
		return psprintf("It is value " INT64_FORMAT " of " INT64_FORMAT ".", index + 1, count);
	if (count == 1)
		return psprintf("%s.", hopper_pack_row_name(source));
	return psprintf("%s, value " INT64_FORMAT " of " INT64_FORMAT ".",
					hopper_pack_row_name(source), index + 1, count);
}

/* Of several feature columns those with NULLs: ' NULL is in "a" (3 rows) and "b" (1 row).' */
static char *
all_nulls(const hopper_pack_source *source)
{
	StringInfo	query = makeStringInfo();
	StringInfo	words = makeStringInfo();
	int			n = 0;

	if (!source->may_query || source->n_x < 2)
		return "";
	for (int i = 0; i < source->n_x; i++)
		appendStringInfo(query, "%scount(*) - count(%s)", i ? ", " : "SELECT ",
						 hopper_identifier(source->x[i].name));
	if (hopper_select("%s FROM %s", query->data, source->name.quoted) != 1)
		return "";
	for (int i = 0; i < source->n_x; i++)
	{
		int64		nulls = hopper_int_cell(NULL, 0, i + 1, 0, PG_INT64_MAX);

		if (nulls == 0)
			continue;
		if (++n <= MOST_COLUMNS)
			appendStringInfo(words, "%s\"%s\" (%s)", n > 1 ? ", " : "", source->x[i].name,
							 hopper_plural(nulls, "row", "rows"));
	}
	if (n > MOST_COLUMNS)
		appendStringInfo(words, " and %d more", n - MOST_COLUMNS);
	/* None where it is the label that is NULL. */
	return n == 0 ? "" : psprintf(" NULL is in %s.", words->data);
}

bool
hopper_pack_refuse_null(const hopper_pack_source *source, const hopper_pack_column *column)
{
	if (source->may_lack)
		return false;
	hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("%s holds NULL", holder(source, column)),
				 errdetail("%s.%s", hopper_pack_row_name(source), all_nulls(source)),
				 errhint("%s", column->is_label ? PACK_HINT_NULL_LABELS : lacking_hint(source)));
	return false;
}

bool
hopper_pack_refuse_null_element(const hopper_pack_source *source,
								const hopper_pack_column *column, int64 index, int64 count)
{
	if (source->may_lack)
		return false;
	hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
				 source->argument ? errmsg("%s holds NULL", holder(source, column))
				 : errmsg("an array in %s holds NULL", holder(source, column)),
				 errdetail("%s", place(source, index, count)),
				 source->argument ? 0 : errhint("%s", lacking_hint(source)));
	return false;
}

bool
hopper_pack_refuse_number(const hopper_pack_source *source, const hopper_pack_column *column,
						  const char *what, int64 index, int64 count)
{
	if (source->may_lack)
		return false;
	hopper_wrong(errmsg("%s holds %s", holder(source, column), what),
				 errdetail("%s", place(source, index, count)),
				 source->argument ? 0 : errhint("%s", lacking_hint(source)));
	return false;
}

void
hopper_pack_refuse_text(const hopper_pack_source *source, const hopper_pack_column *column,
						const char *detail)
{
	const char *name = hopper_identifier(column->name);

	hopper_raise(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
				 errmsg("%s holds texts that are not UTF-8", holder(source, column)),
				 errdetail("%sThe database, of encoding SQL_ASCII, does not tell what they are.",
						   detail ? psprintf("%s. ", detail) : ""),
				 errhint("Where they are LATIN1, take from a view convert_from(convert(convert_to("
						 "%s, 'SQL_ASCII'), 'LATIN1', 'UTF8'), 'SQL_ASCII') AS %s.", name, name));
}

void
hopper_pack_refuse_shape(const hopper_pack_values *values, const hopper_pack_source *source,
						 int rank, const int64 *shape)
{
	const hopper_pack_column *column = &values->columns[0];

	if (values->shape_given)
		hopper_wrong(errmsg("column \"%s\" of \"%s\" does not hold arrays of shape %s",
							column->name, source->name.shown,
							hopper_pack_shape_text(values->rank, values->shape)),
					 errdetail("%s has shape %s.", hopper_pack_row_name(source),
							   hopper_pack_shape_text(rank, shape)),
					 errhint("%s", source->rows_hint ? PREDICT_HINT_SHAPE : PACK_HINT_ROWS));
	hopper_wrong(errmsg("arrays in column \"%s\" of \"%s\" differ in shape", column->name,
						source->name.shown),
				 errdetail("%s has shape %s; %s has shape %s.", hopper_pack_row_name(source),
						   hopper_pack_shape_text(rank, shape), values->first_row,
						   hopper_pack_shape_text(values->rank, values->shape)),
				 errhint("%s%s", hopper_pack_padding_hint(values, source, rank, shape),
						 hopper_pack_rows_hint(source)));
}

const char *
hopper_pack_padding_hint(const hopper_pack_values *values, const hopper_pack_source *source,
						 int rank, const int64 *shape)
{
	if (source->rows_hint || source->argument || values->columns->is_label ||
		(rank > 0 && rank != values->rank))
		return "";
	for (int i = 1; i < rank; i++)
		if (shape[i] != values->shape[i])
			return "";
	return "Sequences of unequal length are packed with pad_to => 'longest'. ";
}

void
hopper_pack_refuse_steps(const hopper_pack_values *values, const hopper_pack_source *source,
						 int rank, const int64 *shape)
{
	hopper_wrong(errmsg("%s does not hold sequences of shape %s",
						holder(source, &values->columns[0]),
						hopper_pack_shape_text(values->rank, values->shape)),
				 errdetail("%s has shape %s; the first dimension alone may be less.",
						   source->argument ? "It" : hopper_pack_row_name(source),
						   hopper_pack_shape_text(rank, shape)),
				 source->argument ? 0 : errhint("%s", hopper_pack_rows_hint(source)));
}

void
hopper_pack_refuse_longer(const hopper_pack_values *values, const hopper_pack_source *source,
						  int64 steps)
{
	hopper_wrong(errmsg("%s holds a sequence of more than %s", holder(source, &values->columns[0]),
						hopper_plural(values->shape[0], "step", "steps")),
				 errdetail("%s has " INT64_FORMAT " steps.",
						   source->argument ? "It" : hopper_pack_row_name(source), steps),
				 errhint("Cut it%s, such as %s[1:" INT64_FORMAT "]; or pack the training data "
						 "with truncate => 'post', which then holds here as well.",
						 source->argument ? "" : " in a view",
						 source->argument ? source->argument
						 : hopper_identifier(values->columns[0].name), values->shape[0]));
}

void
hopper_pack_refuse_length(const hopper_pack_values *values, const hopper_pack_source *source,
						  size_t length)
{
	const char *what = values->type == HOPPER_UINT8 ? "images"
		: psprintf("%s values", hopper_pack_type_name(values->type));

	hopper_wrong(errmsg("column \"%s\" of \"%s\" does not hold %s of shape %s",
						values->columns[0].name, source->name.shown, what,
						hopper_pack_shape_text(values->rank, values->shape)),
				 errdetail("%s has %zu bytes instead of %zu%s.", hopper_pack_row_name(source),
						   length, values->size,
						   values->or_bytes
						   ? psprintf(", or " INT64_FORMAT " of one byte each", values->count)
						   : ""),
				 errhint("Correct image_shape, or leave such rows out with a view."));
}

void
hopper_pack_tell_rounding(const hopper_pack_source *source, const hopper_pack_column *column,
						  double number)
{
	if (source->told_rounding == NULL || *source->told_rounding)
		return;
	*source->told_rounding = true;
	ereport(WARNING, errmsg("integers of %s are rounded to real", holder(source, column)),
			errdetail("%s holds %.0f, which becomes %.0f: reals hold integers to 16777216.",
					  hopper_pack_row_name(source), number, (double) (float) number),
			errhint("Leave out what only names a row; scale or shift others in a view."));
}
