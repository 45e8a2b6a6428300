/*
 * networks.c
 *		mlp() and cnn(): architectures that fit a packed table, written as Keras' JSON; models by
 *		their names.
 *
 * The input has the shape of the packed features, the end follows from the labels: one sigmoid unit
 * for two classes, softmax over more, a sigmoid for each of an array of booleans, one or several
 * linear units for numbers. Places of a row that are ids are embedded first.
 */
#include "pg/catalog/models.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "pg/codec/rows.h"
#include "pg/codec/schema.h"
#include "pg/server/words.h"

PG_FUNCTION_INFO_V1(hopper_sql_mlp);
PG_FUNCTION_INFO_V1(hopper_sql_cnn);
PG_FUNCTION_INFO_V1(hopper_sql_model_id);
PG_FUNCTION_INFO_V1(hopper_sql_model_ids);

#define MOST_LAYERS 1000		/* of one kind */
#define EMBEDDING 8				/* weights for each category, as tabular() has them */

typedef struct network
{
	const char *kind;			/* "mlp" */
	StringInfoData json;
	int			n_layers;
	bool		is_functional;	/* layers name what they read, else each reads the one before */
	const char *name;			/* of the layer that is written, in JSON */
	const char *last;			/* of the one before */
	char	   *activation;
	double		dropout;
	bool		batch_norm;
	const hopper_data_desc *data;
	int			n_outputs;
	hopper_output *outputs;		/* at least one */
	int			n_places;		/* of a row that a schema describes */
	hopper_schema_place *places;	/* or NULL: none is an id */
} network;

/* "Conv2D" -> "conv2d" */
static char *
lower_words(const char *class_name)
{
	char	   *lower = pstrdup(class_name);

	for (char *c = lower; *c; c++)
		*c = pg_ascii_tolower((unsigned char) *c);
	return lower;
}

/* The comma is what stands between two layers. */
static void
begin_named_layer(network *net, const char *class_name, const char *more, const char *name)
{
	net->name = name;
	appendStringInfo(&net->json, ",\n{\"class_name\": \"%s\", %s\"config\": {\"name\": %s",
					 class_name, more, name);
}

/* "dense_3" */
static char *
next_name(network *net, const char *class_name)
{
	return psprintf("\"%s_%d\"", lower_words(class_name), ++net->n_layers);
}

/* Each argument begins with a comma, too. */
static void
begin_layer(network *net, const char *class_name)
{
	begin_named_layer(net, class_name, "", next_name(net, class_name));
}

/* One that Keras does not have, or has as an operation alone. */
static void
begin_own_layer(network *net, const char *class_name)
{
	begin_named_layer(net, class_name,
					  psprintf("\"registered_name\": \"model_hopper>%s\", ", class_name),
					  next_name(net, class_name));
}

/* A layer that reads `inputs`, [["name", 0, 0, {}], ...] without the outer brackets. */
static void
end_layer_of(network *net, const char *inputs)
{
	appendStringInfoChar(&net->json, '}');
	if (net->is_functional)
		appendStringInfo(&net->json, ", \"name\": %s, \"inbound_nodes\": [[%s]]", net->name,
						 inputs);
	appendStringInfoChar(&net->json, '}');
	net->last = net->name;
}

static char *
input_named(const char *name)
{
	return psprintf("[%s, 0, 0, {}]", name);
}

static void
end_layer(network *net)
{
	end_layer_of(net, input_named(net->last));
}

static void
add_layer(network *net, const char *class_name)
{
	begin_layer(net, class_name);
	end_layer(net);
}

static void
add_activation(network *net, const char *activation)
{
	appendStringInfoString(&net->json, ", \"activation\": ");
	escape_json(&net->json, activation);
}

/* Normalization, activation and dropout behind a layer without an activation of its own. */
static void
finish_block(network *net, bool dropout)
{
	if (net->batch_norm)
	{
		add_layer(net, "BatchNormalization");
		begin_layer(net, "Activation");
		add_activation(net, net->activation);
		end_layer(net);
	}
	if (dropout && net->dropout > 0)
	{
		begin_layer(net, "Dropout");
		appendStringInfo(&net->json, ", \"rate\": %g", net->dropout);
		end_layer(net);
	}
}

static void
add_dense(network *net, int n_hidden, const int32 *hidden)
{
	for (int i = 0; i < n_hidden; i++)
	{
		begin_layer(net, "Dense");
		appendStringInfo(&net->json, ", \"units\": %d", hidden[i]);
		if (!net->batch_norm)
			add_activation(net, net->activation);
		end_layer(net);
		finish_block(net, true);
	}
}

static void
append_shape(network *net, int rank, const int64_t *shape)
{
	for (int i = 0; i < rank; i++)
		appendStringInfo(&net->json, "%s" INT64_FORMAT, i ? ", " : "", shape[i]);
}

/* Chosen places of the row: those of ids, or the others. */
static void
add_places(network *net, bool of_ids)
{
	const char *comma = "";

	begin_own_layer(net, "Take");
	appendStringInfoString(&net->json, ", \"axis\": 1, \"indices\": [");
	for (int i = 0; i < net->n_places; i++)
		if ((net->places[i].ids > 0) == of_ids)
		{
			appendStringInfo(&net->json, "%s%d", comma, i);
			comma = ", ";
		}
	appendStringInfoChar(&net->json, ']');
	end_layer_of(net, input_named("\"input\""));
}

/* Of each column of ids how many there are, or how many of its places. */
static void
append_columns(network *net, const char *argument, bool of_lengths)
{
	const char *comma = "";

	appendStringInfo(&net->json, ", \"%s\": [", argument);
	for (int i = 0; i < net->n_places; i++)
		if (net->places[i].length > 0)
		{
			appendStringInfo(&net->json, "%s" INT64_FORMAT, comma,
							 of_lengths ? (int64) net->places[i].length : net->places[i].ids);
			comma = ", ";
		}
	appendStringInfoChar(&net->json, ']');
}

/* Rows of weights in the place of ids, beside the numbers. */
static void
add_embeddings(network *net)
{
	int			n = 0;
	bool		has_texts = false;
	const char *numbers = NULL;

	for (int i = 0; i < net->n_places; i++)
	{
		n += net->places[i].ids > 0;
		has_texts = has_texts || net->places[i].length > 1;
	}
	if (n < net->n_places)
	{
		add_places(net, false);
		numbers = net->last;
	}
	add_places(net, true);
	begin_own_layer(net, "CategoryEmbedding");
	appendStringInfo(&net->json, ", \"output_dim\": %d", EMBEDDING);
	append_columns(net, "input_dims", false);
	if (has_texts)
		append_columns(net, "lengths", true);
	end_layer(net);
	if (numbers == NULL)
		return;
	begin_layer(net, "Concatenate");
	appendStringInfoString(&net->json, ", \"axis\": -1");
	end_layer_of(net, psprintf("%s, %s", input_named(numbers), input_named(net->last)));
}

static void
begin_network(network *net)
{
	initStringInfo(&net->json);
	net->n_layers = 0;
	net->is_functional = net->places != NULL || net->n_outputs > 1;
	net->last = "\"input\"";
	appendStringInfo(&net->json, "{\"class_name\": \"%s\", \"config\": {\"layers\": [\n"
					 "{\"class_name\": \"InputLayer\", %s\"config\": {\"name\": \"input\", "
					 "\"batch_shape\": [null, ", net->is_functional ? "Functional" : "Sequential",
					 net->is_functional ? "\"name\": \"input\", \"inbound_nodes\": [], " : "");
	append_shape(net, net->data->x_rank, net->data->x_shape);
	appendStringInfoString(&net->json, "]}}");
	if (net->places)
		add_embeddings(net);
	/* Bytes as they are would be too large for weights that begin small. */
	if (net->data->x_type == HOPPER_UINT8 && net->data->normalizing_const == 1)
	{
		begin_layer(net, "Rescaling");
		appendStringInfoString(&net->json, ", \"scale\": 0.00392156862745098, \"offset\": 0.0");
		end_layer(net);
	}
}

/* The last layer of one among several outputs has its name. */
static void
begin_end(network *net, const char *class_name, bool is_last, const hopper_output *output)
{
	StringInfoData name;

	if (!is_last || net->n_outputs == 1)
	{
		begin_layer(net, class_name);
		return;
	}
	initStringInfo(&name);
	escape_json(&name, output->name);
	begin_named_layer(net, class_name, "", name.data);
}

/*
 * The last layers of an output: a number for each class or value of the labels. Of two classes one
 * unit tells the second one's probability, so that metrics such as AUC and precision are of that
 * class.
 */
static void
add_end(network *net, const hopper_output *output)
{
	bool		is_class = output->kind == HOPPER_LABEL_CLASS;
	bool		is_reshaped = output->rank > 1;
	int64		units = 1;
	const char *activation = "linear";

	if (is_class)
	{
		units = output->num_classes == 2 ? 1 : output->num_classes;
		activation = output->num_classes == 2 ? "sigmoid" : "softmax";
	}
	else
		for (int i = 0; i < output->rank; i++)
			units *= output->shape[i];
	/* Only arrays of booleans are packed as bytes: each says whether a label holds. */
	if (output->kind == HOPPER_LABEL_ARRAY && net->data->y_type == HOPPER_UINT8)
		activation = "sigmoid";
	begin_end(net, "Dense", !is_reshaped, output);
	appendStringInfo(&net->json, ", \"units\": " INT64_FORMAT, units);
	add_activation(net, activation);
	end_layer(net);
	if (!is_reshaped)
		return;
	begin_end(net, "Reshape", true, output);
	appendStringInfoString(&net->json, ", \"target_shape\": [");
	append_shape(net, output->rank, output->shape);
	appendStringInfoChar(&net->json, ']');
	end_layer(net);
}

static void
end_network(network *net)
{
	const char *before = net->last;
	StringInfo	ends = makeStringInfo();

	for (int i = 0; i < net->n_outputs; i++)
	{
		net->last = before;
		add_end(net, &net->outputs[i]);
		appendStringInfo(ends, "%s[%s, 0, 0]", i ? ", " : "", net->last);
	}
	appendStringInfoChar(&net->json, ']');
	if (net->is_functional)
		appendStringInfo(&net->json, ", \"name\": \"%s\", \"input_layers\": [[\"input\", 0, 0]],"
						 " \"output_layers\": [%s]", net->kind, ends->data);
	appendStringInfoString(&net->json, "}}");
}

/* --- arguments --- */

/* What the labels are; without an output of its own the label is one. */
static void
take_outputs(network *net, const hopper_data_desc *desc, const char *table)
{
	net->n_outputs = Max(desc->n_outputs, 1);
	net->outputs = palloc0(net->n_outputs * sizeof(hopper_output));
	for (int i = 0; i < net->n_outputs; i++)
	{
		hopper_output *output = &net->outputs[i];

		if (desc->n_outputs > 0)
			*output = desc->outputs[i];
		else
		{
			output->column = desc->y_column;
			output->kind = desc->y_kind;
			output->rank = desc->y_rank;
			memcpy(output->shape, desc->y_shape, sizeof(output->shape));
			output->num_classes = desc->num_classes;
		}
		if (output->kind == HOPPER_LABEL_CLASS && output->num_classes < 2)
			hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("column \"%s\" of \"%s\" holds one class only", output->column,
								table),
						 errdetail("There is nothing to learn."),
						 errhint("Pack rows of other classes, too, or numbers with label_kind "
								 "=> 'value'."));
		if (output->name)
			output->name = pstrdup(output->name);
	}
}

/* Arguments from `activation` on, and what the packed table says. */
static void
read_network(FunctionCallInfo fcinfo, int at, network *net)
{
	hopper_name name = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_packed *packed = palloc(sizeof(hopper_packed));
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext own;

	hopper_require_other_tables(fcinfo, "model_arch_table",
								(const char *const[]) {"packed_table", NULL});
	net->activation = PG_ARGISNULL(at) ? "relu" : text_to_cstring(PG_GETARG_TEXT_PP(at));
	net->dropout = PG_ARGISNULL(at + 1) ? 0 : PG_GETARG_FLOAT8(at + 1);
	net->batch_norm = !PG_ARGISNULL(at + 2) && PG_GETARG_BOOL(at + 2);
	if (!(net->dropout >= 0 && net->dropout < 1))
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("dropout must be from 0 to below 1, got %g", net->dropout));
	hopper_connect();
	hopper_read_packed(&name, false, packed);
	/* They outlive SPI's memory, where each statement ends. */
	own = MemoryContextSwitchTo(caller);
	net->places = hopper_schema_places(packed->schema_text, &net->n_places);
	MemoryContextSwitchTo(own);
	if (packed->inputs.n > 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("\"%s\" was packed with several inputs, which only your architecture "
							"can join", name.shown),
					 errdetail("It has the inputs %s.",
							   hopper_columns_words(packed->inputs.n, packed->inputs.names)),
					 errhint("Build it with Keras and store it with hopper.load_model()."));
	net->data = &packed->desc;
	own = MemoryContextSwitchTo(caller);
	take_outputs(net, &packed->desc, name.shown);
	MemoryContextSwitchTo(own);
	hopper_finish();
}

/* "mlp 64-32" */
static text *
default_name(const char *kind, int n, const int32 *sizes)
{
	StringInfo	name = makeStringInfo();

	appendStringInfoString(name, kind);
	for (int i = 0; i < n && name->len < 50; i++)
		appendStringInfo(name, "%c%d", i ? '-' : ' ', sizes[i]);
	return cstring_to_text(name->data);
}

/* Arguments from `name` on. */
static Datum
add_network(FunctionCallInfo fcinfo, network *net, int at, text *otherwise)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	hopper_new_model model = {hopper_to_utf8(net->json.data)};
	int32		model_id;

	model.name = PG_ARGISNULL(at) ? otherwise : PG_GETARG_TEXT_PP(at);
	model.replace = !PG_ARGISNULL(at + 1) && PG_GETARG_BOOL(at + 1);
	if (!hopper_add_model(&table, &model, &model_id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(model_id);
}

/* mlp(model_arch_table, packed_table, hidden, activation, dropout, batch_norm, name, replace) */
Datum
hopper_sql_mlp(PG_FUNCTION_ARGS)
{
	network		net = {.kind = "mlp"};
	int32	   *hidden;
	int			n;

	hidden = hopper_sizes_argument(fcinfo, 2, "hidden", 0, MOST_LAYERS, &n);
	read_network(fcinfo, 3, &net);
	begin_network(&net);
	if (net.data->x_rank > 1)
		add_layer(&net, "Flatten");
	add_dense(&net, n, hidden);
	end_network(&net);
	return add_network(fcinfo, &net, 6, default_name("mlp", n, hidden));
}

/*
 * cnn(model_arch_table, packed_table, filters, kernel_size, pooling, hidden, activation, dropout,
 * batch_norm, name, replace)
 */
Datum
hopper_sql_cnn(PG_FUNCTION_ARGS)
{
	network		net = {.kind = "cnn"};
	int32	   *filters;
	int32	   *hidden;
	int			n;
	int			n_hidden;
	int			kernel_size;
	int			pooling;
	int64		height;
	int64		width;

	filters = hopper_sizes_argument(fcinfo, 2, "filters", 0, MOST_LAYERS, &n);
	kernel_size = hopper_positive_argument(fcinfo, 3, "kernel_size", 3);
	pooling = hopper_positive_argument(fcinfo, 4, "pooling", 2);
	hidden = hopper_sizes_argument(fcinfo, 5, "hidden", 0, MOST_LAYERS, &n_hidden);
	read_network(fcinfo, 6, &net);
	if (net.data->x_rank != 2 && net.data->x_rank != 3)
		hopper_raise(ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("\"%s\" does not hold images", net.data->table_name),
					 errdetail("An example has %s; an image has two or three.",
							   hopper_plural(net.data->x_rank, "axis", "axes")),
					 errhint("Pack with image_shape, or use hopper.mlp()."));
	height = net.data->x_shape[0];
	width = net.data->x_shape[1];
	begin_network(&net);
	if (net.data->x_rank == 2)
	{
		begin_layer(&net, "Reshape");
		appendStringInfo(&net.json, ", \"target_shape\": [" INT64_FORMAT ", " INT64_FORMAT ", 1]",
						 height, width);
		end_layer(&net);
	}
	for (int i = 0; i < n; i++)
	{
		begin_layer(&net, "Conv2D");
		appendStringInfo(&net.json, ", \"filters\": %d, \"kernel_size\": [%d, %d],"
						 " \"padding\": \"same\"", filters[i], kernel_size, kernel_size);
		if (!net.batch_norm)
			add_activation(&net, net.activation);
		end_layer(&net);
		finish_block(&net, false);
		/* An image smaller than the window stays as it is. */
		if (pooling > 1 && height >= pooling && width >= pooling)
		{
			begin_layer(&net, "MaxPooling2D");
			appendStringInfo(&net.json, ", \"pool_size\": [%d, %d]", pooling, pooling);
			end_layer(&net);
			height /= pooling;
			width /= pooling;
		}
	}
	add_layer(&net, "Flatten");
	add_dense(&net, n_hidden, hidden);
	end_network(&net);
	return add_network(fcinfo, &net, 9, default_name("cnn", n, filters));
}

/* --- models by name --- */

static void
refuse_model_name(const hopper_name *table, const char *name)
{
	uint64		n = hopper_select("SELECT DISTINCT name::pg_catalog.text FROM %s"
								  " WHERE name IS NOT NULL ORDER BY 1 LIMIT 1000", table->quoted);
	const char **names = palloc(sizeof(char *) * (n + 1));
	StringInfo	known = makeStringInfo();
	int			nearest;

	for (uint64 i = 0; i < n; i++)
	{
		names[i] = hopper_cell(i, 1);
		if (i < 20)
			appendStringInfo(known, "%s\"%s\"", i ? ", " : "", names[i]);
		else if (i == 20)
			appendStringInfoString(known, ", ...");
	}
	nearest = hopper_core()->nearest_name(name, (int) n, names);
	hopper_raise(ERRCODE_UNDEFINED_OBJECT,
				 errmsg("model \"%s\" does not exist in \"%s\"", name, table->shown),
				 nearest >= 0 ? errhint("Perhaps you meant \"%s\".", names[nearest])
				 : n > 0 ? errhint("The table has the names %s.", known->data)
				 : errhint("None of its models has a name."));
}

static int32
find_model_id(const hopper_name *table, const char *name)
{
	int32		model_id;

	if (!hopper_find_named_model(table, name, &model_id))
		refuse_model_name(table, name);
	return model_id;
}

/* model_id(model_arch_table, name) */
Datum
hopper_sql_model_id(PG_FUNCTION_ARGS)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	char	   *name;
	int32		model_id;

	hopper_require_argument(fcinfo, 1, "name");
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	(void) hopper_require_model_table(&table);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	model_id = find_model_id(&table, name);
	SPI_finish();
	PG_RETURN_INT32(model_id);
}

/* model_ids(model_arch_table, names) */
Datum
hopper_sql_model_ids(PG_FUNCTION_ARGS)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	char	  **names = NULL;
	Datum	   *ids;
	int			n = 0;

	if (!PG_ARGISNULL(1))
		names = hopper_texts(PG_GETARG_DATUM(1), &n);
	(void) hopper_require_model_table(&table);
	ids = palloc(sizeof(Datum) * Max(n, 1));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for (int i = 0; i < n; i++)
	{
		if (names[i] == NULL)
			hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
						 errmsg("argument \"names\" must not hold nulls"));
		ids[i] = Int32GetDatum(find_model_id(&table, names[i]));
	}
	SPI_finish();
	PG_RETURN_ARRAYTYPE_P(construct_array(ids, n, INT4OID, sizeof(int32), true, 'i'));
}
