/*
 * generate.c
 *		load_model_selection_table() and generate_model_configs(): which configurations.
 */
#include "pg/catalog/configs.h"

#include "pg/catalog/models.h"

/* The elements of a one-dimensional array without NULLs. */
static Datum *
list_argument(FunctionCallInfo fcinfo, int index, const char *argument, Oid type, int *n)
{
	ArrayType  *array;
	Datum	   *elements;
	int16		length;
	bool		by_value;
	char		align;

	hopper_require_argument(fcinfo, index, argument);
	array = PG_GETARG_ARRAYTYPE_P(index);
	if (ARR_NDIM(array) > 1)
		hopper_wrong(errmsg("argument \"%s\" must be a one-dimensional array", argument));
	if (ARR_NDIM(array) == 0)
		hopper_wrong(errmsg("argument \"%s\" must not be an empty array", argument));
	if (array_contains_nulls(array))
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("argument \"%s\" must not contain nulls", argument));
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &elements, NULL, n);
	return elements;
}

static const char **
texts_argument(FunctionCallInfo fcinfo, int index, const char *argument, int *n)
{
	Datum	   *elements = list_argument(fcinfo, index, argument, TEXTOID, n);
	const char **texts = palloc(sizeof(char *) * *n);
	int			i;

	for (i = 0; i < *n; i++)
		texts[i] = hopper_to_utf8(TextDatumGetCString(elements[i]));
	return texts;
}

static void
require_models(const hopper_name *models, const int32 *ids, int n)
{
	int			i;

	(void) hopper_require_model_table(models);
	for (i = 0; i < n; i++)
	{
		if (hopper_select("SELECT 1 FROM %s WHERE model_id OPERATOR(pg_catalog.=) %d",
						  models->quoted, ids[i]) == 0)
			hopper_no_such_model(models, ids[i]);
	}
}

static void
name_destination(FunctionCallInfo fcinfo, hopper_destination *to)
{
	to->models = hopper_name_argument(fcinfo, 0, "model_arch_table");
	to->selection = hopper_name_argument(fcinfo, 1, "model_selection_table");
	hopper_require_other_table(&to->selection, "model_selection_table", &to->models,
							   "model_arch_table");
	to->tables[0] = (hopper_table) {to->selection, HOPPER_TABLE_CONFIGS};
	to->tables[1] = (hopper_table) {hopper_name_with_suffix(&to->selection, "summary"),
		HOPPER_TABLE_CONFIGS_SUMMARY};
	to->exists = false;
	to->first_key = 1;
}

/* What is combined with what. */
typedef struct config_lists
{
	int			n_models;
	int32	   *ids;
	int			n_compile;
	const char **compile;
	int			n_fit;
	const char **fit;
} config_lists;

/* Into a table of their own; SPI must be connected. */
static int32
write_combinations(hopper_destination *to, const config_lists *lists, bool replace)
{
	int64		n = (int64) lists->n_models * lists->n_compile * lists->n_fit;
	hopper_rows *rows;

	if (n > hopper_max_configs)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("the lists have " INT64_FORMAT " combinations", n),
					 errdetail("%d models, %d compile_params and %d fit_params.", lists->n_models,
							   lists->n_compile, lists->n_fit),
					 errhint("Use fewer, or raise hopper.max_configs."));
	require_models(&to->models, lists->ids, lists->n_models);
	to->replaces = hopper_make_room(to->tables, lengthof(to->tables), replace);
	HOPPER_CORE(cross_configs, lists->n_models, lists->ids, lists->n_compile, lists->compile,
				lists->n_fit, lists->fit, &rows);
	return hopper_write_configs(to, rows);
}

/*
 * load_model_selection_table(model_arch_table, model_selection_table, model_id_list,
 * compile_params_list, fit_params_list, replace) -> number of configurations
 */
HOPPER_SPI_FUNCTION(hopper_sql_load_model_selection_table)
{
	hopper_destination to;
	config_lists lists;

	name_destination(fcinfo, &to);
	lists.ids = hopper_model_ids_argument(fcinfo, 1, &lists.n_models);
	lists.compile = texts_argument(fcinfo, 3, "compile_params_list", &lists.n_compile);
	lists.fit = texts_argument(fcinfo, 4, "fit_params_list", &lists.n_fit);
	PG_RETURN_INT32(write_combinations(&to, &lists, !PG_ARGISNULL(5) && PG_GETARG_BOOL(5)));
}

/* Different values of a column among the chosen rows, in the order of the first that has each. */
static int
distinct_cells(const hopper_name *info, const char *column, const char *keys)
{
	return (int) hopper_select("SELECT %s FROM %s"
							   " WHERE mst_key = ANY (%s::pg_catalog.int4[])"
							   " GROUP BY 1 ORDER BY min(mst_key)", column, info->quoted,
							   hopper_literal(keys));
}

static const char **
distinct_texts(const hopper_name *info, const char *column, const char *keys, int *n)
{
	const char **texts;

	*n = distinct_cells(info, column, keys);
	texts = palloc(sizeof(char *) * (*n + 1));
	for (int row = 0; row < *n; row++)
		texts[row] = hopper_to_utf8(hopper_cell(row, 1));
	return texts;
}

/* What the chosen configurations of a run have, each architecture with each of the other two. */
static void
read_chosen(FunctionCallInfo fcinfo, config_lists *lists)
{
	hopper_name run = hopper_name_argument(fcinfo, 9, "from_run");
	hopper_name selection = hopper_name_argument(fcinfo, 1, "model_selection_table");
	hopper_name info = hopper_name_with_suffix(&run, "info");
	const hopper_table tables[] = {{run, HOPPER_TABLE_MODELS}, {info, HOPPER_TABLE_INFOS}};
	char	   *keys;

	hopper_require_other_table(&selection, "model_selection_table", &run, "from_run");
	hopper_require_argument(fcinfo, 10, "mst_keys");
	if (!PG_ARGISNULL(2) || !PG_ARGISNULL(3) || !PG_ARGISNULL(4))
		hopper_wrong(errmsg("from_run takes the place of model_id_list and the grids"),
					 errhint("Leave them out."));
	hopper_open_to_read(tables, lengthof(tables));
	hopper_require_select(hopper_relation_oid(&info, false));
	keys = hopper_text_of(INT4ARRAYOID, PG_GETARG_DATUM(10));
	if (hopper_select("SELECT k FROM unnest(%s::int4[]) AS k WHERE k NOT IN"
					  " (SELECT mst_key FROM %s) ORDER BY 1 LIMIT 1", hopper_literal(keys),
					  info.quoted) > 0)
		hopper_wrong(errmsg("\"%s\" has no configuration %s", info.shown, hopper_cell(0, 1)));
	lists->n_models = distinct_cells(&info, "model_id::pg_catalog.int4", keys);
	if (lists->n_models == 0)
		hopper_wrong(errmsg("mst_keys names no configuration of \"%s\"", info.shown));
	lists->ids = palloc(sizeof(int32) * lists->n_models);
	for (int row = 0; row < lists->n_models; row++)
		lists->ids[row] = hopper_key_cell(&info, row, 1);
	lists->compile = distinct_texts(&info, "coalesce(compile_params::pg_catalog.text, '')", keys,
									&lists->n_compile);
	lists->fit = distinct_texts(&info, "coalesce(fit_params::pg_catalog.text, '')", keys,
								&lists->n_fit);
}

/* Any beginning of 'grid' or 'random' will do. */
static bool
search_is_random(FunctionCallInfo fcinfo, int index)
{
	char	   *type = PG_ARGISNULL(index) ? "grid" : text_to_cstring(PG_GETARG_TEXT_PP(index));
	size_t		length = strlen(type);

	if (length > 0 && pg_strncasecmp(type, "grid", length) == 0)
		return false;
	if (length > 0 && pg_strncasecmp(type, "random", length) == 0)
		return true;
	hopper_wrong(errmsg("search_type \"%s\" is not known", type),
				 errhint("Use 'grid' or 'random'."));
	pg_unreachable();
}

static void
read_search_arguments(FunctionCallInfo fcinfo, hopper_grid *grid)
{
	hopper_require_argument(fcinfo, 3, "compile_params_grid");
	grid->compile_grid = hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(3)));
	grid->fit_grid = PG_ARGISNULL(4) ? "{}" : hopper_to_utf8(text_to_cstring(PG_GETARG_TEXT_PP(4)));
	grid->random = search_is_random(fcinfo, 5);
	if (grid->random)
	{
		grid->num_configs = hopper_integer_argument(fcinfo, 6, "num_configs", 0);
		if (grid->num_configs < 1)
			hopper_wrong(errmsg("random search needs a positive number in num_configs"));
		grid->has_random_state = !PG_ARGISNULL(7);
		grid->random_state = PG_ARGISNULL(7) ? 0 : PG_GETARG_INT64(7);
	}
	else if (!PG_ARGISNULL(6) || !PG_ARGISNULL(7))
		hopper_wrong(errmsg("%s is for random search only",
							!PG_ARGISNULL(6) ? "num_configs" : "seed"),
					 errhint("Leave it out, or set search_type => 'random'."));
	grid->max_configs = hopper_max_configs;
}

/* Appending: the architectures must be the same; returns the key of the first new row. */
static int64
read_existing(const hopper_name *selection, const hopper_name *models, hopper_grid *grid)
{
	hopper_name stored = hopper_selection_models(selection);
	int32	   *ids;
	const char **compile;
	const char **fit;
	int32		last_key = 0;
	int			row;

	if (hopper_relation_oid(&stored, false) != hopper_relation_oid(models, false))
		hopper_wrong(errmsg("model selection table \"%s\" belongs to model architecture table "
							"\"%s\", not to \"%s\"", selection->shown, stored.shown, models->shown),
					 errhint("Choose another model selection table."));
	/* Two appends at once would give the same keys. */
	hopper_lock_table(selection, ShareRowExclusiveLock, "SHARE ROW EXCLUSIVE");
	/* Not the statement's snapshot, which is older than the lock. */
	grid->n_existing = (int32)
		hopper_select_latest("SELECT mst_key::pg_catalog.int4, model_id::pg_catalog.int4,"
							 " compile_params::pg_catalog.text, fit_params::pg_catalog.text"
							 " FROM %s", selection->quoted);
	ids = palloc(sizeof(int32) * (grid->n_existing + 1));
	compile = palloc(sizeof(char *) * (grid->n_existing + 1));
	fit = palloc(sizeof(char *) * (grid->n_existing + 1));
	for (row = 0; row < grid->n_existing; row++)
	{
		char	   *compile_params = hopper_cell(row, 3);
		char	   *fit_params = hopper_cell(row, 4);

		/* rows that users added by hand may lack both */
		if (hopper_cell(row, 1))
			last_key = Max(last_key, hopper_key_cell(selection, row, 1));
		ids[row] = hopper_cell(row, 2) ? hopper_key_cell(selection, row, 2) : 0;
		compile[row] = compile_params ? hopper_to_utf8(compile_params) : "";
		fit[row] = fit_params ? hopper_to_utf8(fit_params) : "";
	}
	grid->existing_model_ids = ids;
	grid->existing_compile_params = compile;
	grid->existing_fit_params = fit;
	return (int64) last_key + 1;
}

/*
 * generate_model_configs(model_arch_table, model_selection_table, model_id_list,
 * compile_params_grid, fit_params_grid, search_type, num_configs, seed, replace, from_run,
 * mst_keys) -> number of configurations added
 */
HOPPER_SPI_FUNCTION(hopper_sql_generate_model_configs)
{
	hopper_destination to;
	bool		replace = !PG_ARGISNULL(8) && PG_GETARG_BOOL(8);
	hopper_grid grid = {0};
	hopper_error notice = {0};
	hopper_rows *rows;
	int32		n_added;

	name_destination(fcinfo, &to);
	if (!PG_ARGISNULL(9))
	{
		config_lists lists;

		read_chosen(fcinfo, &lists);
		PG_RETURN_INT32(write_combinations(&to, &lists, replace));
	}
	grid.model_ids = hopper_model_ids_argument(fcinfo, 1, &grid.n_models);
	read_search_arguments(fcinfo, &grid);
	require_models(&to.models, grid.model_ids, grid.n_models);
	to.exists = !replace && OidIsValid(hopper_relation_oid(&to.selection, true));
	if (to.exists)
		to.first_key = read_existing(&to.selection, &to.models, &grid);
	else
		to.replaces = hopper_make_room(to.tables, lengthof(to.tables), replace);
	HOPPER_CORE(generate_configs, &grid, &rows, &notice);
	n_added = hopper_write_configs(&to, rows);
	if (notice.message[0])
		ereport(NOTICE, errmsg("%s", hopper_from_utf8(notice.message)),
				notice.detail[0] ? errdetail("%s", hopper_from_utf8(notice.detail)) : 0,
				errhint("%s", hopper_from_utf8(notice.hint)));
	if (n_added == 0)
		ereport(NOTICE,
				errmsg("all configurations of the grid are in \"%s\" already", to.selection.shown));
	PG_RETURN_INT32(n_added);
}
