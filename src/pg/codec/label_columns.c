/*
 * label_columns.c
 *		Labels of models with several outputs, and weights of rows: which column belongs to which
 *		output. A row has them one behind the other as float32, a class by its index.
 *
 * The user names them in dependent_varname: '{"price": "price", "churn": "has_left"}'. A summary
 * keeps what was packed in its column "outputs", as text:
 * [{"name": "price", "column": "price", "type": "double precision", "kind": "value", "shape": [],
 *   "range": [-1.2, 2.5], "mean": 30, "deviation": 24.2, "least": 1, "largest": 90.5},
 *  {"name": "churn", "column": "has_left", "type": "boolean", "kind": "class", "shape": [],
 *   "num_classes": 2, "classes": ["f", "t"]}, {"kind": "weight", "column": "w"}]
 */
#include "pg/codec/rows.h"

#include "utils/json.h"

char *
hopper_outputs_text(int n, const hopper_output *outputs, char *const *types, const char *weight)
{
	StringInfo	text = makeStringInfo();

	if (n == 0)
		return NULL;
	for (int i = 0; i < n; i++)
	{
		const hopper_output *output = &outputs[i];

		appendStringInfoString(text, i ? ", {\"name\": " : "[{\"name\": ");
		escape_json(text, output->name);
		appendStringInfoString(text, ", \"column\": ");
		escape_json(text, output->column);
		appendStringInfoString(text, ", \"type\": ");
		escape_json(text, types[i]);
		appendStringInfo(text, ", \"kind\": \"%s\", \"shape\": [",
						 hopper_label_kind_name(output->kind));
		for (int k = 0; k < output->rank; k++)
			appendStringInfo(text, "%s" INT64_FORMAT, k ? ", " : "", output->shape[k]);
		appendStringInfoChar(text, ']');
		if (output->kind == HOPPER_LABEL_CLASS)
		{
			appendStringInfo(text, ", \"num_classes\": %d, \"classes\": [", output->num_classes);
			for (int k = 0; k < output->n_class_values; k++)
			{
				appendStringInfoString(text, k ? ", " : "");
				if (output->class_values[k] == NULL)
					appendStringInfoString(text, "null");
				else
					escape_json(text, output->class_values[k]);
			}
			appendStringInfoChar(text, ']');
		}
		if (output->has_label_range)
			appendStringInfo(text, ", \"range\": [%.17g, %.17g]", output->least_label,
							 output->largest_label);
		if (output->scale.is_scaled)
			appendStringInfo(text, ", \"mean\": %.17g, \"deviation\": %.17g, \"least\": %.17g,"
							 " \"largest\": %.17g", output->scale.mean, output->scale.deviation,
							 output->scale.least, output->scale.largest);
		appendStringInfoChar(text, '}');
	}
	if (weight)
	{
		appendStringInfoString(text, ", {\"kind\": \"weight\", \"column\": ");
		escape_json(text, weight);
		appendStringInfoChar(text, '}');
	}
	appendStringInfoChar(text, ']');
	return text->data;
}

pg_attribute_noreturn() static void
refuse_outputs(const hopper_name *summary)
{
	hopper_refuse_damaged(summary, "Column \"outputs\" does not describe the labels of a row.");
}

/* Names of classes, of which only the first can be NULL. */
static void
read_classes(const hopper_name *summary, uint64 row, int column, hopper_output *output)
{
	int			n;
	char	  **names = hopper_text_cells(row, column, &n);

	if (n < 1 || n > output->num_classes)
		refuse_outputs(summary);
	for (int i = 1; i < n; i++)
		if (names[i] == NULL)
			refuse_outputs(summary);
	output->n_class_values = n;
	output->class_values = (const char *const *) names;
}

/* Four columns from `column` on; NULL where labels are as the user has them. */
static void
read_scale(const hopper_name *summary, uint64 row, int column, hopper_label_scale *scale)
{
	if (hopper_cell(row, column) == NULL)
		return;
	for (int i = 1; i < 4; i++)
		if (hopper_cell(row, column + i) == NULL)
			refuse_outputs(summary);
	scale->is_scaled = 1;
	scale->mean = hopper_float_value(row, column);
	scale->deviation = hopper_float_value(row, column + 1);
	scale->least = hopper_float_value(row, column + 2);
	scale->largest = hopper_float_value(row, column + 3);
	if (!(isfinite(scale->mean) && isfinite(scale->deviation) && scale->deviation > 0 &&
		  scale->least <= scale->largest))
		refuse_outputs(summary);
}

void
hopper_read_outputs(const hopper_name *summary, const char *text, hopper_data_desc *desc,
					char ***types, char **weight)
{
	hopper_output *read;
	int64		values = 0;
	int			n_outputs;
	uint64		n;

	*types = NULL;
	*weight = NULL;
	if (text == NULL)
		return;
	n = hopper_select("SELECT e.v->>'name', e.v->>'column', e.v->>'kind', e.v->>'type',"
					  " translate(e.v->>'shape', '[]', '{}')::int4[],"
					  " (e.v->>'num_classes')::int4,"
					  " CASE WHEN e.v->>'kind' = 'class' THEN"
					  "  ARRAY(SELECT json_array_elements_text(e.v->'classes')) END,"
					  " (e.v->'range'->>0)::float8, (e.v->'range'->>1)::float8,"
					  " (e.v->>'mean')::float8, (e.v->>'deviation')::float8,"
					  " (e.v->>'least')::float8, (e.v->>'largest')::float8"
					  " FROM json_array_elements(%s::json) WITH ORDINALITY AS e(v, i)"
					  " ORDER BY e.i", hopper_literal(text));
	if (n < 1 || n > HOPPER_MAX_OUTPUTS + 1)
		refuse_outputs(summary);
	n_outputs = (int) n;
	if (strcmp(hopper_text_cell(summary, n - 1, 3), "weight") == 0)
	{
		n_outputs--;
		values = desc->weighted = 1;
		*weight = hopper_text_cell(summary, n - 1, 2);
	}
	if (n_outputs < 1 || n_outputs > HOPPER_MAX_OUTPUTS)
		refuse_outputs(summary);
	read = palloc0(n_outputs * sizeof(hopper_output));
	*types = palloc0(n_outputs * sizeof(char *));
	for (int i = 0; i < n_outputs; i++)
	{
		int64		product;

		read[i].name = hopper_text_cell(summary, i, 1);
		read[i].column = hopper_text_cell(summary, i, 2);
		read[i].kind = hopper_kind_cell(summary, i, 3);
		(*types)[i] = hopper_text_cell(summary, i, 4);
		read[i].rank = hopper_shape_cell(summary, i, 5, read[i].shape);
		product = hopper_shape_count(read[i].rank, read[i].shape);
		if (product > PACK_MAX_BUFFER_BYTES ||
			(read[i].kind == HOPPER_LABEL_ARRAY) != (read[i].rank > 0))
			refuse_outputs(summary);
		if (read[i].kind == HOPPER_LABEL_CLASS)
		{
			read[i].num_classes = (int32) hopper_int_cell(summary, i, 6, 1, PACK_MAX_CLASSES);
			read_classes(summary, i, 7, &read[i]);
		}
		else if (hopper_cell(i, 8) && hopper_cell(i, 9))
		{
			read[i].has_label_range = 1;
			read[i].least_label = hopper_float_value(i, 8);
			read[i].largest_label = hopper_float_value(i, 9);
		}
		if (read[i].kind == HOPPER_LABEL_VALUE)
			read_scale(summary, i, 10, &read[i].scale);
		values += product;
	}
	SPI_freetuptable(SPI_tuptable);
	if (desc->y_kind != HOPPER_LABEL_ARRAY || desc->y_type != HOPPER_FLOAT32 ||
		desc->y_rank != 1 || desc->y_shape[0] != values)
		refuse_outputs(summary);
	desc->n_outputs = n_outputs;
	desc->outputs = read;
}
