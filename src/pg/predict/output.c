/*
 * output.c
 *		Rows of predictions: MADlib's columns, and the label in its own type.
 *
 *	classes		<id>, class_name text, class_value text, prob float8, rank int, predicted_<label>
 *	values		<id>, predicted_<label> float8 (several values: float8[])
 *	several outputs		<id>, of each: predicted_<output> and, of classes, prob_<output> float8;
 *				several probabilities that do not exclude each other are float8[]
 *
 * 'response' has no rank. The label's column does not have the label's name because these tables
 * are made to be joined with the ones that hold the true labels.
 */
#include "pg/predict/predict.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "pg/server/made.h"
#include "pg/server/words.h"

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

/* As CREATE TABLE would cut it. */
static char *
cut(const char *name, int bytes)
{
	return pnstrdup(name, pg_mbcliplen(name, (int) strlen(name), bytes));
}

char *
hopper_predict_value_column(const hopper_predict_model *model)
{
	return cut(model->layer ? model->class_name : psprintf("predicted_%s", model->class_name),
			   NAMEDATALEN - 1);
}

/* "predicted_<output>", that may be another output's as well */
static char *
short_name(const hopper_predict_model *model, int part, const char *prefix)
{
	return cut(psprintf("%s_%s", prefix, model->parts[part].class_name), NAMEDATALEN - 1);
}

/* There are HOPPER_MAX_OUTPUTS at most. */
static bool
is_anothers(const hopper_predict_model *model, int part, const char *prefix, const char *name)
{
	for (int i = 0; i < model->n_parts; i++)
		if (i != part && strcmp(short_name(model, i, prefix), name) == 0)
			return true;
	return false;
}

char *
hopper_predict_part_column(const hopper_predict_model *model, int part, const char *prefix)
{
	char	   *name = short_name(model, part, prefix);

	/* Numbers that no two outputs share. */
	for (int number = part + 1; is_anothers(model, part, prefix, name); number += model->n_parts)
	{
		char	   *end = psprintf("_%d", number);

		name = psprintf("%s%s", cut(short_name(model, part, prefix),
									NAMEDATALEN - 1 - (int) strlen(end)), end);
	}
	return name;
}

/* Of the classes of an only output. The id and all other columns are named after the data. */
static const hopper_column class_columns[] = {
	{"class_name", TEXTOID, "label column of the training data"},
	{"class_value", TEXTOID, "class"},
	{"prob", FLOAT8OID, "probability of the class"},
	{"rank", INT4OID, "1: the most probable class"},
};

static bool
begins_with(Form_pg_attribute column, const char *text)
{
	return strncmp(NameStr(column->attname), text, strlen(text)) == 0;
}

/*
 * Predictions are an id and classes, or an id and predicted values with their probabilities, one or
 * of several outputs, or an id and what a layer gives, which only its comment tells from others'
 * arrays.
 */
static bool
has_predictions(Relation relation)
{
	TupleDesc	descriptor = RelationGetDescr(relation);
	int			n_predicted = 0;

	if (descriptor->natts == 2 && TupleDescAttr(descriptor, 1)->atttypid == FLOAT4ARRAYOID)
	{
		const char *comment = GetComment(RelationGetRelid(relation), RelationRelationId, 2);

		if (comment && strcmp(comment, HOPPER_LAYER_COMMENT) == 0)
			return true;
	}
	while (n_predicted + 1 < descriptor->natts &&
		   (begins_with(TupleDescAttr(descriptor, n_predicted + 1), "predicted_") ||
			(n_predicted > 0 &&
			 begins_with(TupleDescAttr(descriptor, n_predicted + 1), "prob_"))))
		n_predicted++;
	if (n_predicted > 0)
		return n_predicted == descriptor->natts - 1;
	/* those of 'response', which all have */
	for (int i = 0; i < lengthof(class_columns) - 1; i++)
		if (descriptor->natts < 2 + i ||
			strcmp(NameStr(TupleDescAttr(descriptor, 1 + i)->attname),
				   class_columns[i].name) != 0)
			return false;
	return true;
}

const hopper_layout hopper_predictions_layout = {
	.what = "a table of predictions",.is_like = has_predictions,
	.columns = class_columns,.n = lengthof(class_columns)
};

static int
n_class_columns(const hopper_predict_what *what)
{
	return what->kind == PREDICT_RESPONSE ? lengthof(class_columns) - 1 : lengthof(class_columns);
}

char *
hopper_predict_columns(const hopper_predict_model *model, const hopper_predict_what *what,
					   const char *id_column,
					   const char *id_type, const char *label_type)
{
	const char *label = hopper_identifier(hopper_predict_value_column(model));
	StringInfoData columns;

	initStringInfo(&columns);
	appendStringInfo(&columns, "%s %s", hopper_identifier(id_column), id_type);
	for (int i = 0; i < model->n_parts; i++)
	{
		const hopper_predict_model *part = &model->parts[i];

		appendStringInfo(&columns, ", %s %s",
						 hopper_identifier(hopper_predict_part_column(model, i, "predicted")),
						 hopper_predict_is_class(part) ? "pg_catalog.text"
						 : part->is_array ? "pg_catalog.float8[]" : "pg_catalog.float8");
		if (hopper_predict_is_class(part))
			appendStringInfo(&columns, ", %s pg_catalog.float8",
							 hopper_identifier(hopper_predict_part_column(model, i, "prob")));
	}
	if (model->n_parts > 0)
		return columns.data;
	if (model->is_value)
		appendStringInfo(&columns, ", %s pg_catalog.%s%s", label,
						 model->layer ? "float4" : "float8", model->is_array ? "[]" : "");
	else
	{
		for (int i = 0; i < n_class_columns(what); i++)
			appendStringInfo(&columns, ", %s %s", class_columns[i].name,
							 hopper_format_type_qualified(class_columns[i].type));
		if (label_type)
			appendStringInfo(&columns, ", %s %s", label, label_type);
	}
	return columns.data;
}

int
hopper_predict_column_types(const hopper_predict_model *model, const hopper_predict_what *what,
							Oid id_type,
							Oid label_type, Oid *types)
{
	int			n = 0;

	types[n++] = id_type;
	for (int i = 0; i < model->n_parts; i++)
	{
		const hopper_predict_model *part = &model->parts[i];

		types[n++] = hopper_predict_is_class(part) ? TEXTOID
			: part->is_array ? get_array_type(FLOAT8OID) : FLOAT8OID;
		if (hopper_predict_is_class(part))
			types[n++] = FLOAT8OID;
	}
	if (model->n_parts > 0)
		return n;
	if (model->is_value)
	{
		types[n++] = model->layer ? FLOAT4ARRAYOID
			: model->is_array ? get_array_type(FLOAT8OID) : FLOAT8OID;
		return n;
	}
	for (int i = 0; i < n_class_columns(what); i++)
		types[n++] = class_columns[i].type;
	if (OidIsValid(label_type))
		types[n++] = label_type;
	return n;
}

void
hopper_predict_check_id(const hopper_predict_model *model, const hopper_predict_what *what,
						const char *id_column, bool has_label)
{
	bool		taken = (model->is_value || has_label) && model->n_parts == 0 &&
		strcmp(id_column, hopper_predict_value_column(model)) == 0;

	for (int i = 0; i < model->n_parts; i++)
		taken = taken ||
			strcmp(id_column, hopper_predict_part_column(model, i, "predicted")) == 0 ||
			(hopper_predict_is_class(&model->parts[i]) &&
			 strcmp(id_column, hopper_predict_part_column(model, i, "prob")) == 0);
	if (!model->is_value && model->n_parts == 0)
		for (int i = 0; i < n_class_columns(what); i++)
			taken = taken || strcmp(id_column, class_columns[i].name) == 0;
	if (taken)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" cannot be the id of predictions", id_column),
				 errdetail("Their table has another column of that name."),
				 errhint("Predict from a view that gives it another name.")));
}

hopper_predict_output *
hopper_predict_output_create(const hopper_predict_model *model, const hopper_predict_what *what,
							 int n_outputs,
							 int n_labels, const Datum *label_values, const bool *label_nulls)
{
	hopper_predict_output *output = palloc0(sizeof(hopper_predict_output));

	output->model = model;
	output->what = *what;
	output->n_outputs = n_outputs;
	output->has_rank = what->kind != PREDICT_RESPONSE;
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
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("model \"%s\" has %d classes but %s", model->shown, model->n_classes,
						hopper_plural(n_labels, "class value", "class values"))));
	output->label_values = label_values;
	output->label_nulls = label_nulls;
	hopper_predict_classes_init(&output->classes, model);
	output->class_name = CStringGetTextDatum(model->class_name);
	output->class_values = palloc0(model->n_classes * sizeof(Datum));
	output->class_nulls = palloc0(model->n_classes * sizeof(bool));
	for (int i = 0; i < model->n_classes; i++)
	{
		const char *name = i < model->n_class_values ? model->class_values[i] : NULL;

		/* Without names a class is its index. */
		if (model->n_class_values == 0)
			name = psprintf("%d", i);
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
	hopper_predict_rank(&output->classes, model, output->n_outputs, outputs,
						what->kind == PREDICT_RESPONSE);
	if (what->kind == PREDICT_ALL || what->kind == PREDICT_THRESHOLD)
		output->n_rows = model->n_classes;
	else if (what->kind == PREDICT_TOP)
		output->n_rows = Min(model->n_classes, what->k);
}

static Datum
value_datum(const hopper_predict_output *output)
{
	double		value;
	double	   *values;
	Datum	   *numbers;

	if (output->model->layer)
	{
		numbers = palloc(output->n_outputs * sizeof(Datum));
		for (int i = 0; i < output->n_outputs; i++)
			numbers[i] = Float4GetDatum(output->outputs[i]);
		return PointerGetDatum(construct_array(numbers, output->n_outputs, FLOAT4OID,
											   sizeof(float4), true, 'i'));
	}
	if (!output->model->is_array)
	{
		hopper_predict_values(output->model, 1, output->outputs, &value);
		return Float8GetDatum(value);
	}
	values = palloc(output->n_outputs * sizeof(double));
	hopper_predict_values(output->model, output->n_outputs, output->outputs, values);
	numbers = palloc(output->n_outputs * sizeof(Datum));
	for (int i = 0; i < output->n_outputs; i++)
		numbers[i] = Float8GetDatum(values[i]);
	return PointerGetDatum(construct_array(numbers, output->n_outputs, FLOAT8OID, sizeof(float8),
										   FLOAT8PASSBYVAL, 'd'));
}

/* The only row of an output that is no class. */
static bool
next_value(hopper_predict_output *output, Datum *values, bool *nulls)
{
	if (output->row++ > 0)
		return false;
	nulls[0] = output->id_null;
	values[0] = output->id;
	nulls[1] = output->outputs == NULL;
	values[1] = output->outputs ? value_datum(output) : (Datum) 0;
	return true;
}

/* The next row of several outputs, one after another. */
static bool
next_by_output(hopper_predict_output *output, Datum *values, bool *nulls)
{
	for (; output->part < output->model->n_parts; output->part++)
	{
		hopper_predict_output *part = output->parts[output->part];

		if (hopper_predict_is_class(part->model) ? hopper_predict_output_next(part, values, nulls)
			: next_value(part, values, nulls))
			return true;
	}
	return false;
}

int
hopper_predict_output_part(const hopper_predict_output *output)
{
	return output->part;
}

bool
hopper_predict_output_next(hopper_predict_output *output, Datum *values, bool *nulls)
{
	int			rank = output->row;
	int			at = 0;
	int			class;
	double		probability;

	if (output->what.by_output && output->model->n_parts > 0)
		return next_by_output(output, values, nulls);
	output->row++;
	if (rank >= output->n_rows)
		return false;
	memset(nulls, 0, PREDICT_MAX_COLUMNS * sizeof(bool));
	nulls[at] = output->id_null;
	values[at++] = output->id;
	if (output->outputs == NULL)
	{
		memset(nulls + at, true, (PREDICT_MAX_COLUMNS - at) * sizeof(bool));
		memset(values + at, 0, (PREDICT_MAX_COLUMNS - at) * sizeof(Datum));
		return true;
	}
	for (int i = 0; i < output->model->n_parts; i++)
	{
		hopper_predict_output *part = output->parts[i];

		if (!hopper_predict_is_class(part->model))
		{
			values[at++] = value_datum(part);
			continue;
		}
		class = part->classes.order[0];
		nulls[at] = part->class_nulls[class];
		values[at++] = part->class_values[class];
		values[at++] = Float8GetDatum(part->classes.probabilities[class]);
	}
	if (output->model->n_parts > 0)
		return true;
	if (output->model->is_value)
	{
		values[at] = value_datum(output);
		return true;
	}
	class = output->classes.order[rank];
	probability = output->classes.probabilities[class];
	if (output->what.kind == PREDICT_THRESHOLD && !(probability > output->what.threshold))
		return false;
	values[at++] = output->class_name;
	nulls[at] = output->class_nulls[class];
	values[at++] = output->class_values[class];
	values[at++] = Float8GetDatum(probability);
	if (output->has_rank)
		values[at++] = Int32GetDatum(rank + 1);
	if (output->label_values)
	{
		nulls[at] = output->label_nulls[class];
		values[at] = output->label_values[class];
	}
	return true;
}
