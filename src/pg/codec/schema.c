/*
 * schema.c
 *		Rows of columns of any type as numbers: the glue makes cells of values, the core's schema
 *		makes numbers of cells. Packing and prediction both come here.
 */
#include "pg/codec/schema.h"

#include "utils/date.h"
#include "utils/json.h"

#include "pg/codec/refusals.h"

#define EPOCH_SECONDS ((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * 86400.0)

hopper_row_schema *
hopper_schema_open_unguarded(const char *text)
{
	hopper_row_schema *opened = palloc0(sizeof(hopper_row_schema));

	opened->text = pstrdup(text);
	HOPPER_CORE(schema.open, hopper_to_utf8(text), &opened->handle);
	hopper_core()->schema.info(opened->handle, &opened->info);
	return opened;
}

hopper_row_schema *
hopper_schema_open(const char *text)
{
	hopper_row_schema *opened = hopper_schema_open_unguarded(text);

	(void) hopper_guard_add(opened->handle, hopper_core()->schema.free);
	return opened;
}

void
hopper_schema_append_columns(StringInfo text, int n, const hopper_pack_column *columns)
{
	appendStringInfoString(text, "\"columns\": [");
	for (int i = 0; i < n; i++)
	{
		appendStringInfoString(text, i ? ", {\"name\": " : "{\"name\": ");
		escape_json(text, columns[i].name);
		appendStringInfoString(text, ", \"type\": ");
		escape_json(text, columns[i].sql_type);
		appendStringInfo(text, ", \"family\": \"%s\"}", hopper_schema_family(columns[i].type));
	}
	appendStringInfoChar(text, ']');
}

/* Families whose values stand for each other: the first letters tell. */
static bool
may_stand_for(const hopper_schema_column *trained, const char *family)
{
	static const char *const alike[][2] = {{"number", "integer"}, {"date", "timestamp"}};

	if (family == NULL)
		return false;
	if (strcmp(trained->family, family) == 0)
		return true;
	for (int i = 0; i < lengthof(alike); i++)
		if ((strcmp(trained->family, alike[i][0]) == 0 && strcmp(family, alike[i][1]) == 0) ||
			(strcmp(trained->family, alike[i][1]) == 0 && strcmp(family, alike[i][0]) == 0))
			return true;
	return false;
}

void
hopper_pack_values_init_schema(hopper_pack_values *values, const hopper_row_schema *schema,
							   int n_columns, const hopper_pack_column *columns,
							   const char *relation, const char *whose)
{
	const hopper_schema_info *info = &schema->info;
	hopper_complaints complaints = {NIL};
	int64		shape = info->width;

	if (n_columns != info->n_columns)
		hopper_raise(ERRCODE_DATA_CORRUPTED, errmsg("the schema of \"%s\" is damaged", whose),
					 errdetail("It has %d columns instead of %d.", info->n_columns, n_columns));
	for (int i = 0; i < n_columns; i++)
		if (!may_stand_for(&info->columns[i], hopper_schema_family(columns[i].type)))
			hopper_complain(&complaints, ERRCODE_DATATYPE_MISMATCH,
							psprintf("column \"%s\" of \"%s\" is of type %s but \"%s\" was packed "
									 "with type %s", columns[i].name, relation,
									 columns[i].sql_type, whose,
									 hopper_from_utf8(info->columns[i].sql_type)), NULL,
							"Cast the column in a view.");
	hopper_throw_complaints(&complaints, psprintf("reading \"%s\"", relation));
	memset(values, 0, sizeof(*values));
	values->layout = PACK_COLUMNS;
	values->divisor = 1.0;
	values->n_columns = n_columns;
	values->columns = columns;
	values->type = HOPPER_FLOAT32;
	values->schema = schema;
	hopper_pack_values_set_shape(values, 1, &shape);
}

/* --- cells --- */

/* False where it is no UTF-8. */
static bool
set_text(hopper_schema_cell *cell, const char *text, size_t size)
{
	cell->text = text;
	cell->text_size = size;
	if (GetDatabaseEncoding() == PG_UTF8 || size == 0)
		return true;
	if (!hopper_has_utf8(text, size))
		return false;
	cell->text = hopper_to_utf8(pnstrdup(text, size));
	cell->text_size = strlen(cell->text);
	return true;
}

/* As its output function writes it, which is how the survey has read the training rows. */
static bool
read_text(Oid type, Datum value, hopper_schema_cell *cell)
{
	struct varlena *bytes;
	char	   *written;
	size_t		size;

	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			bytes = PG_DETOAST_DATUM_PACKED(value);
			size = VARSIZE_ANY_EXHDR(bytes);
			/* the blanks that a character(n) is filled up with mean nothing */
			while (type == BPCHAROID && size > 0 && VARDATA_ANY(bytes)[size - 1] == ' ')
				size--;
			return set_text(cell, VARDATA_ANY(bytes), size);
		case BOOLOID:
			written = DatumGetBool(value) ? "true" : "false";
			break;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			/* in the place of an integer, as JSON has it */
			written = psprintf("%.0f", hopper_number_as_double(type, value));
			break;
		default:
			written = hopper_text_of(type, value);
	}
	return set_text(cell, written, strlen(written));
}

/* As extract(epoch FROM value), by which the survey has read the training rows. */
static double
interval_seconds(const Interval *span)
{
	double		days = span->month / MONTHS_PER_YEAR * DAYS_PER_YEAR +
		span->month % MONTHS_PER_YEAR * (double) DAYS_PER_MONTH + span->day;

#ifdef INTERVAL_NOT_FINITE
	if (INTERVAL_NOT_FINITE(span))
		return INFINITY;
#endif
	return days * SECS_PER_DAY + span->time / 1e6;
}

static double
read_number(Oid type, Datum value)
{
	switch (type)
	{
		case INTERVALOID:
			return interval_seconds(DatumGetIntervalP(value));
		case TIMEOID:
			return DatumGetTimeADT(value) / 1e6;
		case DATEOID:
			if (DATE_NOT_FINITE(DatumGetDateADT(value)))
				return INFINITY;
			return DatumGetDateADT(value) * 86400.0 + EPOCH_SECONDS;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)))
				return INFINITY;
			return DatumGetTimestamp(value) / 1e6 + EPOCH_SECONDS;
		default:
			return hopper_number_as_double(type, value);
	}
}

/* False where an element is NULL. */
static bool
read_numbers(Oid type, Datum value, hopper_schema_cell *cell)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			element = ARR_ELEMTYPE(array);
	Datum	   *elements;
	bool	   *nulls;
	double	   *numbers;
	int			n = hopper_elements(array, &elements, &nulls);

	numbers = palloc(Max(n, 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			return false;
		numbers[i] = hopper_number_as_double(getBaseType(element), elements[i]);
	}
	cell->numbers = numbers;
	cell->n = n;
	return true;
}

static bool
refuse_length(const hopper_pack_source *source, const hopper_pack_column *column, int64 n,
			  int64 expected)
{
	hopper_wrong(errmsg("column \"%s\" of \"%s\" holds an array of " INT64_FORMAT " elements "
						"instead of " INT64_FORMAT, column->name, source->name.shown, n, expected),
				 errdetail("%s.", hopper_pack_row_name(source)),
				 errhint("%s", hopper_pack_rows_hint(source)));
	return false;
}

bool
hopper_schema_encode(const hopper_pack_values *values, const hopper_pack_source *source,
					 const Datum *datums, const bool *nulls, char *out)
{
	const hopper_row_schema *schema = values->schema;
	hopper_schema_cell *cells = palloc0(values->n_columns * sizeof(hopper_schema_cell));
	int32_t		at = 0;
	int32_t		problem;

	for (int i = 0; i < values->n_columns; i++)
	{
		hopper_schema_cell *cell = &cells[i];
		Oid			type = values->columns[i].type;

		cell->is_null = nulls[i];
		if (nulls[i])
			continue;
		switch (schema->info.columns[i].cell_kind)
		{
			case HOPPER_CELL_TEXT:
				if (!read_text(type, datums[i], cell))
					hopper_pack_refuse_text(source, &values->columns[i],
											hopper_pack_row_name(source));
				break;
			case HOPPER_CELL_NUMBERS:
				if (!read_numbers(type, datums[i], cell))
					return hopper_pack_refuse_null_element(source, &values->columns[i], 0, 1);
				break;
			default:
				cell->number = read_number(type, datums[i]);
		}
	}
	problem = hopper_core()->schema.encode(schema->handle, cells, out, &at);
	if (problem == HOPPER_ENCODE_MEMORY)
		hopper_raise(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"));
	if (problem == HOPPER_ENCODE_NULL)
		return hopper_pack_refuse_null(source, &values->columns[at]);
	if (problem == HOPPER_ENCODE_NOT_FINITE)
		return hopper_pack_refuse_number(source, &values->columns[at],
										 "a value that is not finite", 0, 1);
	if (problem == HOPPER_ENCODE_LENGTH)
		return refuse_length(source, &values->columns[at], cells[at].n,
							 schema->info.columns[at].length);
	pfree(cells);
	return true;
}

hopper_label_scale
hopper_schema_label_scale(const char *text)
{
	return text ? hopper_schema_open(text)->info.label.scale : (hopper_label_scale) {0};
}

char *
hopper_different_schemas(const char *a, const char *a_name, const char *b, const char *b_name)
{
	hopper_rows *rows;

	if (a == NULL && b == NULL)
		return NULL;
	if (a == NULL || b == NULL)
		return psprintf("Its columns are packed %s, those of \"%s\" %s.",
						a ? "by a schema" : "as they are", b_name,
						b ? "by a schema" : "as they are");
	if (strcmp(a, b) == 0)
		return NULL;
	rows = HOPPER_CORE_ROWS(schema.compare, hopper_to_utf8(a), hopper_to_utf8(a_name),
							hopper_to_utf8(b), hopper_to_utf8(b_name));
	return rows->n_rows > 0 ? hopper_from_utf8(rows->cells[0]) : NULL;
}
