/*
 * export.c
 *		to_onnx() and to_pytorch(): models for other tools; tensorboard_files(): what trials have
 *		reached, for TensorBoard.
 */
#include "pg/predict/predict.h"

#include "utils/json.h"

#include "pg/catalog/models.h"
#include "pg/server/version.h"

/*
 * A varlena of the file that rows of the core describe, in the current memory context. `weights`
 * may be NULL where none follow them.
 */
static struct varlena *
file_of(hopper_rows *rows, const hopper_export *from, hopper_floats *weights)
{
	hopper_guard *guard = hopper_guard_rows(rows);	/* cells hold any bytes */
	Size		size = 0;
	hopper_share *share;
	struct varlena *file;
	char	   *at;

	for (int row = 0; row < rows->n_rows; row++)
		size += strtoll(rows->cells[4 * row + 1], NULL, 10) +
			strtoll(rows->cells[4 * row + 3], NULL, 10) * sizeof(float);
	/* Then it is the query's, which holds it as any value. */
	share = hopper_share_new();
	hopper_take_memory(share, size);
	file = (struct varlena *) hopper_make_bytea(size);
	at = VARDATA(file);
	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + 4 * row;
		Size		bytes = strtoll(cells[1], NULL, 10);
		int64		first = strtoll(cells[2], NULL, 10);
		Size		floats = strtoll(cells[3], NULL, 10) * sizeof(float);

		memcpy(at, cells[0], bytes);
		at += bytes;
		if (floats > 0)
			hopper_floats_copy_checked(weights, from->model_arch, from->model_arch_size, first,
									   floats / sizeof(float), at);
		at += floats;
	}
	hopper_guard_release(guard);
	hopper_share_release(share);
	return file;
}

/* `weights` may be NULL for source. */
static struct varlena *
make_file(hopper_export *from, hopper_floats *weights)
{
	hopper_rows *rows;
	struct varlena *file;

	if (weights)
	{
		from->weights = weights->values;
		from->n_weights = weights->n;
	}
	HOPPER_CORE(export_model, from, &rows);
	file = file_of(rows, from, weights);
	if (weights)
		hopper_floats_release(weights);
	return file;
}

/* An architecture of type text in the first place is taken for the name of a table. */
static void
refuse_architecture(FunctionCallInfo fcinfo)
{
	char	   *given = hopper_string_argument(fcinfo, 0);

	if (given && given[strspn(given, " \t\r\n")] == '{')
		hopper_wrong(errmsg("argument \"model_table\" is an architecture, not the name of a table"),
					 errhint("Name the argument: model_arch => ..."));
}

/* '["age", "income"]', or by input '{"numbers": ["age"], "image": ["pixels"]}'; UTF-8 */
static const char *
features_json(const hopper_trained *trained)
{
	const hopper_pack_inputs *inputs = &trained->data.inputs;
	StringInfo	json = makeStringInfo();
	int			column = 0;

	if (inputs->n > 0)
		appendStringInfoChar(json, '{');
	for (int i = 0; i < Max(inputs->n, 1); i++)
	{
		int			n = inputs->n > 0 ? inputs->columns[i] : trained->data.n_x_columns;

		if (inputs->n > 0)
		{
			appendStringInfoString(json, i ? ", " : "");
			escape_json(json, inputs->names[i]);
			appendStringInfoString(json, ": ");
		}
		for (int k = 0; k < n; k++)
		{
			appendStringInfoString(json, k ? ", " : "[");
			escape_json(json, trained->data.x_columns[column++]);
		}
		appendStringInfoChar(json, ']');
	}
	if (inputs->n > 0)
		appendStringInfoChar(json, '}');
	return hopper_to_utf8(json->data);
}

/* Of a table of trained models. */
static struct varlena *
export_trained(FunctionCallInfo fcinfo, hopper_format format)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext inner;
	int32		mst_key = hopper_key_argument(fcinfo, 1);
	hopper_name table;
	hopper_trained trained;
	hopper_export from = {0};
	struct varlena *file;

	if (hopper_backend.on_a_segment())
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("a segment cannot read the model's table"),
					 errhint("Call the function without a table in FROM."));
	refuse_architecture(fcinfo);
	hopper_connect();
	table = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_read_trained(&table, !PG_ARGISNULL(1), mst_key, &trained);
	from.format = format;
	from.model_arch = trained.config.model_arch;
	from.model_arch_size = trained.config.model_arch_size;
	from.data = &trained.data.desc;
	from.features = features_json(&trained);
	if (trained.data.schema_text)
	{
		from.schema = hopper_to_utf8(trained.data.schema_text);
		ereport(NOTICE,
				errmsg("the file of \"%s\" takes columns as their treatments encode them",
					   trained.outputs.model.shown),
				errdetail("Of %s an example has %s.",
						  hopper_plural(trained.data.n_x_columns, "column", "columns"),
						  hopper_plural(hopper_shape_count(trained.data.desc.x_rank,
														   trained.data.desc.x_shape),
										"number", "numbers")),
				errhint("hopper.transform_rows(%s, 'table') encodes rows so.",
						hopper_literal(trained.outputs.model.shown)));
	}
	inner = MemoryContextSwitchTo(caller);
	file = make_file(&from, &trained.weights);
	MemoryContextSwitchTo(inner);
	hopper_finish();
	return file;
}

/* to_onnx(model_table, mst_key) */
HOPPER_FUNCTION(hopper_sql_to_onnx)
{
	PG_RETURN_BYTEA_P((bytea *) export_trained(fcinfo, HOPPER_FORMAT_ONNX));
}

/* to_onnx(model_arch, model_weights, input_shape) */
HOPPER_FUNCTION(hopper_sql_to_onnx_arch)
{
	hopper_arch model;
	hopper_export from = {0};
	hopper_floats weights;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	hopper_arch_arguments(fcinfo, 2, &model);
	from.format = HOPPER_FORMAT_ONNX;
	from.model_arch = model.arch;
	from.model_arch_size = model.arch_size;
	from.rank = model.rank;
	from.shape = model.shape;
	hopper_floats_of(PG_GETARG_DATUM(1), true, &weights);
	PG_RETURN_BYTEA_P((bytea *) make_file(&from, &weights));
}

static text *
in_server_encoding(struct varlena *source)
{
	return cstring_to_text(hopper_from_utf8(text_to_cstring((text *) source)));
}

/* to_pytorch(model_table, mst_key) */
HOPPER_FUNCTION(hopper_sql_to_pytorch)
{
	PG_RETURN_TEXT_P(in_server_encoding(export_trained(fcinfo, HOPPER_FORMAT_PYTORCH)));
}

/* to_pytorch(model_arch, input_shape) */
HOPPER_FUNCTION(hopper_sql_to_pytorch_arch)
{
	hopper_arch model;
	hopper_export from = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	hopper_arch_arguments(fcinfo, 1, &model);
	from.format = HOPPER_FORMAT_PYTORCH;
	from.model_arch = model.arch;
	from.model_arch_size = model.arch_size;
	from.rank = model.rank;
	from.shape = model.shape;
	PG_RETURN_TEXT_P(in_server_encoding(make_file(&from, NULL)));
}

/* An array argument without NULLs; ERROR where its elements are not `n`, unless n is -1. */
static ArrayType *
array_of(FunctionCallInfo fcinfo, int at, int32 *n)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(at);
	int			found = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (*n == -1)
		*n = found;
	if (found != *n || array_contains_nulls(array))
		hopper_raise(ERRCODE_ARRAY_SUBSCRIPT_ERROR,
					 errmsg("arrays of events must have the same length and no NULLs"));
	return array;
}

static const char *const *
texts_argument(FunctionCallInfo fcinfo, int at, int32 *n)
{
	Datum	   *values;
	bool	   *nulls;
	const char **texts;

	hopper_elements(array_of(fcinfo, at, n), &values, &nulls);
	texts = palloc((*n + 1) * sizeof(char *));
	for (int i = 0; i < *n; i++)
		texts[i] = hopper_to_utf8(TextDatumGetCString(values[i]));
	return texts;
}

/* tensorboard_events(tags, steps, times, values, names, given, began, failed): strict */
HOPPER_FUNCTION(hopper_sql_tensorboard_events)
{
	hopper_events events = {.n = -1, .n_given = -1};
	hopper_rows *rows;

	events.tags = texts_argument(fcinfo, 0, &events.n);
	events.steps = (const int64_t *) ARR_DATA_PTR(array_of(fcinfo, 1, &events.n));
	events.times = (const double *) ARR_DATA_PTR(array_of(fcinfo, 2, &events.n));
	events.values = (const double *) ARR_DATA_PTR(array_of(fcinfo, 3, &events.n));
	events.names = texts_argument(fcinfo, 4, &events.n_given);
	events.given = texts_argument(fcinfo, 5, &events.n_given);
	events.began = PG_GETARG_FLOAT8(6);
	events.failed = PG_GETARG_BOOL(7);
	HOPPER_CORE(export_events, &events, &rows);
	PG_RETURN_BYTEA_P((bytea *) file_of(rows, NULL, NULL));
}

/* tensorboard_files(model_table): rows of path and bytes */
HOPPER_FUNCTION(hopper_sql_tensorboard_files)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	char	   *schema = get_namespace_name(hopper_schema());

	return hopper_return_query(fcinfo,
							   psprintf("SELECT path, content FROM %s.tensorboard_within(%s)",
										hopper_identifier(schema), hopper_whole_name(&models)));
}
