/*
 * model.c
 *		From a model's outputs to classes and values.
 */
#include "pg/predict/predict.h"

/* What one output stands for; `output` may be NULL: the labels are those of all. */
static void
set_output(const hopper_trained *trained, int i, hopper_predict_model *model)
{
	const hopper_data_desc *desc = &trained->data.desc;
	const hopper_output *output = desc->n_outputs > 0 ? &desc->outputs[i] : NULL;
	int32		kind = output ? output->kind : desc->y_kind;
	hopper_output_link link;

	HOPPER_CORE(output_link, trained->config.model_arch, trained->config.model_arch_size,
				trained->config.compile_params, desc, i, &link);
	model->link = (hopper_link) link.link;
	model->link_width = link.width;
	model->first = link.first;
	model->count = (int) link.count;
	model->class_name = output == NULL ? desc->y_column : output->name;
	model->is_value = link.meaning == HOPPER_MEANS_VALUES;
	if (output)
		model->scale = output->scale;
	else if (model->schema)
		model->scale = model->schema->info.label.scale;
	model->is_array = kind == HOPPER_LABEL_ARRAY;
	model->is_each = link.meaning == HOPPER_MEANS_CLASS_EACH;
	model->rank = link.rank;
	memcpy(model->shape, link.shape, sizeof(model->shape));
	/* as the labels are, so that the two can be compared */
	model->class_type = desc->y_type == HOPPER_INT16 ? INT2OID
		: desc->y_type == HOPPER_INT64 ? INT8OID : INT4OID;
	model->n_classes = output ? output->num_classes : desc->num_classes;
	model->n_class_values = output ? output->n_class_values : desc->n_class_values;
	model->class_values = output ? output->class_values : desc->class_values;
}

void
hopper_predict_from_trained(const hopper_trained *trained, hopper_predict_model *model)
{
	const hopper_data_desc *desc = &trained->data.desc;

	memset(model, 0, sizeof(*model));
	model->shown = trained->outputs.model.shown;
	model->model_arch = trained->config.model_arch;
	model->model_arch_size = trained->config.model_arch_size;
	model->weights = trained->weights;
	model->data = trained->data;
	if (trained->data.schema_text)
		model->schema = hopper_schema_open(trained->data.schema_text);
	if (desc->n_outputs < 2)
	{
		set_output(trained, 0, model);
		return;
	}
	model->class_name = desc->y_column;
	model->n_parts = desc->n_outputs;
	model->parts = palloc0(sizeof(hopper_predict_model) * model->n_parts);
	for (int i = 0; i < model->n_parts; i++)
	{
		model->parts[i].shown = model->shown;
		set_output(trained, i, &model->parts[i]);
	}
}

void
hopper_predict_bind_outputs(hopper_predict_model *model, int n_outputs)
{
	for (int i = 0; i < model->n_parts; i++)
	{
		hopper_predict_model *part = &model->parts[i];

		if (part->first < 0 || part->count < 1 || part->first + part->count > n_outputs)
			elog(ERROR, "output %d of model \"%s\" is not among its %d values", i + 1,
				 model->shown, n_outputs);
		hopper_predict_bind_outputs(part, part->count);
	}
	if (model->is_value || model->n_parts > 0)
		return;
	if (model->is_each)
	{
		if (model->link_width < 1 || model->count != n_outputs ||
			n_outputs % model->link_width != 0)
			elog(ERROR, "%d values of model \"%s\" are no rows of " INT64_FORMAT, n_outputs,
				 model->shown, model->link_width);
		n_outputs = (int) model->link_width;
	}
	if (model->n_classes == 0)
		model->n_classes = model->is_each && n_outputs == 1 ? 2 : n_outputs;
	/* A single sigmoid unit is the probability of the second of two classes. */
	if (model->n_classes == n_outputs || (model->n_classes == 2 && n_outputs == 1))
		return;
	hopper_wrong(errmsg("model \"%s\" has %s but there %s %s", model->shown,
						hopper_plural(n_outputs, "output", "outputs"),
						model->n_classes == 1 ? "is" : "are",
						hopper_plural(model->n_classes, "class value", "class values")),
				 errhint("Give one class value an output, or two for a single sigmoid output."));
}

int32
hopper_predict_bytes_type(const hopper_data_desc *trained)
{
	return trained->x_type ? trained->x_type : HOPPER_FLOAT32;
}

const char *
hopper_predict_class_name(const hopper_predict_model *model, int class)
{
	if (model->n_class_values == 0)
		return psprintf("%d", class);
	return class >= 0 && class < model->n_class_values ? model->class_values[class] : NULL;
}

char *
hopper_predict_expectation(const hopper_predict_model *model)
{
	const char *element;
	StringInfo	words = makeStringInfo();

	switch (model->data.desc.x_type)
	{
		case HOPPER_INT16:
			element = "smallint";
			break;
		case HOPPER_INT32:
			element = "integer";
			break;
		case HOPPER_INT64:
			element = "bigint";
			break;
		case HOPPER_FLOAT64:
			element = "double precision";
			break;
		default:
			element = "real";
			break;
	}
	if (model->data.desc.x_rank == 1)
		return psprintf("%s of numbers or %s[" INT64_FORMAT "]",
						hopper_plural(model->data.desc.x_shape[0], "column", "columns"), element,
						model->data.desc.x_shape[0]);
	appendStringInfoString(words, element);
	for (int i = 0; i < model->data.desc.x_rank; i++)
		appendStringInfo(words, "[" INT64_FORMAT "]", model->data.desc.x_shape[i]);
	if (model->data.desc.x_rank == 0)
		appendStringInfoString(words, "[]");
	appendStringInfoString(words, " or an image bytea");
	return words->data;
}

/* The column, where it has a name, and what the model was trained on. */
static int
features_detail(const hopper_predict_model *model, const hopper_pack_column *column)
{
	StringInfo	words = makeStringInfo();

	if (column && column->name)
		appendStringInfo(words, "Column \"%s\" is of type %s.", column->name, column->sql_type);
	if (model->data.n_x_columns > 0)
		appendStringInfo(words, "%sThe features are %s.", words->len ? " " : "",
						 hopper_columns_words(model->data.n_x_columns, model->data.x_columns));
	if (words->len > 0)
		errdetail("%s", words->data);	/* returns nothing on some servers */
	return 0;
}

void
hopper_predict_check_types(const hopper_predict_model *model, int n_columns,
						   const hopper_pack_column *columns)
{
	bool		scalars = true;

	for (int i = 0; i < n_columns; i++)
	{
		Oid			element = get_element_type(columns[i].type);
		Oid			number = OidIsValid(element) ? getBaseType(element) : columns[i].type;

		if (columns[i].type != BYTEAOID && hopper_pack_number_type(number) == 0)
			hopper_raise(ERRCODE_DATATYPE_MISMATCH,
						 errmsg("model \"%s\" expects %s, not %s", model->shown,
								hopper_predict_expectation(model), columns[i].sql_type),
						 features_detail(model, &columns[i]));
		if (columns[i].type == BYTEAOID || OidIsValid(element))
			scalars = false;
	}
	if (scalars && model->data.desc.x_rank > 0 &&
		hopper_shape_count(model->data.desc.x_rank, model->data.desc.x_shape) != n_columns)
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("model \"%s\" expects %s, not %s", model->shown,
							hopper_predict_expectation(model),
							hopper_plural(n_columns, "column of numbers", "columns of numbers")),
					 features_detail(model, NULL));
}

static double
sigmoid(double x)
{
	double		e = exp(-fabs(x));

	return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

/* Softmax of n neighbours. */
static void
softmax(int64 n, const float *outputs, double *values)
{
	double		most = outputs[0];
	double		sum = 0;

	for (int64 i = 1; i < n; i++)
		most = Max(most, outputs[i]);
	for (int64 i = 0; i < n; i++)
		sum += values[i] = exp(outputs[i] - most);
	for (int64 i = 0; i < n; i++)
		values[i] /= sum;
}

void
hopper_predict_values(const hopper_predict_model *model, int n_outputs, const float *outputs,
					  double *values)
{
	int64		width = model->link_width;
	const hopper_label_scale *label = &model->scale;

	for (int i = 0; i < n_outputs; i++)
		values[i] = model->link == HOPPER_LINK_SIGMOID ? sigmoid(outputs[i]) : outputs[i];
	/* Labels were standardised for training: back to their unit, and no further than they went. */
	if (label->is_scaled && model->is_value && model->layer == NULL)
		for (int i = 0; i < n_outputs; i++)
			values[i] = Min(Max(values[i] * label->deviation + label->mean, label->least),
							label->largest);
	if (model->link != HOPPER_LINK_SOFTMAX)
		return;
	if (width < 1 || n_outputs % width != 0)
		width = n_outputs;
	for (int64 at = 0; at < n_outputs; at += width)
		softmax(width, outputs + at, values + at);
}

void
hopper_predict_classes_init(hopper_predict_classes *classes, const hopper_predict_model *model)
{
	/* A single output makes two classes; further outputs have none. */
	int			n = Max(model->n_classes, 1);

	classes->scores = palloc(n * sizeof(double));
	classes->probabilities = palloc(n * sizeof(double));
	classes->order = palloc(n * sizeof(int));
}

static int
compare_scores(const void *a, const void *b, void *scores)
{
	int			left = *(const int *) a;
	int			right = *(const int *) b;
	const double *s = scores;

	if (s[left] != s[right])
		return s[left] > s[right] ? -1 : 1;
	return left - right;
}

void
hopper_predict_rank(hopper_predict_classes *classes, const hopper_predict_model *model,
					int n_outputs,
					const float *outputs, bool top_only)
{
	int			n = model->n_classes;
	double	   *p = classes->probabilities;
	double	   *scores = classes->scores;

	/* Ordered by the outputs themselves, which tell apart what is cut off or rounded to 1. */
	hopper_predict_values(model, n_outputs, outputs, p);
	if (n_outputs == 1 && n == 2)
	{
		scores[1] = outputs[0];
		scores[0] = model->link == HOPPER_LINK_SIGMOID ? -scores[1] : 1.0 - scores[1];
		p[1] = p[0];
		p[0] = model->link == HOPPER_LINK_SIGMOID ? sigmoid(-outputs[0]) : 1.0 - p[1];
	}
	else
		for (int i = 0; i < n; i++)
			scores[i] = outputs[i];
	if (model->link == HOPPER_LINK_CLIP)
		for (int i = 0; i < n; i++)
			p[i] = p[i] < 0 ? 0 : p[i] > 1 ? 1 : p[i];
	if (top_only)
	{
		int			best = 0;

		for (int i = 1; i < n; i++)
			if (scores[i] > scores[best])
				best = i;
		classes->order[0] = best;
		return;
	}
	for (int i = 0; i < n; i++)
		classes->order[i] = i;
	qsort_arg(classes->order, n, sizeof(int), compare_scores, scores);
}
