/*
 * packed_parts.c
 *		What packed tables and their summaries consist of: names of columns, cells, and what is said
 *		of a damaged one.
 */
#include "pg/codec/schema.h"

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
hopper_array_cell(const hopper_name *summary, uint64 row, int column, Oid type, Datum **values)
{
	bool		isnull;
	Datum		array = hopper_value(row, column, get_array_type(type), &isnull);
	bool	   *nulls;
	int			n;

	if (isnull)
		return -1;
	n = hopper_elements(DatumGetArrayTypeP(array), values, &nulls);
	for (int i = 0; i < n; i++)
		if (nulls[i])
			hopper_refuse_cell(summary, row, column);
	return n;
}

int
hopper_ints_cell(const hopper_name *summary, uint64 row, int column, int32 **values)
{
	Datum	   *datums;
	int			n = hopper_array_cell(summary, row, column, INT4OID, &datums);

	if (n < 0)
		hopper_refuse_cell(summary, row, column);
	*values = palloc(sizeof(int32) * (n + 1));
	for (int i = 0; i < n; i++)
		(*values)[i] = DatumGetInt32(datums[i]);
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

static const char *const kinds[] = {
	[HOPPER_LABEL_CLASS] = "class",[HOPPER_LABEL_VALUE] = "value",[HOPPER_LABEL_ARRAY] = "array"
};

const char *
hopper_label_kind_name(int32 kind)
{
	return kinds[kind];
}

int32
hopper_kind_cell(const hopper_name *table, uint64 row, int column)
{
	char	   *name = hopper_text_cell(table, row, column);

	for (int32 kind = HOPPER_LABEL_CLASS; kind <= HOPPER_LABEL_ARRAY; kind++)
		if (strcmp(name, kinds[kind]) == 0)
			return kind;
	hopper_refuse_cell(table, row, column);
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
	Oid			type = getBaseType(SPI_gettypeid(SPI_tuptable->tupdesc, column));
	bool		isnull;
	Datum		datum = hopper_value(0, column, type, &isnull);
	double		value = isnull ? 0 : hopper_number_as_double(type, datum);

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
