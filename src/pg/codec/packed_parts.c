/*
 * packed_parts.c
 *		What packed tables and their summaries consist of: names of columns, cells, and what is said
 *		of a damaged one.
 */
#include "pg/codec/rows.h"

/* --- names --- */

static bool
is_own(const char *name)
{
	static const char *const own[] = {"partition_id", "buffer_id", "n", "checksum"};

	for (int i = 0; i < lengthof(own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

const char *
hopper_packed_label(const char *name)
{
	return is_own(name) ? PACK_LABELS : name;
}

const char *
hopper_packed_features(int n, char *const *names, const char *label)
{
	if (n != 1 || is_own(names[0]) || strcmp(names[0], hopper_packed_label(label)) == 0)
		return PACK_FEATURES;
	return names[0];
}

char *
hopper_class_values_name(const char *label)
{
	return psprintf("%s_class_values", label);
}

/* --- cells --- */

int
hopper_ints_cell(const hopper_name *summary, uint64 row, int column, int32 **values)
{
	bool		isnull;
	Datum		value = hopper_value(row, column, INT4ARRAYOID, &isnull);
	Datum	   *datums;
	bool	   *nulls;
	int			n;
	int			i;

	if (isnull)
		hopper_refuse_cell(summary, row, column);
	n = hopper_elements(DatumGetArrayTypeP(value), &datums, &nulls);
	*values = palloc(sizeof(int32) * (n + 1));
	for (i = 0; i < n; i++)
	{
		if (nulls[i])
			hopper_refuse_cell(summary, row, column);
		(*values)[i] = DatumGetInt32(datums[i]);
	}
	return n;
}

int
hopper_shape_cell(const hopper_name *table, uint64 row, int column, int64_t *shape)
{
	int32	   *values;
	int			n = hopper_ints_cell(table, row, column, &values);

	if (n > HOPPER_MAX_RANK)
		hopper_refuse_cell(table, row, column);
	for (int i = 0; i < n; i++)
	{
		if (values[i] < 1)
			hopper_refuse_cell(table, row, column);
		shape[i] = values[i];
	}
	return n;
}

int32
hopper_kind_cell(const hopper_name *table, uint64 row, int column)
{
	char	   *kind = hopper_text_cell(table, row, column);

	if (strcmp(kind, "class") == 0)
		return HOPPER_LABEL_CLASS;
	if (strcmp(kind, "value") == 0)
		return HOPPER_LABEL_VALUE;
	if (strcmp(kind, "array") != 0)
		hopper_refuse_cell(table, row, column);
	return HOPPER_LABEL_ARRAY;
}

int32
hopper_type_cell(const hopper_name *table, int column)
{
	char	   *name = hopper_text_cell(table, 0, column);
	int32		type = hopper_pack_type_from_name(name);

	if (type == 0 && strcmp(name, PACK_SEVERAL_TYPES) != 0)
		hopper_refuse_cell(table, 0, column);
	return type;
}

double
hopper_constant_cell(const hopper_name *table, int column)
{
	double		value = hopper_float_value(0, column);

	if (!(value > 0) || isinf(value))
		hopper_refuse_cell(table, 0, column);
	return value;
}

void
hopper_refuse_packed(const hopper_packed *packed, const char *what)
{
	hopper_raise(ERRCODE_DATA_CORRUPTED,
				 errmsg("packed table \"%s\" is damaged", packed->table.shown),
				 errdetail("%s.", what),
				 errhint("Pack the data again."));
}
