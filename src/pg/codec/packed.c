/*
 * packed.c
 *		Reading packed tables and their summaries.
 */
#include "pg/codec/rows.h"
#include "pg/codec/schema.h"

#include "pg/server/tables.h"

static void
refuse_unpacked(const hopper_name *table, bool validation, const char *detail)
{
	hopper_unmet(errmsg("table \"%s\" has not been packed", table->shown),
				 errdetail("%s", detail),
				 hopper_is_table(hopper_relation_oid(table, false), HOPPER_TABLE_PACKED)
				 ? errhint("Where it was given another name, give it its old one, by which its "
						   "summary is found.")
				 : validation
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

/* text[] without NULLs, not empty. */
static char **
texts_at(const hopper_name *summary, const char *column, int *n)
{
	int			at = hopper_at(column);
	char	  **values = hopper_text_cells(0, at, n);

	if (*n == 0)
		hopper_refuse_cell(summary, 0, at);
	for (int i = 0; i < *n; i++)
		if (values[i] == NULL)
			hopper_refuse_cell(summary, 0, at);
	return values;
}

/* In the label's own type. */
static void
read_class_values(const hopper_name *summary, hopper_packed *out)
{
	Oid			relation = hopper_relation_oid(summary, false);
	Datum		whole;
	bool		isnull;

	out->class_values_type =
		get_atttype(relation, hopper_require_column(relation, out->class_values_column));
	if (!is_array(out->class_values_type))
		hopper_refuse_damaged(summary, psprintf("Column \"%s\" is no array.",
												out->class_values_column));
	whole = hopper_value(0, hopper_at(out->class_values_column),
						 getBaseType(out->class_values_type), &isnull);
	if (!isnull)
		out->class_values = PointerGetDatum(PG_DETOAST_DATUM_COPY(whole));
}

/* As text: a cast differs from what an output function writes. No table is read again. */
static void
name_classes(const hopper_name *summary, hopper_packed *out)
{
	hopper_data_desc *desc = &out->desc;
	Oid			type = getBaseType(out->class_values_type);
	const char **values;
	int			n;
	int			level = hopper_without_jit();
	int			rc = SPI_execute_with_args("SELECT ARRAY(SELECT u.v::pg_catalog.text"
										   " FROM pg_catalog.unnest($1) WITH ORDINALITY"
										   " AS u(v, i) ORDER BY u.i)", 1, &type,
										   &out->class_values, out->class_values ? " " : "n",
										   true, 0);

	hopper_after_spi();
	AtEOXact_GUC(true, level);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
	values = (const char **) hopper_text_cells(0, 1, &n);
	if (n != desc->num_classes)
		hopper_refuse_damaged(summary, psprintf("There are %d class values for %d classes.", n,
												desc->num_classes));
	/* only the first class can be that of NULL; NULLs at the end are padding */
	while (n > 1 && values[n - 1] == NULL)
		n--;
	desc->n_class_values = n;
	desc->class_values = values;
	SPI_freetuptable(SPI_tuptable);
}

void
hopper_read_examples(const hopper_name *summary, hopper_packed *out)
{
	hopper_data_desc *desc = &out->desc;
	int32	   *num_classes;
	int			n_labels;
	int			n_types;
	char	  **labels = texts_at(summary, "dependent_varname", &n_labels);

	out->source_table = hopper_text_cell(summary, 0, hopper_at("source_table"));
	out->y_sql_type = texts_at(summary, "dependent_vartype", &n_types)[0];
	out->x_columns = texts_at(summary, "independent_varname", &out->n_x_columns);
	out->x_sql_types = texts_at(summary, "independent_vartype", &n_types);
	if (n_types != out->n_x_columns)
		hopper_refuse_damaged(summary, "Columns and types differ in number.");
	out->inputs_text = hopper_cell(0, hopper_at_if_any("inputs"));
	out->outputs_text = hopper_cell(0, hopper_at_if_any("outputs"));
	out->padding_text = hopper_cell(0, hopper_at_if_any("padding"));
	out->schema_text = hopper_cell(0, hopper_at_if_any("schema"));
	if (n_labels != 1 && out->outputs_text == NULL)
		hopper_refuse_damaged(summary, "There are several label columns.");
	desc->y_column = out->outputs_text ? PACK_LABELS : labels[0];
	desc->x_column = hopper_packed_features(out->n_x_columns, out->x_columns, desc->y_column);
	desc->normalizing_const = hopper_constant_cell(summary, hopper_at("normalizing_const"));
	desc->x_type = hopper_type_cell(summary, hopper_at("independent_type"));
	desc->x_rank = hopper_shape_cell(summary, 0, hopper_at("independent_shape"), desc->x_shape);
	desc->y_kind = hopper_kind_cell(summary, 0, hopper_at("label_kind"));
	desc->y_type = hopper_type_cell(summary, hopper_at("label_type"));
	desc->y_rank = hopper_shape_cell(summary, 0, hopper_at("label_shape"), desc->y_shape);
	if (desc->y_kind == HOPPER_LABEL_CLASS)
	{
		if (hopper_ints_cell(summary, 0, hopper_at("num_classes"), &num_classes) != 1 ||
			num_classes[0] < 1 || num_classes[0] > PACK_MAX_CLASSES)
			hopper_refuse_damaged(summary, "Column \"num_classes\" is not one number.");
		desc->num_classes = num_classes[0];
		out->class_values_column = hopper_class_values_name(labels[0]);
		read_class_values(summary, out);
	}
}

void
hopper_read_parts(const hopper_name *summary, hopper_packed *out)
{
	SPI_freetuptable(SPI_tuptable);
	hopper_read_inputs(summary, out->inputs_text, out->n_x_columns, &out->desc, &out->inputs);
	out->padding = hopper_read_padding(summary, out->padding_text, &out->inputs);
	hopper_read_outputs(summary, out->outputs_text, &out->desc, &out->y_types,
						&out->weight_column);
	out->desc.label_scale = hopper_schema_label_scale(out->schema_text);
	if (out->class_values_column)
		name_classes(summary, out);
}

/* NULL: not known, of labels that are classes or that an earlier version has packed. */
static void
read_label_range(const hopper_name *summary, hopper_data_desc *desc)
{
	Datum	   *ends;
	int			n = hopper_array_cell(summary, 0, hopper_at_if_any("label_range"), FLOAT8OID,
								  &ends);

	if (n < 0)
		return;
	if (n != 2)
		refuse_summary(summary, "Column \"label_range\" is not two numbers");
	desc->has_label_range = 1;
	desc->least_label = DatumGetFloat8(ends[0]);
	desc->largest_label = DatumGetFloat8(ends[1]);
}

static void
read_class_counts(const hopper_name *summary, hopper_data_desc *desc)
{
	Datum	   *datums;
	int64	   *counts;
	int			n = hopper_array_cell(summary, 0, hopper_at_if_any("class_counts"), INT8OID,
								  &datums);

	if (n < 0 || desc->y_kind != HOPPER_LABEL_CLASS)
		return;
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
	int32		format;

	if (hopper_select("SELECT * FROM %s", summary->quoted) != 1)
		refuse_summary(summary, psprintf("It has " UINT64_FORMAT " rows instead of one",
										 (uint64) SPI_processed));
	format = hopper_key_cell(summary, 0, hopper_at("format_version"));
	if (format != HOPPER_PACK_FORMAT)
		hopper_unmet(errmsg("table \"%s\" was packed in format %d, this version reads format %d",
							table, format, HOPPER_PACK_FORMAT),
					 errhint("Pack the data again."));
}

/* What is in the table beside its examples' description. */
static void
read_rows(const hopper_name *summary, hopper_packed *out)
{
	hopper_data_desc *desc = &out->desc;

	desc->n_partitions = (int32) hopper_int_cell(summary, 0, hopper_at("partitions"), 1,
												 PACK_MAX_PARTITIONS);
	/* none is empty, and a partition's rows are counted in 32 bits */
	desc->n_rows = hopper_int_cell(summary, 0, hopper_at("n_rows"), desc->n_partitions,
								   (int64) desc->n_partitions * PG_INT32_MAX);
	out->buffer_size = (int32) hopper_int_cell(summary, 0, hopper_at("buffer_size"), 1,
											   PG_INT32_MAX);
	desc->buffer_rows = out->buffer_size;
	out->n_starts = hopper_ints_cell(summary, 0, hopper_at("starts"), &out->starts);
	out->seed = hopper_int_cell(summary, 0, hopper_at("seed"), PG_INT64_MIN, PG_INT64_MAX);
	out->packed_bytes = hopper_int_cell(summary, 0, hopper_at("packed_bytes"), 0, PG_INT64_MAX);
	out->checksum = hopper_text_cell(summary, 0, hopper_at("checksum"));
	out->training_table = hopper_cell(0, hopper_at("training_table"));
	read_label_range(summary, desc);
	read_class_counts(summary, desc);
}

void
hopper_read_packed(const hopper_name *table, bool validation, hopper_packed *out)
{
	hopper_name summary = hopper_name_with_suffix(table, "summary");
	hopper_data_desc *desc = &out->desc;
	hopper_table tables[2];

	memset(out, 0, sizeof(*out));
	tables[0] = (hopper_table) {*table, HOPPER_TABLE_PACKED};
	tables[1] = (hopper_table) {summary, HOPPER_TABLE_PACKED_SUMMARY};
	hopper_open_to_read(tables, lengthof(tables));
	check_packed(table, validation, &summary);
	out->table = *table;
	desc->table_name = table->shown;
	select_summary(&summary, table->shown);
	hopper_read_examples(&summary, out);
	read_rows(&summary, out);
	hopper_read_parts(&summary, out);
	desc->schema = hopper_to_utf8(out->schema_text);
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

typedef struct scan
{
	const hopper_packed *packed;
	hopper_split split;
	hopper_buffer_fn callback;
	void	   *state;
	MemoryContext context;		/* of a buffer */
	TupleDesc	desc;
} scan;

/* Columns: partition_id, buffer_id, n, x, y, checksum */
static void
take_buffer(void *state, const Datum *values, const bool *nulls)
{
	const scan *reading = state;
	MemoryContext caller = MemoryContextSwitchTo(reading->context);
	hopper_buffer buffer;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < lengthof(buffer_types); i++)
		if (nulls[i])
			hopper_refuse_packed(reading->packed, psprintf("Column \"%s\" holds NULL",
														   SPI_fname(reading->desc, i + 1)));
	buffer = hopper_make_buffer(reading->split, values);
	reading->callback(&buffer, reading->state);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(reading->context);
}

void
hopper_scan_packed(const hopper_packed *packed, hopper_split split, int32 partition,
				   hopper_buffer_fn callback, void *state)
{
	scan		reading = {packed, split, callback, state};
	hopper_row_cursor rows;

	/* the sort moves TOAST pointers, not buffers */
	rows = hopper_backend.open_row_cursor(psprintf(
		"SELECT partition_id, buffer_id, n, %s, %s, checksum FROM %s%s"
		" ORDER BY partition_id, buffer_id", hopper_identifier(packed->desc.x_column),
		hopper_identifier(hopper_packed_label(packed->desc.y_column)), packed->table.quoted,
		partition < 0 ? ""
		: psprintf(" WHERE partition_id OPERATOR(pg_catalog.=) %d", partition)));
	hopper_after_spi();
	reading.desc = rows.desc;
	for (int i = 0; i < lengthof(buffer_types); i++)
		hopper_require_type(rows.desc, i + 1, buffer_types[i]);
	reading.context = AllocSetContextCreate(CurrentMemoryContext, "hopper packed buffer",
											ALLOCSET_DEFAULT_SIZES);
	while (hopper_backend.give_rows(&rows, 1, take_buffer, &reading) > 0)
		;
	SPI_cursor_close(rows.portal);
	hopper_after_spi();
	MemoryContextDelete(reading.context);
}

void
hopper_require_readable(const hopper_packed *packed)
{
	hopper_require_select(hopper_source_oid(&packed->table));
}
