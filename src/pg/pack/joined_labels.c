/*
 * joined_labels.c
 *		Labels of several outputs, and weights of rows: each is read as if there were no other, and
 *		they lie one behind the other in a row, as float32.
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

/* Of the weights: numbers, as labels are. */
static hopper_pack_job *
weight_job(const hopper_pack_job *job, const hopper_pack_column *column)
{
	hopper_pack_job *part = palloc0(sizeof(hopper_pack_job));

	if (!hopper_pack_number_type(column->type))
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" of \"%s\" is of type %s, which cannot be a weight",
							column->name, job->source.name.shown, column->sql_type),
					 errhint("Weights are numbers from 0 on."));
	part->source.y = *column;
	part->y_kind = HOPPER_LABEL_VALUE;
	hopper_pack_values_init(&part->y, 1, &part->source.y, job->source.name.shown);
	part->y.type = HOPPER_FLOAT32;
	hopper_pack_values_set_shape(&part->y, 0, NULL);
	return part;
}

static void
set_outputs(hopper_pack_job *job)
{
	job->n_outputs = job->source.n_labels - (job->request.weight_name ? 1 : 0);
	job->outputs = palloc0(sizeof(hopper_output) * job->n_outputs);
	job->parts = palloc0(sizeof(hopper_pack_job *) * job->source.n_labels);
	job->y_kind = HOPPER_LABEL_ARRAY;
	for (int i = 0; i < job->source.n_labels; i++)
		job->parts[i] = i < job->n_outputs ? part_job(job, i)
			: weight_job(job, &job->source.labels[i]);
}

/* What the rows say of one output; its labels become float32. */
static void
read_output(const hopper_pack_job *job, hopper_pack_job *part, hopper_output *output)
{
	const hopper_pack_column *column = &part->source.y;

	hopper_pack_read_label(part);
	output->column = column->name;
	output->kind = part->y_kind;
	part->classes.type = part->y.type = HOPPER_FLOAT32;
	if (part->y_kind == HOPPER_LABEL_CLASS)
	{
		output->num_classes = part->classes.num_classes;
		output->n_class_values = part->classes.n;
		output->class_values = (const char *const *) part->classes.names;
		if (part->classes.n == 0)
			hopper_raise(ERRCODE_NO_DATA_FOUND,
						 errmsg("no row has a label in column \"%s\"", column->name),
						 errhint("Leave the output out, or pack rows that have such labels."));
		return;
	}
	if (!part->y.shape_known)
	{
		int			rank = hopper_pack_first_shape(job, column, "", output->shape);

		hopper_pack_values_learn_shape(&part->y, rank, output->shape, pstrdup("another row"));
	}
	output->rank = part->y.rank;
	memcpy(output->shape, part->y.shape, sizeof(output->shape));
	if (output->scale.is_scaled)
	{
		part->y.mean = output->scale.mean;
		part->y.deviation = output->scale.deviation;
	}
}

static void
read_outputs(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	int64		count = source->n_labels - job->n_outputs;

	for (int i = 0; i < job->n_outputs; i++)
	{
		hopper_output *output = &job->outputs[i];

		output->name = job->request.output_names ? job->request.output_names[i]
			: source->labels[i].name;
		if (job->request.validation)
			output->scale = job->request.training.desc.outputs[i].scale;
		read_output(job, job->parts[i], output);
		count += hopper_shape_count(output->rank, output->shape);
	}
	hopper_pack_values_init(&job->y, 1, &source->y, source->name.shown);
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
