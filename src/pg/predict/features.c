/*
 * features.c
 *		What becomes of a table's columns: describe_features(), transform_rows(); and functions over
 *		the columns that a model reads, create_predict_function().
 */
#include "pg/predict/predict.h"

#include "utils/tuplestore.h"

#include "pg/server/tables.h"

/*
 * What a made function says of itself, as predict_value() does: of a function that says less the
 * server would not write the body into the statement.
 */
#define LIKE_PREDICT_VALUE \
	(HOPPER_DATA_ON_SEGMENTS ? "VOLATILE" : "STABLE PARALLEL RESTRICTED COST 200")

/* The schema of a packed table or of a table of models; ERROR where it has none. */
static hopper_row_schema *
schema_of(const hopper_name *table)
{
	hopper_trained trained;

	if (hopper_is_table(hopper_relation_oid(table, false), HOPPER_TABLE_MODELS))
		hopper_read_trained_data(table, &trained);
	else
		hopper_read_packed(table, false, &trained.data);
	if (trained.data.schema_text == NULL)
		hopper_unmet(errmsg("the features of \"%s\" are packed as they are", table->shown),
					 errhint("hopper.training_preprocessor() with treatments => '{}' chooses "
							 "treatments for columns."));
	return hopper_schema_open(trained.data.schema_text);
}

/* describe_features(table_name) */
HOPPER_SPI_FUNCTION(hopper_sql_describe_features)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "table_name");
	const hopper_row_schema *schema = schema_of(&table);

	return hopper_return_rows(fcinfo, HOPPER_CORE_ROWS(schema.describe, schema->handle));
}

typedef struct leak_search
{
	const hopper_row_schema *schema;
	const hopper_data_desc *desc;
	MemoryContext context;		/* of what is found; a buffer's is gone after it */
	hopper_rows *found;			/* NULL: no buffer has been looked at */
} leak_search;

/* Packed rows are in the order of a hash: the first buffer's are as good as any. */
static void
look_for_leaks(const hopper_buffer *buffer, void *state)
{
	leak_search *search = state;
	const hopper_data_desc *desc = search->desc;
	MemoryContext caller;

	if (search->found)
		return;
	caller = MemoryContextSwitchTo(search->context);
	search->found = HOPPER_CORE_ROWS(schema.leaks, search->schema->handle, buffer->n, buffer->x,
									 buffer->x_size, buffer->y, buffer->y_size, desc->y_type,
									 desc->y_kind == HOPPER_LABEL_CLASS ? desc->num_classes : 0);
	MemoryContextSwitchTo(caller);
}

/* leakage_suspects(packed_table) */
HOPPER_SPI_FUNCTION(hopper_sql_leakage_suspects)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "packed_table");
	hopper_packed data;
	leak_search search = {.schema = schema_of(&table),.desc = &data.desc,
		.context = CurrentMemoryContext};

	hopper_read_packed(&table, false, &data);
	if (data.outputs_text || data.desc.y_kind == HOPPER_LABEL_ARRAY)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("the labels of \"%s\" are not one class or number a row", table.shown));
	hopper_scan_packed(&data, HOPPER_SPLIT_TRAIN, 0, look_for_leaks, &search);
	return hopper_return_rows(fcinfo, search.found);
}

/* The schema's columns, found in the relation; what names a row follows them. */
static void
open_schema_rows(const hopper_row_schema *schema, const hopper_name *name, hopper_pack_source *rows)
{
	Oid			relation = hopper_source_oid(name);

	memset(rows, 0, sizeof(*rows));
	rows->segment = -1;
	rows->name = *name;
	rows->x = palloc0(schema->info.n_columns * sizeof(hopper_pack_column));
	while (rows->n_x < schema->info.n_columns)
	{
		const char *column = hopper_from_utf8(schema->info.columns[rows->n_x].name);

		hopper_pack_resolve_column(relation, column, &rows->x[rows->n_x++]);
	}
	hopper_pack_find_row_names(rows, relation);
	hopper_pack_set_row_types(rows, 0, NULL, true);
}

typedef struct transforming
{
	hopper_pack_source rows;
	hopper_pack_values values;
	Tuplestorestate *store;
	TupleDesc	descriptor;
	MemoryContext context;		/* of a row */
} transforming;

/* (row_number, features) */
static void
put_encoded(void *state, const Datum *datums, const bool *nulls)
{
	transforming *run = state;
	MemoryContext caller = MemoryContextSwitchTo(run->context);
	float4	   *encoded = palloc(run->values.size);
	Datum	   *elements = palloc(run->values.count * sizeof(Datum));

	CHECK_FOR_INTERRUPTS();
	run->rows.values = datums;
	run->rows.nulls = nulls;
	run->rows.row_number++;
	(void) hopper_pack_values_encode(&run->values, &run->rows, datums, nulls, (char *) encoded);
	for (int64 i = 0; i < run->values.count; i++)
		elements[i] = Float4GetDatum(encoded[i]);
	hopper_put_params(run->store, run->descriptor, HOPPER_PARAMS(
		HOPPER_INT8(run->rows.row_number),
		HOPPER_PARAM(FLOAT4ARRAYOID, hopper_array(FLOAT4OID, (int) run->values.count, elements,
												  NULL))));
	MemoryContextSwitchTo(caller);
	MemoryContextReset(run->context);
}

/* transform_rows(table_name, source_table) */
HOPPER_SPI_FUNCTION(hopper_sql_transform_rows)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "table_name");
	hopper_name source = hopper_name_argument(fcinfo, 1, "source_table");
	hopper_row_schema *schema;
	transforming run;
	hopper_row_cursor cursor;

	hopper_require_set_context(fcinfo);
	schema = schema_of(&table);
	open_schema_rows(schema, &source, &run.rows);
	hopper_pack_values_init_schema(&run.values, schema, run.rows.n_x, run.rows.x, source.shown,
								   table.shown);
	run.store = hopper_begin_result(fcinfo, &run.descriptor);
	run.context = AllocSetContextCreate(CurrentMemoryContext, "hopper transformed row",
										ALLOCSET_DEFAULT_SIZES);
	cursor = hopper_backend.open_row_cursor(psprintf("SELECT %s FROM %s",
													 hopper_pack_row_list(&run.rows, NULL, true),
													 run.rows.name.quoted));
	hopper_pack_begin_rows(&run.rows, cursor.desc);
	while (hopper_backend.give_rows(&cursor, 100, put_encoded, &run) > 0)
		;
	SPI_cursor_close(cursor.portal);
	return (Datum) 0;
}

/* "age" integer, "plan" text */
static char *
parameters(const hopper_trained *trained)
{
	const hopper_packed *data = &trained->data;
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < data->n_x_columns; i++)
		appendStringInfo(list, "%s%s %s", i ? ", " : "", hopper_identifier(data->x_columns[i]),
						 hopper_type_in(&trained->outputs.summary, data->x_sql_types[i]));
	return list->data;
}

/* $1, $2 */
static char *
arguments(int n)
{
	StringInfo	list = makeStringInfo();

	for (int i = 1; i <= n; i++)
		appendStringInfo(list, "%s$%d", i > 1 ? ", " : "", i);
	return list->data;
}

/* A list of texts, as an array of SQL. */
static const char *
array_literal(int n, const char *const *texts)
{
	return psprintf("%s::pg_catalog.text[]",
					hopper_literal(hopper_text_of(TEXTARRAYOID, hopper_texts_datum(n, texts))));
}

/* predict_value() takes none. */
static bool
reads_bytes(const hopper_trained *trained)
{
	const hopper_packed *data = &trained->data;
	for (int i = 0; i < data->n_x_columns; i++)
	{
		char	   *name = hopper_type_in(&trained->outputs.summary, data->x_sql_types[i]);
		Datum		type = DirectFunctionCall1(regtypein, CStringGetDatum(name));

		if (getBaseType(DatumGetObjectId(type)) == BYTEAOID)
			return true;
	}
	return false;
}

/* $1 AS "age", $2 AS "plan" */
static char *
selected(const hopper_trained *trained)
{
	const hopper_packed *data = &trained->data;
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < data->n_x_columns; i++)
		appendStringInfo(list, "%s$%d AS %s", i ? ", " : "", i + 1,
						 hopper_identifier(data->x_columns[i]));
	return list->data;
}

void
hopper_predict_require_one_value(const hopper_predict_model *model)
{
	if (model->n_parts > 0 || model->is_array || model->is_each)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("model \"%s\" does not predict one value", model->shown),
					 errhint("hopper.predict_row() gives all of them."));
}

/* The class whose probability is the largest: of hopper_outputs.o, in the label's type. */
static char *
best_class(const hopper_predict_model *model, const char *type)
{
	StringInfo	cases = makeStringInfo();
	StringInfo	largest = makeStringInfo();

	for (int i = 1; i <= model->n_class_values; i++)
		appendStringInfo(largest, "%so[%d]", i > 1 ? ", " : "", i);
	for (int i = 1; i <= model->n_class_values; i++)
		appendStringInfo(cases, " WHEN o[%d] OPERATOR(pg_catalog.=) GREATEST(%s) THEN %s", i,
						 largest->data, model->class_values[i - 1]
						 ? hopper_literal(model->class_values[i - 1]) : "NULL");
	return psprintf("(CASE%s END)::%s", cases->data, type);
}

/*
 * What a function has beside its arguments, and its body, where the probabilities of classes are
 * columns: ", OUT "prob_a" float8, ..." and "SELECT ...".
 */
static char *
columns_of_classes(const hopper_predict_model *model, const char *label_type, const char *key,
				   const char *row, char **body)
{
	StringInfo	out = makeStringInfo();
	StringInfo	selection = makeStringInfo();

	hopper_predict_require_columns(model);
	appendStringInfo(out, ", OUT %s %s", hopper_identifier(hopper_predict_value_column(model)),
					 label_type);
	appendStringInfoString(selection, best_class(model, label_type));
	for (int i = 0; i < model->n_class_values; i++)
	{
		appendStringInfo(out, ", OUT %s pg_catalog.float8",
						 hopper_identifier(hopper_predict_class_column(model, i)));
		appendStringInfo(selection, ", o[%d]", i + 1);
	}
	*body = psprintf("SELECT %s FROM (SELECT %s(%s, %s, %s) AS o OFFSET 0) AS hopper_outputs",
					 selection->data, hopper_own_name("predict_outputs"), key,
					 array_literal(model->n_class_values, model->class_values), row);
	return out->data;
}

/* 'response' or 'columns' */
static bool
asks_for_columns(FunctionCallInfo fcinfo, int at)
{
	char	   *given = hopper_string_argument(fcinfo, at);

	if (given && strcmp(given, "response") != 0 && strcmp(given, "columns") != 0)
		hopper_wrong(errmsg("pred_type \"%s\" is not known", given),
					 errhint("Use 'response' (the most probable class, or the value) or "
							 "'columns' (and a column for each class's probability)."));
	return given && strcmp(given, "columns") == 0;
}

/*
 * create_predict_function(model_table, function_name, mst_key, on_null, replace, pred_type, by_row)
 */
HOPPER_SPI_FUNCTION(hopper_sql_create_predict_function)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_name function = hopper_name_argument(fcinfo, 1, "function_name");
	char	   *on_null = hopper_string_argument(fcinfo, 3);
	bool		replace = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	bool		columns = asks_for_columns(fcinfo, 5);
	bool		by_row;
	hopper_trained trained;
	hopper_predict_model model;
	const char *result;
	const char *which;
	const char *key;
	const char *taken;
	const char *row;
	char	   *made;
	char	   *out = "";
	char	   *body;
	int			n;

	(void) hopper_predict_may_lack(fcinfo, 3);
	hopper_read_trained(&table, !PG_ARGISNULL(2), hopper_key_argument(fcinfo, 2), &trained);
	n = trained.data.n_x_columns;
	by_row = PG_ARGISNULL(6) ? n > FUNC_MAX_ARGS : PG_GETARG_BOOL(6);
	if (!by_row && n > FUNC_MAX_ARGS)
		hopper_raise(ERRCODE_TOO_MANY_ARGUMENTS,
					 errmsg("model \"%s\" reads %d columns, and functions have at most %d "
							"arguments", table.shown, n, FUNC_MAX_ARGS),
					 errhint("With by_row => true the function takes a row of them."));
	hopper_predict_from_trained(&trained, &model);
	hopper_predict_require_one_value(&model);
	result = model.is_value ? "pg_catalog.float8"
		: hopper_type_in(&trained.outputs.summary, trained.data.y_sql_type);
	taken = by_row ? "source_row pg_catalog.anyelement" : parameters(&trained);
	row = by_row ? "$1" : psprintf("ROW(%s)", arguments(n));
	made = psprintf("%s(%s)", function.quoted, taken);
	/* NULL: the best one of each statement, since the models may be trained anew. */
	which = PG_ARGISNULL(2) ? "NULL::pg_catalog.int8"
		: psprintf("%d::pg_catalog.int8", trained.mst_key);
	/* A row has names of its own. */
	key = psprintf("%s::pg_catalog.text, %s, %s::pg_catalog.text, %s",
				   hopper_literal(table.quoted), which,
				   hopper_literal(on_null ? on_null : "error"),
				   array_literal(by_row ? 0 : n, (const char *const *) trained.data.x_columns));
	/* An expression, which the server writes into the statements that call the function. */
	if (columns && !model.is_value)
		out = columns_of_classes(&model, result, key, row, &body);
	else if (!reads_bytes(&trained))
		body = psprintf("SELECT %s(%s, %s)::%s", hopper_own_name("predict_value"), key,
						by_row || n > FUNC_MAX_ARGS - 4 ? row : arguments(n), result);
	else
		body = psprintf("SELECT %s FROM %s(model_table := %s::pg_catalog.text, mst_key :="
						" %s, source_row := %s, on_null := %s::pg_catalog.text) LIMIT 1",
						model.is_value ? "value" : psprintf("class_value::%s", result),
						hopper_own_name("predict_row"), hopper_literal(table.quoted),
						which, by_row ? "$1"
						: psprintf("(SELECT hopper_row FROM (SELECT %s) AS hopper_row)",
								   selected(&trained)),
						hopper_literal(on_null ? on_null : "error"));
	hopper_change("CREATE %sFUNCTION %s(%s%s) RETURNS %s LANGUAGE sql %s AS %s",
				  replace ? "OR REPLACE " : "", function.quoted, taken, out,
				  out[0] ? "record" : result, LIKE_PREDICT_VALUE, hopper_literal(body));
	hopper_change("COMMENT ON FUNCTION %s IS %s", made,
				  hopper_literal(psprintf("prediction by %s of %s, made by model_hopper",
										  PG_ARGISNULL(2) ? "the best model"
										  : psprintf("model %d", trained.mst_key),
										  table.quoted)));
	PG_RETURN_TEXT_P(cstring_to_text(made));
}
