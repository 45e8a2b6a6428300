/*
 * arguments.c
 *		What predict() and predict_byom() were asked for: classes to return, columns to read, names
 *		of the classes.
 */
#include "pg/predict/run.h"

#include <float.h>

#include "parser/parse_coerce.h"

/*
 * The type hopper.pred_type is the text of 'prob', 'response' or a number: one function takes what
 * three of one name, with text, integer and double precision, would take, and is not ambiguous
 * where arguments are left out. Integers have no point, probabilities do.
 */
static Datum
pred_type_of(double number, int digits)
{
	char	   *text = psprintf("%.*g", digits, number);

	return CStringGetTextDatum(text[strspn(text, "-0123456789")] == '\0' ? psprintf("%s.0", text)
							   : text);
}

HOPPER_FUNCTION(hopper_sql_pred_type_of_real)
{
	return pred_type_of(PG_GETARG_FLOAT4(0), FLT_DIG);
}

HOPPER_FUNCTION(hopper_sql_pred_type_of_double)
{
	return pred_type_of(PG_GETARG_FLOAT8(0), DBL_DIG);
}

/*
 * What SQL objects of 0.1.0 call, which this library refuses; so that they can be made, restored
 * and updated.
 */
#define REFUSED(function) \
	HOPPER_FUNCTION(function) \
	{ \
		elog(ERROR, "this function is one of an earlier version"); \
		PG_RETURN_NULL(); \
	}

REFUSED(hopper_sql_predict_top)
REFUSED(hopper_sql_predict_threshold)
REFUSED(hopper_sql_predict_byom_top)
REFUSED(hopper_sql_predict_byom_threshold)

static hopper_predict_what
most_probable(int k)
{
	if (k < 1)
		hopper_wrong(errmsg("pred_type must be at least 1 class, got %d", k));
	return (hopper_predict_what) {PREDICT_TOP, .k = k};
}

static hopper_predict_what
above_threshold(double threshold)
{
	/* as 1.0, which is the number 1 */
	if (threshold >= 1 && threshold <= PG_INT32_MAX && threshold == rint(threshold))
		return most_probable((int) threshold);
	if (!(threshold >= 0 && threshold < 1))
		hopper_wrong(errmsg("pred_type must be a probability from 0 to below 1, got %g", threshold),
					 errhint("For the most probable classes give their number, for example "
							 "pred_type => 3."));
	return (hopper_predict_what) {PREDICT_THRESHOLD, .threshold = threshold};
}

hopper_predict_what
hopper_predict_what_argument(FunctionCallInfo fcinfo, int at)
{
	hopper_predict_what what = {PREDICT_ALL};
	char	   *given;
	char	   *end;
	double		number;

	if (PG_ARGISNULL(at))
		return what;
	given = text_to_cstring(PG_GETARG_TEXT_PP(at));
	number = strtod(given, &end);
	if (strcmp(given, "response") == 0)
		what.kind = PREDICT_RESPONSE;
	else if (strcmp(given, "columns") == 0)
		what.kind = PREDICT_COLUMNS;
	else if (end != given && *end == '\0')
		return strchr(given, '.') || number != rint(number) || fabs(number) > PG_INT32_MAX
			? above_threshold(number) : most_probable((int) number);
	else if (strcmp(given, "prob") != 0)
		hopper_wrong(errmsg("pred_type \"%s\" is not known", given),
					 errhint("Use 'prob' (all classes), 'columns' (a column for each), "
							 "'response' (the most probable one), a number k of classes, or a "
							 "probability below 1."));
	return what;
}

void
hopper_refuse_on_segment(const char *function, const char *hint)
{
	if (hopper_backend.on_a_segment())
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("%s cannot predict rows where they lie on the segments", function),
					 errdetail("It reads the model's table, which a segment cannot do."),
					 errhint("%s", hint));
}

bool
hopper_predict_may_lack(FunctionCallInfo fcinfo, int at)
{
	static const char *const words[] = {"error", "null", NULL};

	return hopper_word_argument(fcinfo, at, "on_null", words, "Use 'error', or 'null' (rows that "
								"lack a feature get no prediction).") == 1;
}

void
hopper_predict_refuse_packed(const hopper_name *source, Oid relation)
{
	if (get_attnum(relation, "buffer_id") != InvalidAttrNumber &&
		get_attnum(relation, "partition_id") != InvalidAttrNumber &&
		get_attnum(relation, "checksum") != InvalidAttrNumber)
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is a packed table", source->shown),
					 errhint("Name the table that was packed; hopper.evaluate() reads packed "
							 "ones."));
}

void
hopper_predict_describe_features(const hopper_predict_model *model,
								 const hopper_data_desc *computed, int n,
								 const hopper_pack_column *columns, const char *relation,
								 hopper_pack_values *values)
{
	if (model->schema)
	{
		hopper_pack_values_init_schema(values, model->schema, n, columns, relation, model->shown);
		return;
	}
	if (model->data.inputs.n > 0)
	{
		hopper_pack_values_init_inputs(values, &model->data.inputs, n, columns, relation);
		hopper_pack_values_take_inputs(values, computed ? computed : &model->data.desc);
	}
	else
	{
		hopper_predict_check_types(model, n, columns);
		hopper_pack_values_init(values, n, columns, relation);
		if (values->layout == PACK_BYTES)
			hopper_pack_values_set_bytes_type(values, computed ? computed->x_type
											  : hopper_predict_bytes_type(&model->data.desc), true);
		else if (computed)
			values->type = computed->x_type;
		values->divisor = model->data.desc.normalizing_const;
		if (model->data.desc.x_rank > 0)
			hopper_pack_values_set_shape(values, model->data.desc.x_rank, model->data.desc.x_shape);
	}
	hopper_pack_values_take_padding(values, model->data.padding);
}

/* The features, once the row's other columns are known. */
static void
open_features(hopper_prediction *run)
{
	const hopper_predict_model *model = &run->model;

	hopper_predict_describe_features(model, NULL, run->rows.n_x, run->rows.x, run->source.shown,
									 &run->values);
	if (run->values.layout == PACK_BYTES && model->data.desc.x_rank == 0)
		hopper_wrong(errmsg("the shape of the images in \"%s\" is not known",
							run->rows.x[0].name),
					 errdetail("Model \"%s\" does not say what it expects.", model->shown),
					 errhint("Give its first layer an input shape."));
}

/* The columns of the features, found in the relation. */
static void
resolve_features(hopper_pack_source *rows, Oid relation, List *x)
{
	ListCell   *cell;

	rows->segment = -1;
	rows->x = palloc0(list_length(x) * sizeof(hopper_pack_column));
	foreach(cell, x)
		hopper_pack_resolve_column(relation, lfirst(cell), &rows->x[rows->n_x++]);
}

/* A query has all columns of the relation, in types that can be cast to theirs. */
static void
require_query_columns(const hopper_prediction *run, Oid relation)
{
	char	   *query = psprintf("SELECT * FROM (%s) AS hopper_source LIMIT 0", run->source_query);
	hopper_complaints complaints = {NIL};
	StringInfo	words = makeStringInfo();
	TupleDesc	desc;
	int			n_names;
	char	  **names = hopper_column_names(relation, &n_names);
	int			n = 0;

	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the query was not run");
	desc = SPI_tuptable->tupdesc;
	for (int i = 0; i < n_names; i++)
	{
		Oid			type = get_atttype(relation, get_attnum(relation, names[i]));
		int			at = SPI_fnumber(desc, names[i]);

		if (at <= 0)
			appendStringInfo(words, "%s\"%s\"", n++ > 0 ? ", " : "", names[i]);
		else
		{
			Oid			given = SPI_gettypeid(desc, at);

			if (!can_coerce_type(1, &given, &type, COERCION_EXPLICIT))
				hopper_complain(&complaints, ERRCODE_DATATYPE_MISMATCH,
								psprintf("column \"%s\" of source_query is of type %s, that of "
										 "\"%s\" is %s", names[i], format_type_be(given),
										 run->source.shown, format_type_be(type)), NULL,
								"Cast it in the query, or give the right column this name.");
		}
	}
	if (n > 0)
		hopper_complain(&complaints, ERRCODE_UNDEFINED_COLUMN,
						psprintf("source_query lacks %s of \"%s\"",
								 hopper_plural(n, "column", "columns"), run->source.shown),
						psprintf("Without %s its rows are not rows of the table.", words->data),
						"Select all columns by their names, NULL AS name where there is nothing.");
	hopper_throw_complaints(&complaints, "source_query");
}

/*
 * The row of run->source as a value. Columns of a query are taken by their names, as the features
 * are: those of one type may come in another order.
 */
static char *
whole_row(const hopper_prediction *run, Oid relation, Oid row_type)
{
	const char *row_type_name = hopper_type_name(row_type, -1);
	char	  **names;
	int			n;

	/* The cast makes a value of it; by itself the star is a list of columns. */
	if (run->source_query == NULL && !run->is_view)
		return psprintf("(hopper_source.*)::%s", row_type_name);
	names = hopper_column_names(relation, &n);
	return psprintf("ROW(%s)::%s", hopper_identifiers(n, names), row_type_name);
}

void
hopper_predict_open_rows(hopper_prediction *run, Oid row_type, List *x)
{
	hopper_pack_source *rows = &run->rows;
	Oid			relation = hopper_source_oid(&run->source);

	hopper_predict_refuse_packed(&run->source, relation);
	hopper_require_columns(relation, x);
	run->is_view = get_rel_relkind(relation) == RELKIND_VIEW;
	run->whole_row = whole_row(run, relation, row_type);
	rows->name = run->source;
	resolve_features(rows, relation, x);
	if (run->source_query)
		require_query_columns(run, relation);
	else
		hopper_pack_find_row_names(rows, relation);
	hopper_predict_set_row_types(run, row_type, true);
	open_features(run);
}

void
hopper_predict_open_source(hopper_prediction *run, text *id_col, List *x)
{
	hopper_pack_source *rows = &run->rows;
	List	   *id;
	Oid			relation = hopper_source_oid(&run->source);
	hopper_pack_column id_column;

	if (id_col == NULL)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("argument \"id_col\" must not be null"),
					 errhint("Name the column that tells the rows of \"%s\" apart; "
							 "hopper.predict_rows() needs none.", run->source.shown));
	id = hopper_column_list(id_col, "id_col");
	hopper_predict_refuse_packed(&run->source, relation);
	if (list_length(id) != 1)
		hopper_wrong(errmsg("id_col must be one column"));
	hopper_require_columns(relation, lappend(list_copy(x), linitial(id)));
	hopper_pack_resolve_column(relation, linitial(id), &id_column);
	if (get_attnum(relation, id_column.name) < 0)
		hopper_raise(ERRCODE_INVALID_COLUMN_REFERENCE,
					 errmsg("column \"%s\" cannot be the id of predictions", id_column.name),
					 errdetail("It is a system column."),
					 errhint("Predict from a view that gives it another name."));
	if (run->what.kind == PREDICT_COLUMNS)
		hopper_predict_require_columns(&run->model);
	run->id_column = id_column.name;
	run->id_type = id_column.qualified_type;
	hopper_predict_check_id(run);

	rows->name = run->source;
	resolve_features(rows, relation, x);
	rows->n_keys = 1;
	rows->keys = &run->id_column;
	hopper_predict_set_row_types(run, id_column.declared, false);
	open_features(run);
}

void
hopper_predict_take_layer(hopper_predict_model *model, text *layer)
{
	char	   *name;

	if (layer == NULL)
		return;
	name = text_to_cstring(layer);
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		hopper_wrong(errmsg("argument \"layer\" must have from 1 to %d bytes", NAMEDATALEN - 1));
	model->layer = hopper_to_utf8(name);
	model->class_name = name;
	model->link = HOPPER_LINK_NONE;
	model->is_value = model->is_array = true;
	model->is_each = false;
	model->rank = 1;
	model->shape[0] = 0;
	model->n_parts = model->n_classes = model->n_class_values = 0;
}

/*
 * Of a label with a name, or of rows with weights, the summary has the classes as text. Other types
 * than these may have changed since, or mean another one in this search_path.
 */
static void
take_named_labels(hopper_prediction *run, const hopper_trained *trained)
{
	static const Oid types[] = {BOOLOID, INT2OID, INT4OID, INT8OID};
	const hopper_output *output = &trained->data.desc.outputs[0];
	Oid			type = TEXTOID;

	for (int i = 0; i < lengthof(types); i++)
		if (strcmp(trained->data.y_types[0], format_type_be(types[i])) == 0)
			type = types[i];
	run->labels.n = Max(output->num_classes, output->n_class_values);
	run->labels.values = palloc0(sizeof(Datum) * run->labels.n);
	run->labels.nulls = palloc(sizeof(bool) * run->labels.n);
	for (int i = 0; i < run->labels.n; i++)
	{
		const char *name = i < output->n_class_values ? output->class_values[i] : NULL;

		run->labels.nulls[i] = name == NULL;
		if (name)
			run->labels.values[i] = hopper_value_of(type, name);
	}
	run->labels.type = hopper_type_name(type, -1);
	run->labels.oid = type;
}

void
hopper_predict_read_labels(hopper_prediction *run, const hopper_trained *trained)
{
	const hopper_packed *data = &trained->data;

	if (run->model.is_value || run->model.is_each || run->model.n_parts > 0)
		return;
	if (data->desc.n_outputs == 1)
	{
		if (data->desc.outputs[0].kind == HOPPER_LABEL_CLASS)
			take_named_labels(run, trained);
		return;
	}
	if (data->class_values == (Datum) 0)
		return;
	run->labels.n = hopper_elements(DatumGetArrayTypeP(data->class_values), &run->labels.values,
									&run->labels.nulls);
	run->labels.oid = get_element_type(getBaseType(data->class_values_type));
	run->labels.type = hopper_type_name(run->labels.oid, -1);
}

void
hopper_predict_given_classes(hopper_predict_model *model, ArrayType *array)
{
	char	  **names;
	int			n;

	if (ARR_NDIM(array) > 2 || (ARR_NDIM(array) == 2 && ARR_DIMS(array)[0] != 1))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("models with several outputs are not supported"),
					 errdetail("class_values has %d rows.", ARR_DIMS(array)[0]));
	names = hopper_texts(PointerGetDatum(array), &n);
	if (n == 0)
		hopper_wrong(errmsg("class_values must not be empty"),
					 errhint("Leave it out to see the classes' indexes."));
	model->n_classes = model->n_class_values = n;
	model->class_values = (const char *const *) names;
}
