/*
 * output.c
 *		Rows of predictions: MADlib's columns, and the label in its own type.
 *
 *	classes		<id>, class_name text, class_value text, prob float8, rank int, predicted_<label>
 *	values		<id>, predicted_<label> float8 (several values: float8[])
 *	a class each	<id>, predicted_<label>, an array of classes, prob_<label> float8[]
 *	several outputs		<id>, of each: predicted_<output> and, of classes, prob_<output> float8;
 *				several probabilities that do not exclude each other are float8[]
 *
 * predicted_<label> is the most probable class in all rows of an example. 'response' has no rank.
 * The label's column does not have the label's name because these tables are made to be joined with
 * the ones that hold the true labels.
 */
#include "pg/predict/predict.h"

struct hopper_predict_output
{
	const hopper_predict_model *model;
	hopper_predict_what what;
	int			n_outputs;
	bool		has_rank;
	hopper_predict_classes classes;
	Datum		class_name;
	Datum	   *class_values;
	bool	   *class_nulls;
	const Datum *label_values;	/* or NULL */
	const bool *label_nulls;
	struct hopper_predict_output **parts;	/* of several outputs */
	int			part;			/* whose turn it is, where each has rows of its own */

	/* the example whose rows are being made */
	Datum		id;
	bool		id_null;
	const float *outputs;
	int			row;
	int			n_rows;
};

bool
hopper_predict_is_class(const hopper_predict_model *part)
{
	return !part->is_value && !part->is_array;
}

bool
hopper_predict_has_rows(const hopper_predict_model *model)
{
	return model->n_parts == 0 && !model->is_value && !model->is_each;
}

bool
hopper_predict_has_prob(const hopper_predict_model *model)
{
	return hopper_predict_is_class(model) || model->is_each;
}

hopper_predict_output *
hopper_predict_output_create(const hopper_predict_model *model, const hopper_predict_what *what,
							 int n_outputs,
							 int n_labels, const Datum *label_values, const bool *label_nulls)
{
	hopper_predict_output *output = palloc0(sizeof(hopper_predict_output));

	output->model = model;
	output->what = *what;
	if (what->best_at_each && model->is_each)
		output->what.kind = PREDICT_RESPONSE;
	output->n_outputs = n_outputs;
	output->has_rank = what->kind != PREDICT_RESPONSE || model->is_each;
	if (model->n_parts > 0)
	{
		static const hopper_predict_what best = {PREDICT_RESPONSE};

		output->parts = palloc0(model->n_parts * sizeof(hopper_predict_output *));
		for (int i = 0; i < model->n_parts; i++)
			output->parts[i] = hopper_predict_output_create(&model->parts[i],
															what->by_output ? what : &best,
															model->parts[i].count, 0, NULL, NULL);
		return output;
	}
	if (model->is_value)
		return output;
	if (label_values && n_labels < model->n_classes)
		hopper_raise(ERRCODE_DATA_CORRUPTED,
					 errmsg("model \"%s\" has %d classes but %s", model->shown, model->n_classes,
							hopper_plural(n_labels, "class value", "class values")));
	output->label_values = label_values;
	output->label_nulls = label_nulls;
	hopper_predict_classes_init(&output->classes, model);
	output->class_name = CStringGetTextDatum(model->class_name);
	output->class_values = palloc0(model->n_classes * sizeof(Datum));
	output->class_nulls = palloc0(model->n_classes * sizeof(bool));
	for (int i = 0; i < model->n_classes; i++)
	{
		const char *name = hopper_predict_class_name(model, i);

		output->class_nulls[i] = name == NULL;
		output->class_values[i] = name ? CStringGetTextDatum(name) : (Datum) 0;
	}
	return output;
}

void
hopper_predict_output_begin(hopper_predict_output *output, Datum id, bool id_null,
							const float *outputs)
{
	const hopper_predict_model *model = output->model;
	const hopper_predict_what *what = &output->what;

	output->id = id;
	output->id_null = id_null;
	output->outputs = outputs;
	output->row = 0;
	output->n_rows = 1;
	output->part = 0;
	for (int i = 0; i < model->n_parts; i++)
		hopper_predict_output_begin(output->parts[i], id, id_null,
									outputs ? outputs + model->parts[i].first : NULL);
	if (model->is_value || outputs == NULL || model->n_parts > 0)
		return;
	if (!model->is_each)
		hopper_predict_rank(&output->classes, model, output->n_outputs, outputs,
							what->kind == PREDICT_RESPONSE || what->kind == PREDICT_COLUMNS);
	else if (!what->by_output)
		return;
	if (what->kind == PREDICT_ALL || what->kind == PREDICT_THRESHOLD)
		output->n_rows = model->n_classes;
	else if (what->kind == PREDICT_TOP)
		output->n_rows = Min(model->n_classes, what->k);
}

/* Of an output without rows for its classes: its column, or two of them. Returns how many. */
static int
put_columns(hopper_predict_output *output, Datum *values, bool *nulls)
{
	const hopper_predict_model *model = output->model;

	if (output->outputs == NULL)
	{
		nulls[0] = nulls[1] = true;
		values[0] = values[1] = (Datum) 0;
	}
	else if (model->is_each)
		hopper_predict_each(model, &output->classes, output->outputs,
							model->class_type == TEXTOID ? output->class_values : NULL,
							output->class_nulls, output->what.kind == PREDICT_ALL, &values[0],
							&values[1]);
	else if (hopper_predict_is_class(model))
	{
		int			class = output->classes.order[0];

		nulls[0] = output->class_nulls[class];
		values[0] = output->class_values[class];
		values[1] = Float8GetDatum(output->classes.probabilities[class]);
	}
	else if (model->is_array)
		values[0] = hopper_predict_value_array(model, output->n_outputs, output->outputs);
	else
	{
		double		value;

		hopper_predict_values(model, 1, output->outputs, &value);
		values[0] = Float8GetDatum(value);
	}
	return hopper_predict_has_prob(model) ? 2 : 1;
}

/* The only row of an output that is no class. */
static bool
next_value(hopper_predict_output *output, Datum *values, bool *nulls)
{
	if (output->row++ > 0)
		return false;
	nulls[0] = output->id_null;
	values[0] = output->id;
	nulls[1] = false;
	(void) put_columns(output, values + 1, nulls + 1);
	return true;
}

/* A row of the class at this place in the order; false where it is not probable enough. */
static bool
put_class(hopper_predict_output *output, int place, int rank, Datum *values, bool *nulls)
{
	const hopper_predict_classes *classes = &output->classes;
	int			class = classes->order[place];
	double		probability = classes->probabilities[class];
	int			at = 1;

	if (output->what.kind == PREDICT_THRESHOLD && !(probability > output->what.threshold))
		return false;
	values[at++] = output->class_name;
	nulls[at] = output->class_nulls[class];
	values[at++] = output->class_values[class];
	values[at++] = Float8GetDatum(probability);
	if (output->has_rank)
		values[at++] = Int32GetDatum(rank);
	if (output->label_values)
	{
		nulls[at] = output->label_nulls[classes->order[0]];
		values[at] = output->label_values[classes->order[0]];
	}
	return true;
}

/* The only row of an example whose classes are columns. */
static void
put_class_columns(hopper_predict_output *output, Datum *values, bool *nulls)
{
	const hopper_predict_classes *classes = &output->classes;
	int			best = classes->order[0];

	if (output->label_values)
	{
		nulls[1] = output->label_nulls[best];
		values[1] = output->label_values[best];
	}
	else
	{
		nulls[1] = output->class_nulls[best];
		values[1] = output->class_values[best];
	}
	for (int i = 0; i < output->model->n_class_values; i++)
		values[2 + i] = Float8GetDatum(classes->probabilities[i]);
}

/* The next class of a step or pixel, whose number is in the place of a rank. */
static bool
next_at_places(hopper_predict_output *output, Datum *values, bool *nulls)
{
	int			n = hopper_predict_n_places(output->model) * output->n_rows;

	for (; output->row < n; output->row++)
	{
		int			place = output->row / output->n_rows;
		int			at = output->row % output->n_rows;

		if (at == 0)
			hopper_predict_rank_at(&output->classes, output->model, output->outputs, place,
								   output->what.kind == PREDICT_RESPONSE);
		if (!put_class(output, at, place + 1, values, nulls))
			continue;
		output->row++;
		return true;
	}
	return false;
}

/* The next row of several outputs, one after another. */
static bool
next_by_output(hopper_predict_output *output, Datum *values, bool *nulls)
{
	for (; output->part < output->model->n_parts; output->part++)
	{
		hopper_predict_output *part = output->parts[output->part];

		if (hopper_predict_has_prob(part->model) ? hopper_predict_output_next(part, values, nulls)
			: next_value(part, values, nulls))
			return true;
	}
	return false;
}

bool
hopper_predict_output_next(hopper_predict_output *output, Datum *values, bool *nulls)
{
	const hopper_predict_model *model = output->model;
	int			rank;
	int			at = 1;

	if (output->what.by_output && model->n_parts > 0)
		return next_by_output(output, values, nulls);
	memset(nulls, 0, PREDICT_MAX_COLUMNS * sizeof(bool));
	nulls[0] = output->id_null;
	values[0] = output->id;
	if (output->what.by_output && model->is_each && output->outputs)
		return next_at_places(output, values, nulls);
	rank = output->row++;
	if (rank >= output->n_rows)
		return false;
	if (output->outputs == NULL)
	{
		memset(nulls + at, true, (PREDICT_MAX_COLUMNS - at) * sizeof(bool));
		memset(values + at, 0, (PREDICT_MAX_COLUMNS - at) * sizeof(Datum));
		return true;
	}
	for (int i = 0; i < model->n_parts; i++)
		at += put_columns(output->parts[i], values + at, nulls + at);
	if (model->n_parts > 0)
		return true;
	if (output->what.kind == PREDICT_COLUMNS && hopper_predict_has_rows(model))
	{
		put_class_columns(output, values, nulls);
		return true;
	}
	if (hopper_predict_has_rows(model))
		return put_class(output, rank, rank + 1, values, nulls);
	(void) put_columns(output, values + at, nulls + at);
	return true;
}

void
hopper_predict_show(const hopper_predict_output *output, const Datum *row, const bool *row_nulls,
					void (*put) (void *state, const Datum *values, const bool *nulls), void *state)
{
	enum
	{
		CLASS, PROB, RANK, VALUE, OUTPUT, N_COLUMNS
	};
	const hopper_predict_model *model = output->model;
	bool		is_value = model->is_value;
	Datum		values[N_COLUMNS] = {0};
	bool		nulls[N_COLUMNS] = {true, true, true, true, true};
	Datum	   *numbers;
	int			n;

	if (model->n_parts > 0)
	{
		model = &model->parts[output->part];
		is_value = !hopper_predict_is_class(model) && !model->is_each;
		values[OUTPUT] = CStringGetTextDatum(model->class_name);
		nulls[OUTPUT] = false;
	}
	if (!is_value)
	{
		bool		has_rank = output->what.kind != PREDICT_RESPONSE || model->is_each;

		values[CLASS] = row[2];
		nulls[CLASS] = row_nulls[2];
		values[PROB] = row[3];
		nulls[PROB] = row_nulls[3];
		values[RANK] = has_rank ? row[4] : Int32GetDatum(1);
		nulls[RANK] = has_rank ? row_nulls[4] : row_nulls[3];
	}
	if (!is_value || !model->is_array || row_nulls[1])
	{
		values[VALUE] = row[1];
		nulls[VALUE] = !is_value || row_nulls[1];
		put(state, values, nulls);
		return;
	}
	nulls[RANK] = nulls[VALUE] = false;
	n = hopper_elements(DatumGetArrayTypeP(row[1]), &numbers, NULL);
	for (int i = 0; i < n; i++)
	{
		values[RANK] = Int32GetDatum(i + 1);
		values[VALUE] = numbers[i];
		put(state, values, nulls);
	}
}
