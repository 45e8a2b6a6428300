/*
 * summary.c
 *		<output>_summary: one row that says what a packed table holds.
 */
#include "pg/pack/pack.h"

#include "pg/codec/schema.h"

/* Names, or SQL types. */
static hopper_param
texts_of(int n, const hopper_pack_column *columns, bool types)
{
	const char **texts = palloc(sizeof(char *) * n);

	for (int i = 0; i < n; i++)
		texts[i] = types ? columns[i].sql_type : columns[i].name;
	return hopper_texts_param(n, texts);
}

static hopper_param
label_range(const hopper_pack_ranges *ranges)
{
	const double ends[2] = {ranges->least_label, ranges->largest_label};

	return HOPPER_IF(ranges->has_label_range,
					 HOPPER_PARAM(FLOAT8ARRAYOID, hopper_floats_datum(2, ends)));
}

static hopper_param
starts_param(const hopper_pack_request *request, const hopper_pack_output *output, bool given)
{
	const int32 *written = given ? request->starts : output->starts;
	int			n = given ? request->n_starts : written ? output->n_starts : output->partitions;
	int64	   *starts = palloc(sizeof(int64) * n);

	for (int i = 0; i < n; i++)
		starts[i] = written ? written[i] : i;
	return hopper_numbers_param(INT4OID, n, starts);
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
static Oid
class_type(const hopper_pack_column *y, bool has_classes)
{
	return !has_classes || y->type == BPCHAROID || y->type == NAMEOID || y->type == CHAROID
		? TEXTOID : y->type;
}

/*
 * Classes and, as NULLs, the padding up to num_classes. Each is read by itself: what "NULL" means
 * within the text of an array is a setting.
 */
static hopper_param
class_values(const hopper_pack_classes *classes, Oid type)
{
	int			n = classes->num_classes;
	Datum	   *values = palloc0(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);

	for (int i = 0; i < n; i++)
	{
		nulls[i] = i >= classes->n || classes->names[i] == NULL;
		if (!nulls[i])
			values[i] = hopper_value_of(type, classes->names[i]);
	}
	return HOPPER_PARAM(get_array_type(type), hopper_array(type, n, values, nulls));
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
	const char *type = psprintf("%s[]", hopper_format_type_qualified(class_type(y, has_classes)));

	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_RANDOMLY, name->quoted,
				hopper_layout_columns(&hopper_packed_summary_layout, &class_name, &type));
	hopper_comment_layout(name, &hopper_packed_summary_layout, &class_name,
						"how the table was packed");
}

/* Hash over the checksums of all buffers. */
static char *
output_checksum(const hopper_pack_output *output)
{
	uint8_t		hash[16];

	/* the hash of a row with these bytes and no label */
	hopper_core()->row_key(0, output->checksums.data, output->checksums.len, "", 0, hash);
	return hopper_hex(hash, sizeof(hash));
}

static char *
outputs_text(const hopper_pack_job *job)
{
	char	  **types = palloc0(sizeof(char *) * (job->n_outputs + 1));

	for (int i = 0; i < job->n_outputs; i++)
		types[i] = job->source.labels[i].sql_type;
	return hopper_outputs_text(job->n_outputs, job->outputs, types, job->request.weight_name);
}

void
hopper_pack_summary_write(const hopper_pack_job *job, const hopper_pack_output *output,
						  const char *training_table)
{
	const hopper_pack_request *request = &job->request;
	const hopper_pack_source *source = &job->source;
	const hopper_pack_values *x = &job->x;
	const hopper_pack_classes *classes = &job->classes;
	bool		has_classes = job->y_kind == HOPPER_LABEL_CLASS;
	hopper_name name = hopper_name_with_suffix(&output->table, "summary");
	int			n_y = source->n_labels > 0 ? job->n_outputs : 1;
	const hopper_pack_column *y = source->n_labels > 0 ? source->labels : &source->y;
	/* The last one is for segments alone. */
	const hopper_param row[] = {
		hopper_text_param(source->name.quoted),
		hopper_text_param(output->named),
		texts_of(n_y, y, false),
		texts_of(source->n_x, source->x, false),
		texts_of(n_y, y, true),
		has_classes ? class_values(classes, class_type(&source->y, true))
		: HOPPER_NULL(TEXTARRAYOID),
		HOPPER_INT4(output->buffer_size),
		HOPPER_PARAM(FLOAT4OID, Float4GetDatum(request->normalizing_const)),
		hopper_numbers_param(INT4OID, 1, has_classes ? &(int64) {classes->num_classes} : NULL),
		hopper_text_param(request->distribution_rules ? request->distribution_rules
						  : "all_segments"),
		hopper_text_param(segments_text(request, output)),
		texts_of(source->n_x, source->x, true),
		hopper_text_param(hopper_pack_type_name(x->type)),
		hopper_numbers_param(INT4OID, x->rank, x->shape),
		hopper_text_param(hopper_label_kind_name(job->y_kind)),
		hopper_text_param(hopper_pack_type_name(has_classes ? classes->type : job->y.type)),
		hopper_numbers_param(INT4OID, has_classes ? 0 : job->y.rank, job->y.shape),
		HOPPER_INT8(output->n_rows),
		HOPPER_INT4(output->partitions),
		starts_param(request, output, request->n_starts > 0 && training_table == NULL),
		HOPPER_INT8(request->seed),
		HOPPER_INT8(output->bytes),
		hopper_text_param(output_checksum(output)),
		hopper_text_param(training_table),
		HOPPER_INT4(HOPPER_PACK_FORMAT),
		hopper_text_param(hopper_inputs_text(x)),
		hopper_text_param(outputs_text(job)),
		hopper_text_param(hopper_padding_text(x, source->x[0].name)),
		hopper_numbers_param(INT8OID, output->n_class_counts, output->class_counts),
		label_range(&job->ranges),
		x->schema ? HOPPER_PARAM(JSONBOID, hopper_value_of(JSONBOID, x->schema->text))
		: HOPPER_NULL(JSONBOID),
		hopper_text_param(request->statement),
		hopper_numbers_param(INT8OID, output->n_all_segments, output->segment_rows),
	};
	hopper_insert_params(&name, hopper_packed_summary_layout.n, row);
}
