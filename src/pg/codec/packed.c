/*
 * packed.c
 *		Reading packed tables and their summaries.
 */
#include "pg/codec/rows.h"
#include "pg/codec/schema.h"

#include "utils/fmgroids.h"

#include "pg/server/tables.h"

static void
refuse_unpacked(const hopper_name *table, bool validation, const char *detail)
{
	hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				 errmsg("table \"%s\" has not been packed", table->shown),
				 errdetail("%s", detail),
				 validation
				 ? errhint("Pack it with hopper.validation_preprocessor(), after the packed table "
						   "that the model is trained on.")
				 : errhint("Pack it with hopper.training_preprocessor() and name the packed "
						   "table."));
}

static void
refuse_summary(const hopper_name *summary, const char *what)
{
	hopper_raise(ERRCODE_DATA_CORRUPTED, errmsg("summary table \"%s\" is damaged", summary->shown),
				 errdetail("%s.", what),
				 errhint("Pack the data again."));
}

/* --- cells of the summary's row --- */

/* Where select_summary() has them. */
#define CLASS_VALUES 28

/* text[] without NULLs, not empty; returns the length. */
static int
get_texts(const hopper_name *summary, int column, char ***values)
{
	int			n;

	*values = hopper_text_cells(0, column, &n);
	if (n == 0)
		hopper_refuse_cell(summary, 0, column);
	for (int i = 0; i < n; i++)
		if ((*values)[i] == NULL)
			hopper_refuse_cell(summary, 0, column);
	return n;
}

/* --- the summary --- */

static void
check_packed(const hopper_name *table, bool validation, const hopper_name *summary)
{
	Oid			relation;

	relation = hopper_relation_oid(summary, true);
	if (!OidIsValid(relation))
		refuse_unpacked(table, validation, psprintf("There is no table \"%s\".", summary->shown));
	/* other summaries, of training for instance, have the same name */
	if (get_attnum(relation, "format_version") == InvalidAttrNumber ||
		get_attnum(relation, "independent_type") == InvalidAttrNumber)
		refuse_unpacked(table, validation,
						psprintf("Table \"%s\" does not describe packed data.", summary->shown));
}

static bool
is_array(Oid type)
{
	return OidIsValid(get_element_type(getBaseType(type)));
}

/* The columns of class values as they are and as text[], to be selected; NULLs without classes. */
static const char *
class_values_selected(Oid relation)
{
	const char *end = hopper_class_values_name("");
	const char *name;

	for (AttrNumber i = 1; (name = hopper_get_attname(relation, i)) != NULL; i++)
	{
		const char *column = hopper_identifier(name);

		if (strlen(name) >= strlen(end) &&
			strcmp(name + strlen(name) - strlen(end), end) == 0 &&
			is_array(get_atttype(relation, i)))
			return psprintf("%s, ARRAY(SELECT u.v::pg_catalog.text FROM pg_catalog.unnest(%s)"
							" WITH ORDINALITY AS u(v, i) ORDER BY u.i)", column, column);
	}
	return "NULL, NULL::pg_catalog.text[]";
}

static void
read_class_values(const hopper_name *summary, hopper_packed *out)
{
	hopper_data_desc *desc = &out->desc;
	Oid			relation = hopper_relation_oid(summary, false);
	const char **values;
	Datum		whole;
	bool		isnull;
	int			n;

	out->class_values_type =
		get_atttype(relation, hopper_require_column(relation, out->class_values_column));
	if (!is_array(out->class_values_type))
		refuse_summary(summary, psprintf("Column \"%s\" is no array", out->class_values_column));
	whole = hopper_value(0, CLASS_VALUES, getBaseType(out->class_values_type), &isnull);
	if (!isnull)
		out->class_values = PointerGetDatum(PG_DETOAST_DATUM_COPY(whole));
	values = (const char **) hopper_text_cells(0, CLASS_VALUES + 1, &n);
	if (n != desc->num_classes)
		refuse_summary(summary, psprintf("There are %d class values for %d classes", n,
										 desc->num_classes));
	/* only the first class can be that of NULL; NULLs at the end are padding */
	while (n > 1 && values[n - 1] == NULL)
		n--;
	desc->n_class_values = n;
	desc->class_values = values;
}

/* An array's text, whose elements have this type; their number. */
static int
read_numbers(const hopper_name *summary, char *text, Oid type, const char *column, Datum **numbers)
{
	Datum		array = OidInputFunctionCall(F_ARRAY_IN, text, type, -1);
	bool	   *nulls;
	int			n;

	n = hopper_elements(DatumGetArrayTypeP(array), numbers, &nulls);
	for (int i = 0; i < n; i++)
		if (nulls[i])
			refuse_summary(summary, psprintf("Column \"%s\" holds NULL", column));
	return n;
}

/* NULL: not known, of labels that are classes or that an earlier version has packed. */
static void
read_label_range(const hopper_name *summary, char *text, hopper_data_desc *desc)
{
	Datum	   *ends;

	if (text == NULL)
		return;
	if (read_numbers(summary, text, FLOAT8OID, "label_range", &ends) != 2)
		refuse_summary(summary, "Column \"label_range\" is not two numbers");
	desc->has_label_range = 1;
	desc->least_label = DatumGetFloat8(ends[0]);
	desc->largest_label = DatumGetFloat8(ends[1]);
}

static void
read_class_counts(const hopper_name *summary, char *text, hopper_data_desc *desc)
{
	Datum	   *datums;
	int64	   *counts;
	int			n;

	if (text == NULL)
		return;
	n = read_numbers(summary, text, INT8OID, "class_counts", &datums);
	if (n < 1 || n > desc->num_classes)
		refuse_summary(summary, psprintf("There are %d numbers of rows for %d classes", n,
										 desc->num_classes));
	counts = palloc(sizeof(int64) * n);
	for (int i = 0; i < n; i++)
	{
		counts[i] = DatumGetInt64(datums[i]);
		if (counts[i] < 0)
			refuse_summary(summary, "Column \"class_counts\" holds a negative number");
	}
	desc->n_class_counts = n;
	desc->class_counts = counts;
}

/* The summary's only row, in a format that this version reads. */
static void
select_summary(const hopper_name *summary, const char *table)
{
	Oid			oid = hopper_relation_oid(summary, false);
	int32		format;

	if (hopper_select("SELECT format_version, source_table, dependent_varname,"
					  " independent_varname, dependent_vartype, independent_vartype,"
					  " buffer_size, normalizing_const::pg_catalog.float8, num_classes,"
					  " independent_type, independent_shape, label_kind, label_type, label_shape,"
					  " n_rows, partitions, starts, seed, packed_bytes, checksum, training_table,"
					  " %s::pg_catalog.text, %s::pg_catalog.text, %s::pg_catalog.text,"
					  " %s::pg_catalog.text, %s::pg_catalog.text, %s::pg_catalog.text, %s"
					  " FROM %s",
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "inputs"),
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "outputs"),
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "padding"),
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "class_counts"),
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "label_range"),
					  hopper_column_selected(oid, HOPPER_TABLE_PACKED_SUMMARY, "schema"),
					  class_values_selected(oid), summary->quoted) != 1)
		refuse_summary(summary, psprintf("It has " UINT64_FORMAT " rows instead of one",
										 (uint64) SPI_processed));
	format = hopper_key_cell(summary, 0, 1);
	if (format != HOPPER_PACK_FORMAT)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("table \"%s\" was packed in format %d, this version reads format %d",
							table, format, HOPPER_PACK_FORMAT),
					 errhint("Pack the data again."));
}

/* What was packed, and from where; returns the label's column, or the first of several. */
static char *
read_source(const hopper_name *summary, hopper_packed *out)
{
	char	  **labels;
	char	  **label_types;
	int			n_labels = get_texts(summary, 3, &labels);

	out->source_table = hopper_text_cell(summary, 0, 2);
	out->outputs_text = hopper_cell(0, 23);
	if (n_labels != 1 && out->outputs_text == NULL)
		refuse_summary(summary, "There are several label columns");
	out->n_x_columns = get_texts(summary, 4, &out->x_columns);
	get_texts(summary, 5, &label_types);
	if (get_texts(summary, 6, &out->x_sql_types) != out->n_x_columns)
		refuse_summary(summary, "Columns and types differ in number");
	out->y_sql_type = label_types[0];
	out->buffer_size = (int32) hopper_int_cell(summary, 0, 7, 1, PG_INT32_MAX);
	out->seed = hopper_int_cell(summary, 0, 18, PG_INT64_MIN, PG_INT64_MAX);
	out->packed_bytes = hopper_int_cell(summary, 0, 19, 0, PG_INT64_MAX);
	out->checksum = hopper_text_cell(summary, 0, 20);
	out->training_table = hopper_cell(0, 21);
	out->inputs_text = hopper_cell(0, 22);
	out->padding_text = hopper_cell(0, 24);
	out->schema_text = hopper_cell(0, 27);
	out->n_starts = hopper_ints_cell(summary, 0, 17, &out->starts);
	return labels[0];
}

/* What the examples are, for the core. */
static void
read_examples(const hopper_name *summary, char *label, hopper_packed *out)
{
	hopper_data_desc *desc = &out->desc;
	int32	   *num_classes;

	desc->table_name = out->table.shown;
	desc->y_column = out->outputs_text ? PACK_LABELS : label;
	desc->x_column = hopper_packed_features(out->n_x_columns, out->x_columns, desc->y_column);
	desc->normalizing_const = hopper_constant_cell(summary, 8);
	desc->x_type = hopper_type_cell(summary, 10);
	desc->x_rank = hopper_shape_cell(summary, 0, 11, desc->x_shape);
	desc->y_kind = hopper_kind_cell(summary, 0, 12);
	desc->y_type = hopper_type_cell(summary, 13);
	desc->y_rank = hopper_shape_cell(summary, 0, 14, desc->y_shape);
	desc->n_partitions = (int32) hopper_int_cell(summary, 0, 16, 1, PACK_MAX_PARTITIONS);
	/* none is empty, and a partition's rows are counted in 32 bits */
	desc->buffer_rows = out->buffer_size;
	desc->n_rows = hopper_int_cell(summary, 0, 15, desc->n_partitions,
								   (int64) desc->n_partitions * PG_INT32_MAX);
	if (desc->y_kind == HOPPER_LABEL_CLASS)
	{
		if (hopper_ints_cell(summary, 0, 9, &num_classes) != 1 || num_classes[0] < 1)
			refuse_summary(summary, "Column \"num_classes\" is not one number");
		desc->num_classes = num_classes[0];
		out->class_values_column = hopper_class_values_name(label);
	}
	read_label_range(summary, hopper_cell(0, 26), desc);
}

void
hopper_read_packed(const hopper_name *table, bool validation, hopper_packed *out)
{
	hopper_name summary = hopper_name_with_suffix(table, "summary");
	hopper_data_desc *desc = &out->desc;
	hopper_table tables[2];
	char	   *counts;

	memset(out, 0, sizeof(*out));
	tables[0] = (hopper_table) {*table, HOPPER_TABLE_PACKED};
	tables[1] = (hopper_table) {summary, HOPPER_TABLE_PACKED_SUMMARY};
	hopper_open_to_read(tables, lengthof(tables));
	check_packed(table, validation, &summary);
	out->table = *table;
	select_summary(&summary, table->shown);
	read_examples(&summary, read_source(&summary, out), out);
	counts = hopper_cell(0, 25);
	if (desc->y_kind == HOPPER_LABEL_CLASS)
		read_class_values(&summary, out);
	hopper_read_inputs(&summary, out->inputs_text, out->n_x_columns, desc, &out->inputs);
	out->padding = hopper_read_padding(&summary, out->padding_text, &out->inputs);
	hopper_read_outputs(&summary, out->outputs_text, desc, &out->y_types, &out->weight_column);
	desc->label_unit = hopper_schema_label_unit(out->schema_text);
	desc->schema = out->schema_text ? hopper_to_utf8(out->schema_text) : NULL;
	if (desc->y_kind == HOPPER_LABEL_CLASS)
		read_class_counts(&summary, counts, desc);
}

/* --- the buffers --- */

hopper_buffer
hopper_make_buffer(hopper_split split, const Datum row[6])
{
	struct varlena *x = PG_DETOAST_DATUM_PACKED(row[3]);
	struct varlena *y = PG_DETOAST_DATUM_PACKED(row[4]);
	struct varlena *checksum = PG_DETOAST_DATUM_PACKED(row[5]);

	return (hopper_buffer) {
		.split = split,
		.partition_id = DatumGetInt32(row[0]),
		.buffer_id = DatumGetInt32(row[1]),
		.n = DatumGetInt32(row[2]),
		.x = VARDATA_ANY(x),
		.x_size = VARSIZE_ANY_EXHDR(x),
		.y = VARDATA_ANY(y),
		.y_size = VARSIZE_ANY_EXHDR(y),
		.checksum = VARSIZE_ANY_EXHDR(checksum) == HOPPER_CHECKSUM_SIZE
			? (const uint8_t *) VARDATA_ANY(checksum) : NULL
	};
}

static const Oid buffer_types[6] = {INT4OID, INT4OID, INT4OID, BYTEAOID, BYTEAOID, BYTEAOID};

/* Columns: partition_id, buffer_id, n, x, y, checksum */
static void
feed_buffer(const hopper_packed *packed, hopper_split split, HeapTuple tuple, TupleDesc tupdesc,
			hopper_buffer_fn callback, void *state)
{
	hopper_buffer buffer;
	Datum		values[6];
	bool		nulls[6];

	for (int i = 0; i < lengthof(buffer_types); i++)
		hopper_require_type(tupdesc, i + 1, buffer_types[i]);
	heap_deform_tuple(tuple, tupdesc, values, nulls);
	for (int i = 0; i < lengthof(nulls); i++)
		if (nulls[i])
			hopper_refuse_packed(packed, psprintf("Column \"%s\" holds NULL",
												  SPI_fname(tupdesc, i + 1)));
	buffer = hopper_make_buffer(split, values);
	callback(&buffer, state);
}

/* Of all partitions where `partition` is negative. */
static void
scan(const hopper_packed *packed, hopper_split split, int32 partition, hopper_buffer_fn callback,
	 void *state)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "hopper packed buffer",
												  ALLOCSET_DEFAULT_SIZES);
	const char *x_column = hopper_identifier(packed->desc.x_column);
	const char *y_column = hopper_identifier(hopper_packed_label(packed->desc.y_column));
	const char *condition = partition < 0 ? ""
		: psprintf(" WHERE partition_id OPERATOR(pg_catalog.=) %d", partition);
	Portal		portal;

	/* the sort moves TOAST pointers, not buffers */
	portal = hopper_backend.open_cursor(
		psprintf("SELECT partition_id, buffer_id, n, %s, %s, checksum FROM %s%s"
				 " ORDER BY partition_id, buffer_id", x_column, y_column, packed->table.quoted,
				 condition), true);
	for (;;)
	{
		SPITupleTable *table;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, 1);
		hopper_after_spi();
		table = SPI_tuptable;
		if (SPI_processed == 0)
			break;
		MemoryContextSwitchTo(context);
		feed_buffer(packed, split, table->vals[0], table->tupdesc, callback, state);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
		SPI_freetuptable(table);
	}
	SPI_cursor_close(portal);
	hopper_after_spi();
	MemoryContextDelete(context);
}

void
hopper_scan_packed(const hopper_packed *packed, hopper_split split, hopper_buffer_fn callback,
				   void *state)
{
	scan(packed, split, -1, callback, state);
}

void
hopper_scan_partition(const hopper_packed *packed, hopper_split split, int32 partition,
					  hopper_buffer_fn callback, void *state)
{
	scan(packed, split, partition, callback, state);
}

void
hopper_require_readable(const hopper_packed *packed)
{
	hopper_require_select(hopper_source_oid(&packed->table));
}
