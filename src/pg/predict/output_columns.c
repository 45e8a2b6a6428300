/*
 * output_columns.c
 *		The columns of a table of predictions: their names, types and meanings, listed once.
 */
#include "pg/predict/run.h"

#include "commands/comment.h"

/* --- names --- */

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

static char *
short_name(const char *prefix, const char *name)
{
	return cut(psprintf("%s_%s", prefix, name ? name : "null"), NAMEDATALEN - 1);
}

/* There are PREDICT_MAX_COLUMNS at most. */
static bool
is_anothers(const char *prefix, int n, const char *const *names, int at, const char *name)
{
	for (int i = 0; i < n; i++)
		if (i != at && strcmp(short_name(prefix, names[i]), name) == 0)
			return true;
	return false;
}

/* <prefix>_<names[at]> as far as names go, with a number for its end where others begin alike. */
static char *
own_name(const char *prefix, int n, const char *const *names, int at)
{
	char	   *name = short_name(prefix, names[at]);

	/* Numbers that no two of them share. */
	for (int number = at + 1; is_anothers(prefix, n, names, at, name); number += n)
	{
		char	   *end = psprintf("_%d", number);

		name = psprintf("%s%s", cut(short_name(prefix, names[at]),
									NAMEDATALEN - 1 - (int) strlen(end)), end);
	}
	return name;
}

char *
hopper_predict_class_column(const hopper_predict_model *model, int class)
{
	return own_name("prob", model->n_class_values, model->class_values, class);
}

void
hopper_predict_require_columns(const hopper_predict_model *model)
{
	if (!hopper_predict_has_rows(model))
		return;
	if (model->n_class_values == 0)
		hopper_wrong(errmsg("the classes of model \"%s\" have no names for columns", model->shown),
					 errhint("Use pred_type 'prob', which gives rows."));
	if (model->n_class_values > PREDICT_MAX_COLUMNS - 2)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("model \"%s\" has %d classes, which are too many for columns",
							model->shown, model->n_class_values),
					 errdetail("There are at most %d.", PREDICT_MAX_COLUMNS - 2),
					 errhint("Use pred_type 'prob', which gives rows."));
}

/* --- types --- */

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

/* --- the list --- */

static void
add(hopper_predict_columns *list, char *name, Oid type, const char *sql_type, const char *meaning)
{
	if (list->n == PREDICT_MAX_COLUMNS)
		elog(ERROR, "predictions have too many columns");
	list->columns[list->n++] = (hopper_predict_column) {name, type, sql_type, meaning};
}

static void
add_parts(hopper_predict_columns *list, const hopper_predict_model *model)
{
	const char *names[HOPPER_MAX_OUTPUTS];

	for (int i = 0; i < model->n_parts; i++)
		names[i] = model->parts[i].class_name;
	for (int i = 0; i < model->n_parts; i++)
	{
		const hopper_predict_model *part = &model->parts[i];

		add(list, own_name("predicted", model->n_parts, names, i), predicted_type(part), NULL,
			"what the model predicts for this output");
		if (hopper_predict_has_prob(part))
			add(list, own_name("prob", model->n_parts, names, i), prob_type(part), NULL, NULL);
	}
}

static void
add_label(hopper_predict_columns *list, const hopper_prediction *run)
{
	add(list, hopper_predict_value_column(&run->model),
		OidIsValid(run->labels.oid) ? run->labels.oid : TEXTOID, run->labels.type,
		"the most probable class, in the label's own type");
}

/* A column for each class, or a row. */
static void
add_classes(hopper_predict_columns *list, const hopper_prediction *run)
{
	int			n = lengthof(class_columns) - (run->what.kind == PREDICT_RESPONSE ? 1 : 0);

	if (run->what.kind == PREDICT_COLUMNS)
	{
		add_label(list, run);
		for (int i = 0; i < run->model.n_class_values; i++)
			add(list, hopper_predict_class_column(&run->model, i), FLOAT8OID, NULL, NULL);
		return;
	}
	for (int i = 0; i < n; i++)
		add(list, (char *) class_columns[i].name, class_columns[i].type, NULL,
			class_columns[i].meaning);
	if (OidIsValid(run->labels.oid))
		add_label(list, run);
}

void
hopper_predict_list_columns(const hopper_prediction *run, hopper_predict_columns *list)
{
	const hopper_predict_model *model = &run->model;

	list->n = 0;
	add(list, run->id_column, run->id_oid, run->id_type, "of the row that was predicted");
	if (model->n_parts > 0)
		add_parts(list, model);
	else if (hopper_predict_has_rows(model))
		add_classes(list, run);
	else
	{
		add(list, hopper_predict_value_column(model), predicted_type(model), NULL,
			model->layer ? HOPPER_LAYER_COMMENT : "what the model predicts");
		if (hopper_predict_has_prob(model))
			add(list, short_name("prob", model->class_name), prob_type(model), NULL, NULL);
	}
}

char *
hopper_predict_column_definitions(const hopper_prediction *run)
{
	hopper_predict_columns list;
	StringInfo	text = makeStringInfo();

	hopper_predict_list_columns(run, &list);
	for (int i = 0; i < list.n; i++)
	{
		const hopper_predict_column *column = &list.columns[i];

		appendStringInfo(text, "%s%s %s", i ? ", " : "", hopper_identifier(column->name),
						 column->sql_type ? column->sql_type
						 : hopper_format_type_qualified(column->type));
	}
	return text->data;
}

int
hopper_predict_column_types(const hopper_prediction *run, Oid *types)
{
	hopper_predict_columns list;

	hopper_predict_list_columns(run, &list);
	for (int i = 0; i < list.n; i++)
		types[i] = list.columns[i].type;
	return list.n;
}

void
hopper_predict_check_id(const hopper_prediction *run)
{
	hopper_predict_columns list;

	hopper_predict_list_columns(run, &list);
	for (int i = 1; i < list.n; i++)
		if (strcmp(run->id_column, list.columns[i].name) == 0)
			hopper_raise(ERRCODE_DUPLICATE_COLUMN,
						 errmsg("column \"%s\" cannot be the id of predictions", run->id_column),
						 errdetail("Their table has another column of that name."),
						 errhint("Predict from a view that gives it another name."));
}
