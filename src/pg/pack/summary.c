/*
 * summary.c
 *		<output>_summary: one row that says what a packed table holds.
 */
#include "pg/pack/pack.h"

#include "pg/codec/schema.h"

#include "utils/fmgroids.h"

/* NULL pointers are NULL elements. */
/* text[] as an SQL literal; without NULLs, which array_nulls may take for text. */
static const char *
text_array(int n, char *const *values)
{
	Datum		texts = hopper_texts_datum(n, (const char *const *) values);

	return hopper_literal(OidOutputFunctionCall(F_ARRAY_OUT, texts));
}

static const char *
int_array(int n, const int64 *values)
{
	StringInfo	text = makeStringInfo();
	int			i;

	for (i = 0; i < n; i++)
		appendStringInfo(text, "%s" INT64_FORMAT, i ? "," : "", values[i]);
	return psprintf("'{%s}'", text->data);
}

/* "'{1,2}'", or NULL where there are no classes. */
static const char *
class_counts(const hopper_pack_output *output)
{
	return output->class_counts ? int_array(output->n_class_counts, output->class_counts) : "NULL";
}

static const char *
label_range(const hopper_pack_ranges *ranges)
{
	return ranges->has_label_range
		? psprintf("'{%.17g,%.17g}'", ranges->least_label, ranges->largest_label) : "NULL";
}

static const char *
starts_array(const hopper_pack_request *request, const hopper_pack_output *output, bool given)
{
	const int32 *written = given ? request->starts : output->starts;
	int			n = given ? request->n_starts : written ? output->n_starts : output->partitions;
	int64	   *starts = palloc(sizeof(int64) * n);
	int			i;

	for (i = 0; i < n; i++)
		starts[i] = written ? written[i] : i;
	return int_array(n, starts);
}

/* MADlib's second column on distribution: all, or the content ids. */
static const char *
segments_text(const hopper_pack_request *request, const hopper_pack_output *output)
{
	StringInfo	text = makeStringInfo();

	if (request->distribution_rules == NULL ||
		strcmp(request->distribution_rules, "all_segments") == 0)
		return "all_segments";
	for (int i = 0; i < output->n_segments; i++)
		appendStringInfo(text, "%s%d", i ? "," : "{", output->segments[i]);
	appendStringInfoChar(text, '}');
	return text->data;
}

/* Type of the class values: the label column's, text for what is compared as text. */
static const char *
class_values_type(const hopper_pack_column *y, bool has_classes)
{
	if (!has_classes)
		return "pg_catalog.text";
	switch (y->type)
	{
		case BPCHAROID:
		case NAMEOID:
		case CHAROID:
			return "pg_catalog.text";
		default:
			return hopper_format_type_qualified(y->type);
	}
}

/* Classes and, as NULLs, the padding up to num_classes. */
static Datum
class_values(const hopper_pack_classes *classes)
{
	char	  **names = palloc0(sizeof(char *) * classes->num_classes);

	memcpy(names, classes->names, sizeof(char *) * classes->n);
	return hopper_texts_datum(classes->num_classes, (const char *const *) names);
}

/* MADlib's, then ours. Names of tables are ready for a statement: quoted where needed. */
static const hopper_column summary_columns[] = {
	HOPPER_COLUMN_SOURCE,
	{"output_table", TEXTOID, "packed table",.marks = true},
	HOPPER_COLUMN_Y_NAMES,
	HOPPER_COLUMN_X_NAMES,
	HOPPER_COLUMN_Y_SQL_TYPES,
	HOPPER_COLUMN_CLASSES,
	{"buffer_size", INT4OID, "rows of the largest buffer"},
	HOPPER_COLUMN_CONSTANT,
	HOPPER_COLUMN_NUM_CLASSES,
	{"distribution_rules", TEXTOID, "on which segments the partitions are"},
	{"__internal_gpu_config__", TEXTOID, "for MADlib's sake"},
	HOPPER_COLUMN_X_SQL_TYPES,
	HOPPER_COLUMN_X_TYPE,
	HOPPER_COLUMN_X_SHAPE,
	{"label_kind", TEXTOID, HOPPER_MEANS_Y_KIND,.marks = true},
	HOPPER_COLUMN_Y_TYPE,
	HOPPER_COLUMN_Y_SHAPE,
	{"n_rows", INT8OID, "rows packed"},
	{"partitions", INT4OID, "number of partitions"},
	{"starts", INT4ARRAYOID, "first partition of each group of partitions at which models start"},
	HOPPER_COLUMN_SEED,
	{"packed_bytes", INT8OID, "features and labels together",.marks = true},
	{"checksum", TEXTOID, HOPPER_MEANS_CHECKSUM},
	{"training_table", TEXTOID,
	"of validation data: the packed training table that it goes with",.marks = true},
	{"format_version", INT4OID, "of packed tables",.marks = true},
	HOPPER_COLUMN_INPUTS,
	HOPPER_COLUMN_OUTPUTS,
	HOPPER_COLUMN_PADDING,
	{"class_counts", INT8ARRAYOID, "rows of each class, in the order of the classes",
	.since = "0.2.0"},
	{"label_range", FLOAT8ARRAYOID, "the least and the largest label that is a number",
	.since = "0.2.0"},
	HOPPER_COLUMN_SCHEMA,
	{"statement", TEXTOID, "the call that packed it",.since = "0.2.0"},
	{"segment_rows", INT8ARRAYOID, "rows on each segment, from segment 0"},
};

const hopper_layout hopper_packed_summary_layout = {
	.what = "a summary of packed data",.completes = true,
	.columns = summary_columns,
	.n = lengthof(summary_columns) - (HOPPER_DATA_ON_SEGMENTS ? 0 : 1)
};

void
hopper_pack_summary_create(const hopper_name *name, const hopper_pack_column *y, bool has_classes)
{
	const char *class_name = hopper_class_values_name(y->name);
	const char *class_type = psprintf("%s[]", class_values_type(y, has_classes));

	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_RANDOMLY, name->quoted,
				hopper_layout_columns(&hopper_packed_summary_layout, &class_name, &class_type));
	hopper_comment_layout(name, &hopper_packed_summary_layout, &class_name,
						"how the table was packed");
}

/* Hash over the checksums of all buffers. */
static char *
output_checksum(const hopper_pack_output *output)
{
	uint8_t		hash[16];
	char	   *text = palloc(33);
	int			i;

	/* the hash of a row with these bytes and no label */
	hopper_core()->row_key(0, output->checksums.data, output->checksums.len, "", 0, hash);
	for (i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	return text;
}

void
hopper_pack_summary_write(const hopper_pack_summary *summary, const hopper_pack_output *output,
						  const char *training_table)
{
	const hopper_pack_request *request = summary->request;
	const hopper_pack_source *source = summary->source;
	const hopper_pack_classes *classes = summary->classes;
	bool		has_classes = summary->y_kind == HOPPER_LABEL_CLASS;
	hopper_name name = hopper_name_with_suffix(&output->table, "summary");
	const char *class_type = class_values_type(&source->y, has_classes);
	int			n_y = source->n_labels - (request->weight_name ? 1 : 0);
	char	  **y_names = palloc(sizeof(char *) * (source->n_labels + 1));
	char	  **y_types = palloc(sizeof(char *) * (source->n_labels + 1));
	char	  **x_names = palloc(sizeof(char *) * source->n_x);
	char	  **x_types = palloc(sizeof(char *) * source->n_x);
	hopper_param names_of_classes = HOPPER_NULL(TEXTARRAYOID);
	const char *insert;
	int			i;

	if (source->n_labels == 0)
		n_y = 1;
	for (i = 0; i < n_y; i++)
	{
		const hopper_pack_column *y = source->n_labels > 0 ? &source->labels[i] : &source->y;

		y_names[i] = y->name;
		y_types[i] = y->sql_type;
	}
	for (i = 0; i < source->n_x; i++)
	{
		x_names[i] = source->x[i].name;
		x_types[i] = source->x[i].sql_type;
	}
	if (has_classes)
		names_of_classes = HOPPER_PARAM(TEXTARRAYOID, class_values(classes));
	insert =
		psprintf("INSERT INTO %s VALUES (%s, %s, %s, %s, %s, $1::%s[], %d,"
				 " %.9g, %s, %s, %s, %s, %s, %s, %s, %s, %s,"
				 " " INT64_FORMAT ", %d, %s, '" INT64_FORMAT "', " INT64_FORMAT ","
				 " %s, %s, %d, %s, %s, %s, %s, %s, %s, %s%s)",
				 name.quoted, hopper_literal(source->name.quoted),
				 hopper_literal(output->named),
				 text_array(n_y, y_names), text_array(source->n_x, x_names),
				 text_array(n_y, y_types),
				 class_type, output->buffer_size,
				 request->normalizing_const,
				 has_classes ? psprintf("'{%d}'", classes->num_classes) : "NULL",
				 hopper_literal(request->distribution_rules ? request->distribution_rules
								: "all_segments"),
				 hopper_literal(segments_text(request, output)),
				 text_array(source->n_x, x_types),
				 hopper_literal(hopper_pack_type_name(summary->x->type)),
				 int_array(summary->x->rank, summary->x->shape),
				 hopper_literal(has_classes ? "class" :
								summary->y_kind == HOPPER_LABEL_VALUE ? "value" : "array"),
				 hopper_literal(hopper_pack_type_name(has_classes ? classes->type
													  : summary->y->type)),
				 has_classes ? "'{}'" : int_array(summary->y->rank, summary->y->shape),
				 output->n_rows, output->partitions,
				 starts_array(request, output,
							  request->n_starts > 0 && training_table == NULL),
				 request->seed, output->bytes,
				 hopper_literal(output_checksum(output)),
				 hopper_literal(training_table), HOPPER_PACK_FORMAT,
				 hopper_literal(hopper_inputs_text(summary->x)),
				 hopper_literal(summary->outputs),
				 hopper_literal(hopper_padding_text(summary->x, x_names[0])),
				 class_counts(output), label_range(summary->ranges),
				 hopper_literal(summary->x->schema ? summary->x->schema->text : NULL),
				 hopper_literal(request->statement),
				 output->segment_rows
				 ? psprintf(", %s", int_array(output->n_all_segments, output->segment_rows)) : "");
	hopper_require_inserted(&name, hopper_execute_params(insert, 1, &names_of_classes));
}
