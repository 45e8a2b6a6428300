/*
 * joined_labels.c
 *		Labels of several outputs, and weights of rows, as one array of a row: an expression that
 *		the server computes, so that what follows sees one column of labels.
 */
#include "pg/pack/pack.h"

#include "utils/json.h"

static void
name_outputs(hopper_pack_request *request, int n, char **names)
{
	if (n > HOPPER_MAX_OUTPUTS)
		hopper_complain(&request->complaints, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
						psprintf("argument \"dependent_varname\" names %d outputs", n),
						psprintf("The limit is %d.", HOPPER_MAX_OUTPUTS), NULL);
	request->n_outputs = n;
	request->output_names = names;
}

void
hopper_pack_name_outputs(hopper_pack_request *request)
{
	char	  **names = palloc(sizeof(char *) * list_length(request->y_names));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, request->y_names)
		names[n++] = lfirst(cell);
	name_outputs(request, n, names);
}

/*
 * One column an output; false where the argument is no dictionary. One entry is an output with a
 * name of its own, unless that is the column's.
 */
bool
hopper_pack_outputs_argument(text *value, hopper_pack_request *request)
{
	hopper_pack_inputs named;
	List	   *columns;

	if (!hopper_inputs_argument(value, "dependent_varname", &named, &columns))
		return false;
	request->y_names = columns;
	if (named.n == 0)
	{
		if (list_length(columns) > 1)
			hopper_complain(&request->complaints, ERRCODE_INVALID_PARAMETER_VALUE,
							"argument \"dependent_varname\" names several columns for one output",
							NULL, "Name one label column an output; several targets can be one "
							"array.");
		else if (strcmp(named.names[0], linitial(columns)) != 0)
			name_outputs(request, 1, named.names);
		return true;
	}
	for (int i = 0; i < named.n; i++)
		if (named.columns[i] != 1)
			hopper_complain(&request->complaints, ERRCODE_INVALID_PARAMETER_VALUE,
							psprintf("argument \"dependent_varname\" names %d columns for output "
									 "\"%s\"", named.columns[i], named.names[i]), NULL,
							"Name one label column an output; several targets can be one array.");
	name_outputs(request, named.n, named.names);
	return true;
}

/*
 * What stands in a row for a class: its index, NULL for none of them. A jsonb is a dictionary that
 * is searched by halving.
 */
static char *
class_expression(const hopper_pack_column *column, const hopper_pack_classes *classes)
{
	char	   *value = hopper_pack_label_expression(column, classes->family);
	const char *when_null = "NULL";
	StringInfo	indexes = makeStringInfo();

	if (classes->n == 0)
		hopper_raise(ERRCODE_NO_DATA_FOUND,
					 errmsg("no row has a label in column \"%s\"", column->name),
					 errhint("Leave the output out, or pack rows that have such labels."));
	for (int i = 0; i < classes->n; i++)
	{
		const char *name = classes->names[i];

		if (name == NULL)
		{
			when_null = psprintf("%d", i);
			continue;
		}
		appendStringInfoString(indexes, indexes->len ? ", " : "{");
		escape_json(indexes, classes->family != PACK_BOOL ? name : name[0] == 't' ? "1" : "0");
		appendStringInfo(indexes, ": %d", i);
	}
	appendStringInfoString(indexes, indexes->len ? "}" : "{}");
	return psprintf("CASE WHEN %s IS NULL THEN %s ELSE (%s::pg_catalog.jsonb"
					" OPERATOR(pg_catalog.->>) (%s)::pg_catalog.text)::pg_catalog.float4 END",
					hopper_identifier(column->name), when_null, hopper_literal(indexes->data),
					value);
}

/* The job of packing this label alone. */
static hopper_pack_job *
part_job(const hopper_pack_job *job, int i)
{
	const hopper_data_desc *trained = &job->request.training.desc;
	hopper_pack_job *part = palloc0(sizeof(hopper_pack_job));

	part->request = job->request;
	part->request.n_outputs = 0;
	part->request.weight_name = NULL;
	part->request.num_classes = job->request.output_classes ? job->request.output_classes[i]
		: job->request.num_classes;
	part->source = job->source;
	part->source.y = job->source.labels[i];
	part->source.n_labels = 0;
	if (job->request.validation)
	{
		const hopper_output *output = &trained->outputs[i];
		hopper_data_desc *desc = &part->request.training.desc;

		desc->n_outputs = 0;
		desc->y_kind = output->kind;
		desc->y_type = HOPPER_FLOAT32;
		desc->y_rank = output->rank;
		memcpy(desc->y_shape, output->shape, sizeof(desc->y_shape));
		desc->num_classes = output->num_classes;
		desc->n_class_values = output->n_class_values;
		desc->class_values = output->class_values;
		part->request.training.y_sql_type = job->request.training.y_types[i];
		part->request.training.class_values_type = InvalidOid;
		if (output->kind == HOPPER_LABEL_VALUE)
			part->request.label_kind = HOPPER_LABEL_VALUE;
	}
	/* one has the kind that the argument says; of several each its own */
	if (job->request.n_outputs > 1 &&
		!(job->request.validation && part->request.label_kind == HOPPER_LABEL_VALUE))
		part->request.label_kind =
			part->request.label_kind == HOPPER_LABEL_VALUE &&
			!hopper_pack_number_type(part->source.y.type) ? 0 : part->request.label_kind;
	hopper_pack_judge_label(part);
	hopper_pack_set_label(part);
	return part;
}

/* An array of numbers, flat; of another shape it is NULL, and the row is refused. */
static char *
array_expression(const hopper_pack_column *column, const hopper_output *output)
{
	const char *name = hopper_identifier(column->name);

	return psprintf("CASE WHEN %s THEN ARRAY(SELECT %s)"
					" ELSE ARRAY[NULL]::pg_catalog.float4[] END",
					hopper_pack_shape_condition(column, output),
					hopper_pack_number_expression(getBaseType(get_element_type(column->type)),
												  psprintf("pg_catalog.unnest(%s)", name),
												  "float4"));
}

/* A number, scaled as a label without others is, in double. */
static char *
value_expression(const hopper_pack_column *column, const hopper_label_scale *scale)
{
	const char *name = hopper_identifier(column->name);

	if (!scale->is_scaled)
		return psprintf("ARRAY[%s]", hopper_pack_number_expression(column->type, name, "float4"));
	return psprintf("ARRAY[((%s OPERATOR(pg_catalog.-) '%.17g'::pg_catalog.float8)"
					" OPERATOR(pg_catalog./) '%.17g'::pg_catalog.float8)::pg_catalog.float4]",
					hopper_pack_number_expression(column->type, name, "float8"), scale->mean,
					scale->deviation);
}

static void
set_outputs(hopper_pack_job *job)
{
	job->n_outputs = job->source.n_labels - (job->request.weight_name ? 1 : 0);
	job->outputs = palloc0(sizeof(hopper_output) * job->n_outputs);
	job->parts = palloc0(sizeof(hopper_pack_job *) * job->n_outputs);
	job->y_kind = HOPPER_LABEL_ARRAY;
	for (int i = 0; i < job->n_outputs; i++)
		job->parts[i] = part_job(job, i);
}

static void
read_outputs(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	hopper_output *outputs = job->outputs;
	int			n = job->n_outputs;
	int64		count = 0;
	char	  **expressions = palloc0(sizeof(char *) * n);
	char	   *whole = NULL;

	for (int i = 0; i < n; i++)
	{
		const hopper_pack_column *column = &source->labels[i];
		hopper_pack_job *part = job->parts[i];
		hopper_output *output = &outputs[i];
		char	   *own;
		int64		values = 1;

		hopper_pack_read_label(part);
		output->name = job->request.output_names ? job->request.output_names[i] : column->name;
		output->column = column->name;
		output->kind = part->y_kind;
		if (part->y_kind == HOPPER_LABEL_CLASS)
		{
			output->num_classes = part->classes.num_classes;
			output->n_class_values = part->classes.n;
			output->class_values = (const char *const *) part->classes.names;
			expressions[i] = class_expression(column, &part->classes);
			own = psprintf("ARRAY[%s]::pg_catalog.float4[]", expressions[i]);
		}
		else if (part->y_kind == HOPPER_LABEL_VALUE)
		{
			if (job->request.validation)
				output->scale = job->request.training.desc.outputs[i].scale;
			own = value_expression(column, &output->scale);
		}
		else
		{
			if (job->request.validation)
			{
				output->rank = part->request.training.desc.y_rank;
				memcpy(output->shape, part->request.training.desc.y_shape, sizeof(output->shape));
			}
			else
				output->rank = hopper_pack_first_shape(job, column, "", output->shape);
			own = array_expression(column, output);
			values = hopper_shape_count(output->rank, output->shape);
			if (values > PACK_MAX_BUFFER_BYTES)
				hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
							 errmsg("labels of column \"%s\" of \"%s\" are too large",
									column->name, source->name.shown));
		}
		whole = whole ? psprintf("pg_catalog.array_cat(%s, %s)", whole, own) : own;
		count += values;
	}
	hopper_pack_check_labels(job, n, outputs, expressions);
	if (job->request.weight_name)
	{
		const hopper_pack_column *weight = &source->labels[n];

		hopper_pack_check_weights(job, weight);
		whole = psprintf("pg_catalog.array_cat(%s, ARRAY[%s])", whole,
						 hopper_pack_number_expression(weight->type,
													   hopper_identifier(weight->name),
													   "float4"));
		count++;
	}
	source->y.expression = whole;
	hopper_pack_values_init(&job->y, 1, &source->y, source->name.shown);
	job->y.type = HOPPER_FLOAT32;
	hopper_pack_values_set_shape(&job->y, 1, &count);
}

void
hopper_pack_set_labels(hopper_pack_job *job)
{
	if (job->source.n_labels == 0)
		hopper_pack_set_label(job);
	else if (job->parts == NULL)
		set_outputs(job);
}

void
hopper_pack_read_labels(hopper_pack_job *job)
{
	if (job->source.n_labels > 0)
		read_outputs(job);
	else
		hopper_pack_read_label(job);
}

char *
hopper_pack_outputs_summary(const hopper_pack_job *job)
{
	char	  **types = palloc0(sizeof(char *) * (job->n_outputs + 1));

	for (int i = 0; i < job->n_outputs; i++)
		types[i] = job->source.labels[i].sql_type;
	return hopper_outputs_text(job->n_outputs, job->outputs, types, job->request.weight_name);
}
