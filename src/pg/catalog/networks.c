/*
 * networks.c
 *		mlp(), cnn() and tabular(): architectures that fit a packed table, written by the core;
 *		models by their names.
 */
#include "pg/catalog/models.h"

#include "pg/codec/rows.h"

#define MOST_LAYERS 1000		/* of one kind */
#define NETWORK_CELLS 4			/* architecture, compile_params, fit_params, space */

/* What the core writes for the packed table that the call names; some cells may be NULL. */
static const char *const *
write_network(FunctionCallInfo fcinfo, const hopper_network *network)
{
	hopper_name name = hopper_name_argument(fcinfo, 1, "packed_table");
	hopper_packed packed;

	hopper_require_other_tables(fcinfo, "model_arch_table",
								(const char *const[]) {"packed_table", NULL});
	hopper_read_packed(&name, false, &packed);
	if (network->recipe == NULL && packed.inputs.n > 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("\"%s\" was packed with several inputs, which only your architecture "
							"can join", name.shown),
					 errdetail("It has the inputs %s.",
							   hopper_columns_words(packed.inputs.n, packed.inputs.names)),
					 errhint("Build it with Keras and store it with hopper.load_model()."));
	return HOPPER_CORE_ROWS(write_network, network, &packed.desc)->cells;
}

/* Stores what was written, by the arguments from `name` on. False: a trigger took it away. */
static bool
add_network(FunctionCallInfo fcinfo, const char *arch, int at, text *otherwise, int32 *model_id)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	hopper_new_model model = {arch};

	model.name = PG_ARGISNULL(at) ? otherwise : PG_GETARG_TEXT_PP(at);
	model.replace = !PG_ARGISNULL(at + 1) && PG_GETARG_BOOL(at + 1);
	return hopper_add_model(&table, &model, model_id);
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

/* Arguments from `activation` on. */
static Datum
return_network(FunctionCallInfo fcinfo, hopper_network *network, int at, text *name)
{
	int32		model_id;

	network->activation = PG_ARGISNULL(at) ? "relu" : hopper_utf8_argument(fcinfo, at);
	network->dropout = PG_ARGISNULL(at + 1) ? 0 : PG_GETARG_FLOAT8(at + 1);
	network->batch_norm = !PG_ARGISNULL(at + 2) && PG_GETARG_BOOL(at + 2);
	if (!(network->dropout >= 0 && network->dropout < 1))
		hopper_wrong(errmsg("dropout must be from 0 to below 1, got %g", network->dropout));
	if (!add_network(fcinfo, write_network(fcinfo, network)[0], at + 3, name, &model_id))
		PG_RETURN_NULL();
	PG_RETURN_INT32(model_id);
}

/* mlp(model_arch_table, packed_table, hidden, activation, dropout, batch_norm, name, replace) */
HOPPER_SPI_FUNCTION(hopper_sql_mlp)
{
	hopper_network network = {NULL};

	network.hidden = hopper_sizes_argument(fcinfo, 2, "hidden", 0, MOST_LAYERS,
										   &network.n_hidden);
	return return_network(fcinfo, &network, 3,
						  default_name("mlp", network.n_hidden, network.hidden));
}

/*
 * cnn(model_arch_table, packed_table, filters, kernel_size, pooling, hidden, activation, dropout,
 * batch_norm, name, replace)
 */
HOPPER_SPI_FUNCTION(hopper_sql_cnn)
{
	hopper_network network = {.of_images = 1};

	network.filters = hopper_sizes_argument(fcinfo, 2, "filters", 0, MOST_LAYERS,
											&network.n_filters);
	network.kernel_size = hopper_positive_argument(fcinfo, 3, "kernel_size", 3);
	network.pooling = hopper_positive_argument(fcinfo, 4, "pooling", 2);
	network.hidden = hopper_sizes_argument(fcinfo, 5, "hidden", 0, MOST_LAYERS,
										   &network.n_hidden);
	return return_network(fcinfo, &network, 6,
						  default_name("cnn", network.n_filters, network.filters));
}

/* tabular(model_arch_table, packed_table, recipe, options, name, replace) */
HOPPER_SPI_FUNCTION(hopper_sql_tabular)
{
	const char *recipe = PG_ARGISNULL(2) ? "realmlp" : hopper_string_argument(fcinfo, 2);
	const char *options = PG_ARGISNULL(3) ? "{}" : hopper_utf8_argument(fcinfo, 3);
	hopper_network network = {hopper_to_utf8(recipe), options};
	const char *const *cells = write_network(fcinfo, &network);
	int32		model_id = 0;
	hopper_param params[NETWORK_CELLS];
	bool		added = add_network(fcinfo, cells[0], 4, cstring_to_text(recipe), &model_id);

	params[0] = HOPPER_IF(added, HOPPER_INT4(model_id));
	for (int i = 1; i < NETWORK_CELLS; i++)
		params[i] = hopper_utf8_param(cells[i]);
	return hopper_return_params(fcinfo, NETWORK_CELLS, params);
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
HOPPER_FUNCTION(hopper_sql_model_id)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	char	   *name;
	int32		model_id;

	hopper_require_argument(fcinfo, 1, "name");
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	(void) hopper_require_model_table(&table);
	hopper_connect_only();
	model_id = find_model_id(&table, name);
	SPI_finish();
	PG_RETURN_INT32(model_id);
}

/* model_ids(model_arch_table, names) */
HOPPER_FUNCTION(hopper_sql_model_ids)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_arch_table");
	char	  **names = NULL;
	Datum	   *ids;
	int			n = 0;

	if (!PG_ARGISNULL(1))
		names = hopper_texts(PG_GETARG_DATUM(1), &n);
	(void) hopper_require_model_table(&table);
	ids = palloc(sizeof(Datum) * Max(n, 1));
	hopper_connect_only();
	for (int i = 0; i < n; i++)
	{
		if (names[i] == NULL)
			hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
						 errmsg("argument \"names\" must not hold nulls"));
		ids[i] = Int32GetDatum(find_model_id(&table, names[i]));
	}
	SPI_finish();
	PG_RETURN_DATUM(hopper_array(INT4OID, n, ids, NULL));
}
