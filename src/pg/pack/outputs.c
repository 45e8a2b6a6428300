/*
 * outputs.c
 *		Labels of several outputs, and weights of rows, as one array of a row: an expression that
 *		the server computes, so that what follows sees one column of labels.
 */
#include "pg/pack/pack.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "pg/server/words.h"

/* Each is compared with in turn. */
#define MOST_CLASSES 1000

/* One column an output; false where the argument is no dictionary, or names one output. */
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
		return true;
	}
	if (named.n > HOPPER_MAX_OUTPUTS)
		hopper_complain(&request->complaints, ERRCODE_PROGRAM_LIMIT_EXCEEDED,
						psprintf("argument \"dependent_varname\" names %d outputs", named.n),
						psprintf("The limit is %d.", HOPPER_MAX_OUTPUTS), NULL);
	for (int i = 0; i < named.n; i++)
		if (named.columns[i] != 1)
			hopper_complain(&request->complaints, ERRCODE_INVALID_PARAMETER_VALUE,
							psprintf("argument \"dependent_varname\" names %d columns for output "
									 "\"%s\"", named.columns[i], named.names[i]), NULL,
							"Name one label column an output; several targets can be one array.");
	request->n_outputs = named.n;
	request->output_names = named.names;
	return true;
}

/* What stands in a row for a class: its index. */
static char *
class_expression(const hopper_pack_column *column, const hopper_pack_classes *classes)
{
	char	   *value = hopper_pack_label_expression(column, classes->family);
	StringInfoData text;

	if (classes->n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("no row has a label in column \"%s\"", column->name),
				 errhint("Leave the output out, or pack rows that have such labels.")));
	initStringInfo(&text);
	appendStringInfoString(&text, "CASE");
	for (int i = 0; i < classes->n; i++)
	{
		const char *name = classes->names[i];

		if (name == NULL)
			appendStringInfo(&text, " WHEN %s IS NULL", hopper_identifier(column->name));
		else if (classes->family == PACK_TEXT)
			appendStringInfo(&text, " WHEN %s OPERATOR(pg_catalog.=) %s::pg_catalog.text", value,
							 hopper_literal(name));
		else
			appendStringInfo(&text, " WHEN %s OPERATOR(pg_catalog.=) %s::pg_catalog.int8", value,
							 classes->family == PACK_BOOL ? (name[0] == 't' ? "1" : "0")
							 : hopper_literal(name));
		appendStringInfo(&text, " THEN %d", i);
	}
	appendStringInfoString(&text, " END");
	return text.data;
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
	part->request.num_classes = 0;
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
	hopper_pack_set_labels(part);
	return part;
}

/* The shape of the column's arrays: the first row's, which the others must have. */
static void
learn_shape(const hopper_pack_job *job, const hopper_pack_column *column, hopper_output *output)
{
	const char *name = hopper_identifier(column->name);
	StringInfoData query;

	initStringInfo(&query);
	for (int i = 1; i <= HOPPER_MAX_RANK; i++)
		appendStringInfo(&query, "%s pg_catalog.array_length(%s, %d)", i > 1 ? "," : "", name, i);
	if (hopper_select_at_once("SELECT %s FROM %s WHERE pg_catalog.array_length(%s, 1) IS NOT NULL"
							  " LIMIT 1", query.data, job->source.name.quoted, name) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of \"%s\" holds no arrays with elements", column->name,
						job->source.name.shown)));
	while (output->rank < HOPPER_MAX_RANK && hopper_cell(0, output->rank + 1))
	{
		output->shape[output->rank] = hopper_int_cell(&job->source.name, 0, output->rank + 1, 1,
													  PACK_MAX_BUFFER_BYTES);
		output->rank++;
	}
	SPI_freetuptable(SPI_tuptable);
}

/* An array of numbers, flat; of another shape it is NULL, and the row is refused. */
static char *
array_expression(const hopper_pack_column *column, const hopper_output *output)
{
	const char *name = hopper_identifier(column->name);
	StringInfoData fits;

	initStringInfo(&fits);
	for (int i = 0; i < output->rank; i++)
		appendStringInfo(&fits, "%spg_catalog.array_length(%s, %d) OPERATOR(pg_catalog.=) "
						 INT64_FORMAT, i ? " AND " : "", name, i + 1, output->shape[i]);
	return psprintf("CASE WHEN %s THEN ARRAY(SELECT pg_catalog.unnest(%s)::pg_catalog.float4)"
					" ELSE ARRAY[NULL]::pg_catalog.float4[] END", fits.data, name);
}

/* Before anything is read, because the error can say why. */
static void
check_weights(const hopper_pack_job *job, const hopper_pack_column *column)
{
	const char *name = hopper_identifier(column->name);
	hopper_pack_source source = job->source;
	StringInfoData query;

	if (!hopper_pack_number_type(column->type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\" is of type %s, which cannot be a weight",
						column->name, source.name.shown, column->sql_type),
				 errhint("Weights are numbers from 0 on.")));
	initStringInfo(&query);
	appendStringInfo(&query, "SELECT %s::pg_catalog.text", name);
	hopper_pack_append_row_names(&source, &query);
	appendStringInfo(&query, " FROM %s WHERE (%s IS NULL OR NOT (%s::pg_catalog.float8"
					 " OPERATOR(pg_catalog.>=) 0::pg_catalog.float8 AND %s::pg_catalog.float8"
					 " OPERATOR(pg_catalog.<) 3e38::pg_catalog.float8))", source.name.quoted, name,
					 name, name);
	if (job->request.null_labels == PACK_NULL_SKIP)
		for (int i = 0; i < source.n_labels - 1; i++)
			appendStringInfo(&query, " AND %s IS NOT NULL",
							 hopper_identifier(source.labels[i].name));
	if (hopper_select_at_once("%s LIMIT 1", query.data) == 0)
		return;
	source.tuple = SPI_tuptable->vals[0];
	source.desc = SPI_tuptable->tupdesc;
	source.first_key = 2;
	source.row_number = 1;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of \"%s\" holds a weight that is NULL, negative or not finite",
					column->name, source.name.shown),
			 errdetail("%s has %s.", source.n_keys > 0 || source.has_ctid
					   ? hopper_pack_row_name(&source) : "A row",
					   hopper_cell(0, 1) ? hopper_cell(0, 1) : "NULL"),
			 errhint("Weights are numbers from 0 on; a view can compute them.")));
}

void
hopper_pack_set_outputs(hopper_pack_job *job)
{
	hopper_pack_source *source = &job->source;
	int			n = source->n_labels - (job->request.weight_name ? 1 : 0);
	hopper_output *outputs = palloc0(sizeof(hopper_output) * n);
	int64		count = 0;
	StringInfoData expression;
	char	   *whole = NULL;

	initStringInfo(&expression);
	job->parts = palloc0(sizeof(hopper_pack_job *) * n);
	for (int i = 0; i < n; i++)
	{
		const hopper_pack_column *column = &source->labels[i];
		hopper_pack_job *part = job->parts[i] = part_job(job, i);
		hopper_output *output = &outputs[i];
		char	   *own;
		int64		values = 1;

		output->name = job->request.output_names ? job->request.output_names[i] : column->name;
		output->column = column->name;
		output->kind = part->y_kind;
		if (part->y_kind == HOPPER_LABEL_CLASS)
		{
			if (part->classes.n > MOST_CLASSES)
				ereport(ERROR,
						(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						 errmsg("column \"%s\" of \"%s\" holds %d classes", column->name,
								source->name.shown, part->classes.n),
						 errdetail("Beside other outputs or weights at most %d are possible.",
								   MOST_CLASSES)));
			output->num_classes = part->classes.num_classes;
			output->n_class_values = part->classes.n;
			output->class_values = (const char *const *) part->classes.names;
			own = psprintf("ARRAY[%s]::pg_catalog.float4[]",
						   class_expression(column, &part->classes));
		}
		else if (part->y_kind == HOPPER_LABEL_VALUE)
			own = psprintf("ARRAY[%s]::pg_catalog.float4[]", hopper_identifier(column->name));
		else
		{
			if (job->request.validation)
			{
				output->rank = part->request.training.desc.y_rank;
				memcpy(output->shape, part->request.training.desc.y_shape, sizeof(output->shape));
			}
			else
				learn_shape(job, column, output);
			own = array_expression(column, output);
			for (int k = 0; k < output->rank; k++)
			{
				if (output->shape[k] > PACK_MAX_BUFFER_BYTES / values)
					ereport(ERROR,
							(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
							 errmsg("labels of column \"%s\" of \"%s\" are too large",
									column->name, source->name.shown)));
				values *= output->shape[k];
			}
		}
		whole = whole ? psprintf("pg_catalog.array_cat(%s, %s)", whole, own) : own;
		count += values;
	}
	if (job->request.weight_name)
	{
		const hopper_pack_column *weight = &source->labels[n];

		check_weights(job, weight);
		whole = psprintf("pg_catalog.array_cat(%s, ARRAY[%s]::pg_catalog.float4[])", whole,
						 hopper_identifier(weight->name));
		count++;
	}
	source->y.expression = whole;
	hopper_pack_values_init(&job->y, 1, &source->y, source->name.shown);
	job->y.type = HOPPER_FLOAT32;
	hopper_pack_values_set_shape(&job->y, 1, &count);
	job->y_kind = HOPPER_LABEL_ARRAY;
	job->n_outputs = n;
	job->outputs = outputs;
}

char *
hopper_pack_outputs_summary(const hopper_pack_job *job)
{
	char	  **types = palloc0(sizeof(char *) * (job->n_outputs + 1));

	for (int i = 0; i < job->n_outputs; i++)
		types[i] = job->source.labels[i].sql_type;
	return hopper_outputs_text(job->n_outputs, job->outputs, types, job->request.weight_name);
}
