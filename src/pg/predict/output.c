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

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "pg/server/tables.h"
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

bool
hopper_predict_has_rows(const hopper_predict_model *model)
{
	return model->n_parts == 0 && !model->is_value && !model->is_each;
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

/* What an output's columns are where it has no rows for its classes. */
static bool
has_prob(const hopper_predict_model *model)
{
	return hopper_predict_is_class(model) || model->is_each;
}

static Oid
predicted_type(const hopper_predict_model *model)
{
	if (hopper_predict_is_class(model))
		return TEXTOID;
	if (!model->is_array)
		return FLOAT8OID;
	return get_array_type(model->layer ? FLOAT4OID : model->is_each ? model->class_type
						  : FLOAT8OID);
}

static Oid
prob_type(const hopper_predict_model *model)
{
	return model->is_each ? get_array_type(FLOAT8OID) : FLOAT8OID;
}

static char *
prob_column(const hopper_predict_model *model)
{
	return cut(psprintf("prob_%s", model->class_name), NAMEDATALEN - 1);
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

/* A row an example with a column for each class. */
static bool
has_class_columns(const hopper_predict_model *model, const hopper_predict_what *what)
{
	return what->kind == PREDICT_COLUMNS && hopper_predict_has_rows(model);
}

static char *
short_class_column(const hopper_predict_model *model, int class)
{
	const char *name = model->class_values[class];

	return cut(psprintf("prob_%s", name ? name : "null"), NAMEDATALEN - 1);
}

/* There are PREDICT_MAX_COLUMNS at most. */
static bool
is_another_class(const hopper_predict_model *model, int class, const char *name)
{
	for (int i = 0; i < model->n_class_values; i++)
		if (i != class && strcmp(short_class_column(model, i), name) == 0)
			return true;
	return false;
}

char *
hopper_predict_class_column(const hopper_predict_model *model, int class)
{
	char	   *name = short_class_column(model, class);

	/* Numbers that no two classes share. */
	for (int number = class + 1; is_another_class(model, class, name);
		 number += model->n_class_values)
	{
		char	   *end = psprintf("_%d", number);

		name = psprintf("%s%s", cut(short_class_column(model, class),
									NAMEDATALEN - 1 - (int) strlen(end)), end);
	}
	return name;
}

void
hopper_predict_require_columns(const hopper_predict_model *model)
{
	if (!hopper_predict_has_rows(model))
		return;
	if (model->n_class_values == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the classes of model \"%s\" have no names for columns", model->shown),
				 errhint("Use pred_type 'prob', which gives rows.")));
	if (model->n_class_values > PREDICT_MAX_COLUMNS - 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("model \"%s\" has %d classes, which are too many for columns",
						model->shown, model->n_class_values),
				 errdetail("There are at most %d.", PREDICT_MAX_COLUMNS - 2),
				 errhint("Use pred_type 'prob', which gives rows.")));
}

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
						 hopper_format_type_qualified(predicted_type(part)));
		if (has_prob(part))
			appendStringInfo(&columns, ", %s %s",
							 hopper_identifier(hopper_predict_part_column(model, i, "prob")),
							 hopper_format_type_qualified(prob_type(part)));
	}
	if (model->n_parts > 0)
		return columns.data;
	if (!hopper_predict_has_rows(model))
	{
		appendStringInfo(&columns, ", %s %s", label,
						 hopper_format_type_qualified(predicted_type(model)));
		if (has_prob(model))
			appendStringInfo(&columns, ", %s %s", hopper_identifier(prob_column(model)),
							 hopper_format_type_qualified(prob_type(model)));
	}
	else if (has_class_columns(model, what))
	{
		appendStringInfo(&columns, ", %s %s", label, label_type ? label_type : "pg_catalog.text");
		for (int i = 0; i < model->n_class_values; i++)
			appendStringInfo(&columns, ", %s pg_catalog.float8",
							 hopper_identifier(hopper_predict_class_column(model, i)));
	}
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

		types[n++] = predicted_type(part);
		if (has_prob(part))
			types[n++] = prob_type(part);
	}
	if (model->n_parts > 0)
		return n;
	if (!hopper_predict_has_rows(model))
	{
		types[n++] = predicted_type(model);
		if (has_prob(model))
			types[n++] = prob_type(model);
		return n;
	}
	if (has_class_columns(model, what))
	{
		types[n++] = OidIsValid(label_type) ? label_type : TEXTOID;
		for (int i = 0; i < model->n_class_values; i++)
			types[n++] = FLOAT8OID;
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
	bool		has_rows = hopper_predict_has_rows(model);
	bool		in_columns = has_class_columns(model, what);
	bool		taken = (!has_rows || has_label || in_columns) && model->n_parts == 0 &&
		strcmp(id_column, hopper_predict_value_column(model)) == 0;

	for (int i = 0; i < model->n_parts; i++)
		taken = taken ||
			strcmp(id_column, hopper_predict_part_column(model, i, "predicted")) == 0 ||
			(has_prob(&model->parts[i]) &&
			 strcmp(id_column, hopper_predict_part_column(model, i, "prob")) == 0);
	if (model->is_each)
		taken = taken || strcmp(id_column, prob_column(model)) == 0;
	for (int i = 0; in_columns && i < model->n_class_values; i++)
		taken = taken || strcmp(id_column, hopper_predict_class_column(model, i)) == 0;
	for (int i = 0; has_rows && !in_columns && i < n_class_columns(what); i++)
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
	return has_prob(model) ? 2 : 1;
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

		if (has_prob(part->model) ? hopper_predict_output_next(part, values, nulls)
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
	if (has_class_columns(model, &output->what))
	{
		put_class_columns(output, values, nulls);
		return true;
	}
	if (hopper_predict_has_rows(model))
		return put_class(output, rank, rank + 1, values, nulls);
	(void) put_columns(output, values + at, nulls + at);
	return true;
}
