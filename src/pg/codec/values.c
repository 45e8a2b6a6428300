/*
 * values.c
 *		What the numbers of columns are packed as: types and shapes.
 *
 * Values keep their own type, except that numeric becomes float32 and several scalar columns
 * become the widest of their types.
 */
#include "pg/codec/rows.h"

#include "pg/codec/refusals.h"

static const struct
{
	int32		type;
	const char *name;
}			type_names[] = {
	{HOPPER_UINT8, "uint8"},
	{HOPPER_INT16, "int16"},
	{HOPPER_INT32, "int32"},
	{HOPPER_INT64, "int64"},
	{HOPPER_FLOAT32, "float32"},
	{HOPPER_FLOAT64, "float64"},
};

const char *
hopper_pack_type_name(int32 type)
{
	int			i;

	for (i = 0; i < lengthof(type_names); i++)
		if (type_names[i].type == type)
			return type_names[i].name;
	if (type == 0)
		return PACK_SEVERAL_TYPES;
	elog(ERROR, "unknown packed type %d", type);
	return NULL;
}

char *
hopper_pack_type_names(void)
{
	StringInfo	names = makeStringInfo();

	for (int i = 0; i < lengthof(type_names); i++)
		appendStringInfo(names, "%s%s",
						 i == 0 ? "" : i < lengthof(type_names) - 1 ? ", " : " or ",
						 type_names[i].name);
	return names->data;
}

int32
hopper_pack_type_from_name(const char *name)
{
	int			i;

	for (i = 0; i < lengthof(type_names); i++)
		if (name && strcmp(type_names[i].name, name) == 0)
			return type_names[i].type;
	return 0;
}

char *
hopper_pack_shape_text(int rank, const int64 *shape)
{
	StringInfo	text = makeStringInfo();
	int			i;

	if (rank == 0)
		return pstrdup("scalar");
	for (i = 0; i < rank; i++)
		appendStringInfo(text, "%s" INT64_FORMAT, i ? "x" : "", shape[i]);
	return text->data;
}

/* Words of a column whose values are no numbers: "plan" (text). */
static void
append_column(StringInfo words, const hopper_pack_column *column)
{
	appendStringInfo(words, "%s\"%s\" (%s)", words->len > 0 ? ", " : "", column->name,
					 column->sql_type);
}

#define NUMBERS_HINT \
	"Pack arrays of numbers, bytea, or columns of numbers; a view can make numbers of text and " \
	"dates."

void
hopper_pack_complain_of_types(hopper_complaints *complaints, int n_columns,
							  const hopper_pack_column *columns, const char *relation)
{
	const hopper_pack_column *first = NULL;	/* that is not numeric */
	StringInfo	words = makeStringInfo();
	int			n = 0;

	for (int i = 0; i < n_columns; i++)
	{
		Oid			element = get_element_type(columns[i].type);
		Oid			number = OidIsValid(element) ? getBaseType(element) : columns[i].type;

		if (columns[i].type == BYTEAOID || hopper_pack_number_type(number) != 0)
			continue;
		if (n++ == 0)
			first = &columns[i];
		if (n <= MOST_COLUMNS)
			append_column(words, &columns[i]);
	}
	if (n == 1)
		hopper_complain(complaints, ERRCODE_DATATYPE_MISMATCH,
						psprintf("column \"%s\" of \"%s\" is of type %s, which is not numeric",
								 first->name, relation, first->sql_type), NULL, NUMBERS_HINT);
	else if (n > 1)
		hopper_complain(complaints, ERRCODE_DATATYPE_MISMATCH,
						psprintf("%d columns of \"%s\" are not numeric", n, relation),
						psprintf("They are %s%s.", words->data, n > MOST_COLUMNS
								 ? psprintf(" and %d more", n - MOST_COLUMNS) : ""),
						NUMBERS_HINT);
}

void
hopper_pack_values_init(hopper_pack_values *values, int n_columns,
						const hopper_pack_column *columns,
				 const char *relation)
{
	int			i;
	hopper_complaints complaints = {NIL};

	hopper_pack_complain_of_types(&complaints, n_columns, columns, relation);
	hopper_throw_complaints(&complaints, psprintf("reading \"%s\"", relation));
	memset(values, 0, sizeof(*values));
	values->divisor = 1.0;
	values->n_columns = n_columns;
	values->columns = columns;
	values->elements = palloc0(sizeof(Oid) * n_columns);
	values->layout = PACK_SCALARS;
	for (i = 0; i < n_columns; i++)
	{
		Oid			element = get_element_type(columns[i].type);
		int32		type;

		if (columns[i].type == BYTEAOID)
			values->layout = PACK_BYTES;
		else if (OidIsValid(element))
			values->layout = PACK_ARRAY;
		if (n_columns > 1 && values->layout != PACK_SCALARS)
			hopper_wrong(errmsg("column \"%s\" of \"%s\" cannot be joined with others",
								columns[i].name, relation),
						 errdetail("It is of type %s, an input of its own.", columns[i].sql_type),
						 errhint("Name one column of arrays or images an input, or columns of "
								 "numbers."));
		if (values->layout == PACK_BYTES)
		{
			values->type = HOPPER_UINT8;
			continue;
		}
		values->elements[i] = OidIsValid(element) ? getBaseType(element) : columns[i].type;
		type = hopper_pack_number_type(values->elements[i]);
		/* hopper_type ascends from narrow to wide */
		values->type = Max(values->type, type);
		if (i == 0)
			values->common_type = type;
		if (type != values->common_type || values->elements[i] == NUMERICOID)
			values->common_type = 0;
	}
	if (values->layout == PACK_SCALARS)
	{
		int64		n = n_columns;

		hopper_pack_values_set_shape(values, 1, &n);
		values->shape_given = false;
	}
}

void
hopper_pack_values_set_bytes_type(hopper_pack_values *values, int32 type, bool or_bytes)
{
	Assert(values->layout == PACK_BYTES && !values->shape_known);
	values->type = type;
	values->or_bytes = or_bytes && type != HOPPER_UINT8;
}

int64
hopper_shape_count(int rank, const int64 *shape)
{
	int64		count = 1;

	for (int i = 0; i < rank; i++)
		if (shape[i] < 1 || __builtin_mul_overflow(count, shape[i], &count))
			return PG_INT64_MAX;
	return count;
}

void
hopper_pack_values_set_shape(hopper_pack_values *values, int rank, const int64 *shape)
{
	Assert(rank <= HOPPER_MAX_RANK);
	values->rank = rank;
	memmove(values->shape, shape, sizeof(int64) * rank);
	values->count = hopper_shape_count(rank, shape);
	if (values->count > PACK_MAX_BUFFER_BYTES)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("a row of shape %s is too large to be packed",
							hopper_pack_shape_text(rank, shape)));
	values->size = values->count * hopper_core()->type_size(values->type);
	if (values->size > PACK_MAX_BUFFER_BYTES)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("a row of shape %s is too large to be packed",
							hopper_pack_shape_text(rank, shape)),
					 errdetail("It has %zu bytes; %d are allowed.", values->size,
							   PACK_MAX_BUFFER_BYTES));
	values->shape_known = values->shape_given = true;
}

void
hopper_pack_values_learn_shape(hopper_pack_values *values, int rank, const int64 *shape,
							   char *first_row)
{
	hopper_pack_values_set_shape(values, rank, shape);
	values->shape_given = false;
	values->first_row = first_row;
	values->first_row[0] = pg_tolower((unsigned char) values->first_row[0]);
}
