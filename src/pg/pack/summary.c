/*
 * summary.c
 *		<output>_summary: one row that says what a packed table holds.
 *
 * Column by column: MADlib's, then ours.
 *
 *	source_table, output_table text		ready for a statement: quoted where needed
 *	dependent_varname text[]			label column
 *	independent_varname text[]			feature columns of the source
 *	dependent_vartype text[]			SQL type of the label column
 *	<label>_class_values <type>[]		classes in order, NULL at the end: padding of num_classes
 *	buffer_size int						rows of the largest buffer
 *	normalizing_const real				features are divided by it when they are read
 *	num_classes int[]					width of the one-hot form; NULL without classes
 *	distribution_rules, __internal_gpu_config__ text
 *	independent_vartype text[]			SQL types of the feature columns
 *	independent_type text				packed type: uint8, int16, int32, int64, float32, float64
 *	independent_shape int[]				of one example
 *	inputs text							JSON, where an example has several inputs (codec/inputs.c)
 *	outputs text						JSON, where there are several or weights (codec/outputs.c)
 *	padding text						JSON, where sequences are filled up (codec/padding.c)
 *	label_kind text						class, value, array
 *	label_type text, label_shape int[]	as for the features; {} is a single value
 *	n_rows bigint, partitions int
 *	starts int[]						first partition of each run of partitions
 *	seed bigint
 *	packed_bytes bigint					features and labels
 *	checksum text						equal for equal packed data
 *	training_table text					of a validation table: where its classes come from
 *	format_version int
 *	class_counts bigint[]				rows of each class
 *	label_range float8[]				of numbers, and of arrays: the least and the largest
 *	segment_rows bigint[]				Greenplum: rows on each segment, from segment 0
 */
#include "pg/pack/pack.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* NULL pointers are NULL elements. */
static Datum
text_array_datum(int n, char *const *values)
{
	Datum	   *datums = palloc(sizeof(Datum) * (n + 1));
	bool	   *nulls = palloc(sizeof(bool) * (n + 1));
	int			lower = 1;
	ArrayType  *array;
	int			i;

	for (i = 0; i < n; i++)
	{
		nulls[i] = values[i] == NULL;
		datums[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(values[i]);
	}
	array = construct_md_array(datums, nulls, 1, &n, &lower, TEXTOID, -1, false, 'i');
	return PointerGetDatum(array);
}

/* text[] as an SQL literal; without NULLs, which array_nulls may take for text. */
static const char *
text_array(int n, char *const *values)
{
	return hopper_literal(OidOutputFunctionCall(F_ARRAY_OUT, text_array_datum(n, values)));
}

static const char *
int_array(int n, const int64 *values)
{
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
		appendStringInfo(&text, "%s" INT64_FORMAT, i ? "," : "", values[i]);
	return psprintf("'{%s}'", text.data);
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
	StringInfoData text;

	if (request->distribution_rules == NULL ||
		strcmp(request->distribution_rules, "all_segments") == 0)
		return "all_segments";
	initStringInfo(&text);
	for (int i = 0; i < output->n_segments; i++)
		appendStringInfo(&text, "%s%d", i ? "," : "{", output->segments[i]);
	appendStringInfoChar(&text, '}');
	return text.data;
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
	return text_array_datum(classes->num_classes, names);
}

void
hopper_pack_summary_create(const hopper_name *name, const hopper_pack_column *y, bool has_classes)
{
	char	   *class_name = hopper_class_values_name(y->name);

	hopper_exec("CREATE TABLE %s ("
				"source_table pg_catalog.text, output_table pg_catalog.text,"
				" dependent_varname pg_catalog.text[], independent_varname pg_catalog.text[],"
				" dependent_vartype pg_catalog.text[], %s %s[],"
				" buffer_size pg_catalog.int4, normalizing_const pg_catalog.float4,"
				" num_classes pg_catalog.int4[], distribution_rules pg_catalog.text,"
				" __internal_gpu_config__ pg_catalog.text,"
				" independent_vartype pg_catalog.text[], independent_type pg_catalog.text,"
				" independent_shape pg_catalog.int4[], label_kind pg_catalog.text,"
				" label_type pg_catalog.text, label_shape pg_catalog.int4[],"
				" n_rows pg_catalog.int8, partitions pg_catalog.int4, starts pg_catalog.int4[],"
				" seed pg_catalog.int8, packed_bytes pg_catalog.int8, checksum pg_catalog.text,"
				" training_table pg_catalog.text, format_version pg_catalog.int4,"
				" inputs pg_catalog.text, outputs pg_catalog.text,"
				" padding pg_catalog.text, class_counts pg_catalog.int8[],"
				" label_range pg_catalog.float8[]%s)"
				HOPPER_DISTRIBUTED_RANDOMLY,
				name->quoted, hopper_identifier(class_name), class_values_type(y, has_classes),
				HOPPER_DATA_ON_SEGMENTS ? ", segment_rows pg_catalog.int8[]" : "");
	hopper_comment_table(name, "how the table was packed");
	hopper_comment_column(name, class_name, "classes, in the order of their indexes");
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
	Oid			parameter_types[1] = {TEXTARRAYOID};
	Datum		parameters[1] = {0};
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
		parameters[0] = class_values(classes);
	insert =
		psprintf("INSERT INTO %s VALUES (%s, %s, %s, %s, %s, $1::%s[], %d,"
				 " %.9g, %s, %s, %s, %s, %s, %s, %s, %s, %s,"
				 " " INT64_FORMAT ", %d, %s, '" INT64_FORMAT "', " INT64_FORMAT ","
				 " %s, %s, %d, %s, %s, %s, %s, %s%s)",
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
				 hopper_literal(hopper_pack_output_checksum(output)),
				 hopper_literal(training_table), HOPPER_PACK_FORMAT,
				 hopper_literal(hopper_inputs_text(summary->x)),
				 hopper_literal(summary->outputs),
				 hopper_literal(hopper_padding_text(summary->x, x_names[0])),
				 class_counts(output), label_range(summary->ranges),
				 output->segment_rows
				 ? psprintf(", %s", int_array(output->n_all_segments, output->segment_rows)) : "");
	if (SPI_execute_with_args(insert, 1, parameter_types, parameters, has_classes ? " " : "n",
							  false, 0) != SPI_OK_INSERT)
		elog(ERROR, "inserting into \"%s\" failed", name.shown);
}
