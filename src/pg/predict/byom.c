/*
 * byom.c
 *		predict_byom(): an unpacked table in, a table of predictions out, by a model that was
 *		brought along with its weights. What training would know of it, its architecture and the
 *		arguments have to say.
 */
#include "pg/predict/run.h"

#include "pg/catalog/models.h"
#include "pg/server/devices.h"

/* --- the ends of the architecture --- */

typedef struct model_end
{
	char	   *name;
	int			rank;
	int64		shape[HOPPER_MAX_RANK];
	int64		first;
	int64		count;
	hopper_meaning unnamed;		/* of an output, by whether its classes have names */
	hopper_meaning named;
} model_end;

typedef struct model_ends
{
	int			n_inputs;
	model_end  *inputs;
	int			n_outputs;
	model_end  *outputs;
} model_ends;

/* Cells: input or output, name, "3x4", first, count, meanings. */
static void
take_end(model_end *end, const char *const *cells)
{
	const char *at = cells[2];
	char	   *next;

	end->name = hopper_from_utf8(cells[1]);
	while (*at && end->rank < HOPPER_MAX_RANK)
	{
		end->shape[end->rank++] = strtoll(at, &next, 10);
		at = *next ? next + 1 : next;
	}
	end->first = strtoll(cells[3], NULL, 10);
	end->count = strtoll(cells[4], NULL, 10);
	end->unnamed = (hopper_meaning) atoi(cells[5]);
	end->named = (hopper_meaning) atoi(cells[6]);
}

/* No packed table tells the shape of an example here. */
static void
throw_of_stored(hopper_error *error)
{
	if (error->code == HOPPER_NOT_READY)
		strlcpy(error->hint,
				"State it in the first layer, such as \"batch_input_shape\": [null, 4]. "
				"Where the model was trained here, hopper.predict() knows it from its data.",
				sizeof(error->hint));
	hopper_throw(error);
}

static void
read_ends(const hopper_model *stored, model_ends *ends)
{
	hopper_rows *rows;
	hopper_error error = {0};

	if (hopper_core()->model_ends(stored->arch, stored->arch_size, &rows, &error) != 0)
		throw_of_stored(&error);
	rows = hopper_take_rows(rows);
	memset(ends, 0, sizeof(*ends));
	ends->inputs = palloc0(sizeof(model_end) * rows->n_rows);
	ends->outputs = palloc0(sizeof(model_end) * rows->n_rows);
	for (int32 i = 0; i < rows->n_rows; i++)
	{
		const char *const *cells = hopper_row(rows, i);
		bool		input = strcmp(cells[0], "input") == 0;

		take_end(input ? &ends->inputs[ends->n_inputs++] : &ends->outputs[ends->n_outputs++],
				 cells);
	}
}

static char *
ends_words(int n, const model_end *ends)
{
	char	  **names = palloc(sizeof(char *) * n);

	for (int i = 0; i < n; i++)
		names[i] = ends[i].name;
	return hopper_columns_words(n, names);
}

/* --- inputs --- */

/* The columns' names in the order of the argument; of several inputs also whose they are. */
static List *
take_inputs(hopper_predict_model *model, const model_ends *ends, text *argument)
{
	hopper_pack_inputs *inputs = &model->data.inputs;
	hopper_input *described;
	List	   *columns;
	bool		by_name = hopper_inputs_argument(argument, "independent_varname", inputs, &columns);

	if (ends->n_inputs < 2)
		return by_name && inputs->n == 0 ? columns
			: hopper_column_list(argument, "independent_varname");
	if (!by_name)
	{
		/* A list is by position, a column an input. */
		columns = hopper_column_list(argument, "independent_varname");
		if (list_length(columns) == ends->n_inputs)
		{
			inputs->n = ends->n_inputs;
			inputs->names = palloc(sizeof(char *) * inputs->n);
			inputs->columns = palloc(sizeof(int) * inputs->n);
			for (int i = 0; i < inputs->n; i++)
			{
				inputs->names[i] = ends->inputs[i].name;
				inputs->columns[i] = 1;
			}
		}
	}
	if (inputs->n != ends->n_inputs)
		hopper_wrong(errmsg("independent_varname does not name the inputs of \"%s\" with their "
							"columns", model->shown),
					 errdetail("It has the inputs %s.", ends_words(ends->n_inputs, ends->inputs)),
					 errhint("Write '{\"input\": \"column\", ...}', or a list of columns in "
							 "place of one."));
	described = palloc0(sizeof(hopper_input) * inputs->n);
	for (int i = 0; i < inputs->n; i++)
	{
		int			k = 0;

		while (k < ends->n_inputs && strcmp(ends->inputs[k].name, inputs->names[i]) != 0)
			k++;
		if (k == ends->n_inputs)
			hopper_wrong(errmsg("independent_varname names \"%s\", which is no input of \"%s\"",
								inputs->names[i], model->shown),
						 errdetail("It has the inputs %s.",
								   ends_words(ends->n_inputs, ends->inputs)));
		described[i].name = inputs->names[i];
		described[i].rank = ends->inputs[k].rank;
		memcpy(described[i].shape, ends->inputs[k].shape, sizeof(described[i].shape));
	}
	model->data.desc.n_inputs = inputs->n;
	model->data.desc.inputs = described;
	return columns;
}

/* A model whose layers prepare columns: they are encoded by a schema, as packing does it. */
static void
take_schema(hopper_predict_model *model, const hopper_name *source, int n,
			const hopper_model_column *wanted, List *columns)
{
	Oid			relation = hopper_source_oid(source);
	hopper_pack_column *x = palloc0(sizeof(hopper_pack_column) * n);
	hopper_row_schema *schema;
	ListCell   *cell;
	int			i = 0;

	if (list_length(columns) != n)
		hopper_wrong(errmsg("\"%s\" has %s but independent_varname names %s", model->shown,
							hopper_plural(n, "input", "inputs"),
							hopper_plural(list_length(columns), "column", "columns")),
					 errhint("hopper.model_columns() shows the inputs in their order."));
	hopper_require_columns(relation, columns);
	foreach(cell, columns)
	{
		for (int other = 0; other < n; other++)
		{
			if (other != i && strcmp(wanted[other].name, lfirst(cell)) == 0 &&
				strcmp(wanted[i].name, lfirst(cell)) != 0)
				hopper_wrong(errmsg("input %d of \"%s\" is \"%s\" but column %d of "
									"independent_varname is \"%s\", its input %d", i + 1,
									model->shown, wanted[i].name, i + 1, wanted[other].name,
									other + 1),
							 errhint("hopper.model_columns() shows the inputs in their order."));
		}
		hopper_pack_resolve_column(relation, lfirst(cell), &x[i++]);
	}
	schema = hopper_schema_open(hopper_model_schema(n, wanted, x));
	model->schema = schema;
	model->data.desc.x_type = HOPPER_FLOAT32;
	model->data.desc.x_rank = 1;
	model->data.desc.x_shape[0] = schema->info.width;
}

/* pad_value (NULL: arrays have the model's shape), pad_side, truncate */
static void
take_padding(FunctionCallInfo fcinfo, int at, hopper_predict_model *model)
{
	hopper_pack_padding one = {true};
	hopper_pack_padding *padding;
	char	   *side = PG_ARGISNULL(at + 1) ? "post" : text_to_cstring(PG_GETARG_TEXT_PP(at + 1));
	char	   *problem = hopper_padding_side(side, "pad_side", &one.before);
	bool		beginning = false;
	int			n = Max(model->data.inputs.n, 1);

	if (problem == NULL && !PG_ARGISNULL(at + 2))
		problem = hopper_padding_side(text_to_cstring(PG_GETARG_TEXT_PP(at + 2)), "truncate",
									  &beginning);
	if (problem)
		hopper_wrong(errmsg("%s", problem),
					 errhint("Use 'post' (the end of a sequence) or 'pre' (its beginning)."));
	if (PG_ARGISNULL(at) && (one.before || !PG_ARGISNULL(at + 2)))
		hopper_wrong(errmsg("pad_side and truncate need pad_value"));
	if (PG_ARGISNULL(at))
		return;
	one.value = PG_GETARG_FLOAT8(at);
	if (!isfinite((float) one.value))
		hopper_wrong(errmsg("pad_value must be a number that real holds, got %g", one.value));
	if (!PG_ARGISNULL(at + 2))
		one.truncate = beginning ? PACK_CUT_BEGINNING : PACK_CUT_END;
	padding = palloc(sizeof(hopper_pack_padding) * n);
	for (int i = 0; i < n; i++)
		padding[i] = one;
	model->data.padding = padding;
}

/* --- outputs --- */

/* Classes without names are called by their indexes. */
static void
take_output(hopper_predict_model *model, const model_end *end)
{
	hopper_meaning meaning = model->n_class_values > 0 ? end->named : end->unnamed;

	model->first = end->first;
	model->count = (int) end->count;
	model->link_width = end->rank > 0 ? end->shape[end->rank - 1] : 1;
	model->is_value = meaning == HOPPER_MEANS_VALUES;
	model->is_each = meaning == HOPPER_MEANS_CLASS_EACH;
	model->is_array = model->is_each || (model->is_value && end->count > 1);
	model->class_type = model->n_class_values > 0 ? TEXTOID : INT4OID;
	/* A class each takes the place of the last axis. */
	model->rank = end->rank - (model->is_each && model->link_width > 1 ? 1 : 0);
	memcpy(model->shape, end->shape, sizeof(model->shape));
}

/* class_values of several outputs: a row for each, filled up with NULLs; all NULL: no names. */
static void
take_class_values(hopper_predict_model *model, ArrayType *array)
{
	int			n = model->n_parts;
	char	  **names;
	int			n_values;
	int			width;

	if (ARR_NDIM(array) != 2 || ARR_DIMS(array)[0] != n)
		hopper_wrong(errmsg("class_values must have a row for each of the %d outputs of \"%s\"", n,
							model->shown),
					 errhint("Write ARRAY[ARRAY['a', 'b', NULL], ARRAY[NULL, NULL, NULL]]: fill "
							 "up with NULL, which is all that outputs without names have."));
	names = hopper_texts(PointerGetDatum(array), &n_values);
	width = n_values / n;
	for (int i = 0; i < n; i++, names += width)
	{
		int			count = width;

		while (count > 0 && names[count - 1] == NULL)
			count--;
		model->parts[i].n_classes = model->parts[i].n_class_values = count;
		model->parts[i].class_values = (const char *const *) names;
	}
}

static void
take_outputs(hopper_predict_model *model, const model_ends *ends, ArrayType *class_values)
{
	model->class_name = "dependent_var";
	if (ends->n_outputs < 2)
	{
		if (class_values)
			hopper_predict_given_classes(model, class_values);
		take_output(model, &ends->outputs[0]);
		return;
	}
	model->n_parts = ends->n_outputs;
	model->parts = palloc0(sizeof(hopper_predict_model) * model->n_parts);
	if (class_values)
		take_class_values(model, class_values);
	for (int i = 0; i < model->n_parts; i++)
	{
		model->parts[i].shown = model->shown;
		model->parts[i].class_name = ends->outputs[i].name;
		take_output(&model->parts[i], &ends->outputs[i]);
	}
}

/* --- the call --- */

static void
read_stored(const hopper_name *table, FunctionCallInfo fcinfo, hopper_model *stored)
{
	hopper_error error;

	hopper_require_model_table(table);
	hopper_read_model(table, hopper_model_id_argument(fcinfo, 1), stored);
	if (!HOPPER_HAS_FLOATS(&stored->weights))
		hopper_unmet(errmsg("model %d of \"%s\" has no weights", stored->model_id, table->shown),
					 errhint("Store them with hopper.load_model(), or train the model."));
	/* Values that are not in memory are looked at on their way to the predictor. */
	if (hopper_core()->check_weights(stored->arch, stored->arch_size, stored->weights.values,
									 stored->weights.n, &error) == 0)
		return;
	throw_of_stored(&error);
}

/*
 * (model_arch_table, model_id, source_table, id_col, independent_varname, output_table, pred_type,
 * use_gpus, class_values, normalizing_const, replace, on_null, layer, pad_value, pad_side,
 * truncate)
 */
HOPPER_SPI_FUNCTION(hopper_sql_predict_byom)
{
	hopper_prediction *run;
	hopper_predict_model *model;
	hopper_name table;
	hopper_model stored;
	model_ends	ends;
	List	   *columns;
	hopper_model_column *wanted;
	bool		prepares = false;
	int			n_wanted;

	run = palloc0(sizeof(hopper_prediction));
	model = &run->model;
	run->what = hopper_predict_what_argument(fcinfo, 6);
	table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	hopper_require_argument(fcinfo, 1, "model_id");
	run->source = hopper_name_argument(fcinfo, 2, "source_table");
	hopper_require_other_tables(fcinfo, "output_table", (const char *const[]) {
		"model_arch_table", "source_table", NULL});
	hopper_predict_prepare_output(fcinfo, run, 5, 10);
	hopper_check_use_gpus(!PG_ARGISNULL(7) && PG_GETARG_BOOL(7), "prediction computes");
	run->work.threads = hopper_effective_threads();
	model->data.desc.normalizing_const = PG_ARGISNULL(9) ? 1.0 : PG_GETARG_FLOAT8(9);
	if (!(model->data.desc.normalizing_const > 0 && isfinite(model->data.desc.normalizing_const)))
		hopper_wrong(errmsg("normalizing_const must be positive, got %g",
							model->data.desc.normalizing_const));

	read_stored(&table, fcinfo, &stored);
	read_ends(&stored, &ends);
	model->shown = stored.name ? stored.name : psprintf("%s %d", table.shown, stored.model_id);
	model->model_arch = stored.arch;
	model->model_arch_size = stored.arch_size;
	model->weights = stored.weights;
	model->data.desc.x_rank = ends.inputs[0].rank;
	memcpy(model->data.desc.x_shape, ends.inputs[0].shape, sizeof(model->data.desc.x_shape));
	take_outputs(model, &ends, PG_ARGISNULL(8) ? NULL : PG_GETARG_ARRAYTYPE_P(8));
	wanted = hopper_model_columns(&stored, &n_wanted);
	for (int i = 0; i < n_wanted; i++)
		prepares = prepares || wanted[i].is_prepared;
	if (prepares)
	{
		if (model->data.desc.normalizing_const != 1 || !PG_ARGISNULL(13))
			hopper_wrong(errmsg("%s is not for \"%s\", which prepares its columns itself",
								PG_ARGISNULL(13) ? "normalizing_const" : "pad_value",
								model->shown));
		columns = hopper_column_list(hopper_text_argument(fcinfo, 4), "independent_varname");
		take_schema(model, &run->source, n_wanted, wanted, columns);
	}
	else
	{
		/* These models do not know their features' names. */
		columns = take_inputs(model, &ends, hopper_text_argument(fcinfo, 4));
		take_padding(fcinfo, 13, model);
	}
	hopper_predict_take_layer(model, hopper_text_argument(fcinfo, 12));
	hopper_predict_tell_unused(run, PREDICT_ALL);
	run->rows.may_lack = hopper_predict_may_lack(fcinfo, 11);
	hopper_predict_open_source(run, hopper_text_argument(fcinfo, 3), columns);
	PG_RETURN_INT64(hopper_predict_all(run));
}
