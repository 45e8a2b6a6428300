/*
 * configs.c
 *		Configurations of a selection table, check_configs() and params_json().
 */
#include "pg/catalog/configs.h"

#include "utils/jsonb.h"

#include "pg/catalog/models.h"
#include "pg/codec/packed.h"
#include "pg/server/tables.h"

static void
require_selection_table(const hopper_name *table)
{
	static const char *const columns[] = {"mst_key", "model_id", "compile_params", "fit_params"};

	(void) hopper_require_columns_of(table, "a model selection table", lengthof(columns), columns,
									 "Make one with hopper.generate_model_configs().");
}

hopper_name
hopper_selection_models(const hopper_name *selection_table)
{
	hopper_name summary = hopper_name_with_suffix(selection_table, "summary");
	const hopper_table tables[] = {{*selection_table, HOPPER_TABLE_CONFIGS},
	{summary, HOPPER_TABLE_CONFIGS_SUMMARY}};
	char	   *models = NULL;

	hopper_open_to_read(tables, lengthof(tables));
	require_selection_table(selection_table);
	if (!OidIsValid(hopper_relation_oid(&summary, true)))
		hopper_raise(ERRCODE_UNDEFINED_TABLE,
					 errmsg("relation \"%s\" does not exist", summary.shown),
					 errdetail("Its column \"model_arch_table\" names the table of model "
							   "architectures of \"%s\".", selection_table->shown),
					 errhint("Make both tables with hopper.generate_model_configs()."));
	(void) hopper_require_column(hopper_relation_oid(&summary, false), "model_arch_table");
	/* An append may follow the creation in one statement. */
	if (hopper_select_latest("SELECT model_arch_table::pg_catalog.text FROM %s LIMIT 1",
							 summary.quoted) > 0)
		models = hopper_cell(0, 1);
	if (models == NULL)
		hopper_unmet(errmsg("table \"%s\" names no table of model architectures", summary.shown),
					 errhint("Make both tables with hopper.generate_model_configs()."));
	return hopper_name_in(&summary, selection_table, models, "model_arch_table");
}

/* Users fill selection tables by hand, too: what is missing is no damage. */
static void
require_not_null_cell(const hopper_name *selection_table, uint64 row, int column)
{
	if (hopper_cell(row, column) == NULL)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("column \"%s\" of \"%s\" holds a null value",
							SPI_fname(SPI_tuptable->tupdesc, column), selection_table->shown));
}

/* Their models may be missing: then so is model_arch. */
static hopper_config *
load_configs(const hopper_name *selection_table, const char *which, struct HTAB **known, int *n,
			 hopper_name *models, bool *missing)
{
	hopper_config *configs;
	int			row;

	*models = hopper_selection_models(selection_table);
	(void) hopper_require_model_table(models);
	*n = (int) hopper_select("SELECT mst_key::pg_catalog.int4, model_id::pg_catalog.int4,"
							 " compile_params::pg_catalog.text, fit_params::pg_catalog.text"
							 " FROM %s%s ORDER BY 1 LIMIT " INT64_FORMAT, selection_table->quoted,
							 which, (int64) hopper_max_configs + 1);
	if (*n > hopper_max_configs)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("model selection table \"%s\" has more than %d configurations",
							selection_table->shown, hopper_max_configs),
					 errhint("Use fewer, or ask an administrator to raise hopper.max_configs."));
	if (*n == 0 && which[0] == '\0')
		hopper_unmet(errmsg("model selection table \"%s\" is empty", selection_table->shown),
					 errhint("Add configurations with hopper.generate_model_configs()."));
	configs = palloc0(sizeof(hopper_config) * *n);
	for (row = 0; row < *n; row++)
	{
		require_not_null_cell(selection_table, row, 1);
		configs[row].mst_key = hopper_key_cell(selection_table, row, 1);
		if (row > 0 && configs[row].mst_key == configs[row - 1].mst_key)
			hopper_wrong(errmsg("mst_key %d comes twice in \"%s\"", configs[row].mst_key,
								selection_table->shown));
		require_not_null_cell(selection_table, row, 2);
		configs[row].model_id = hopper_key_cell(selection_table, row, 2);
		configs[row].compile_params = hopper_to_utf8(hopper_cell(row, 3));
		if (configs[row].compile_params == NULL)
			configs[row].compile_params = "";
		configs[row].fit_params = hopper_to_utf8(hopper_cell(row, 4));
	}
	SPI_freetuptable(SPI_tuptable);

	*missing = false;
	for (row = 0; row < *n; row++)
	{
		hopper_model *model = hopper_known_model(known, models, configs[row].model_id);

		*missing = *missing || model == NULL;
		if (model == NULL)
			continue;
		configs[row].model_arch = model->arch;
		configs[row].model_arch_size = model->arch_size;
		configs[row].weights = hopper_floats_whole(&model->weights);
		configs[row].n_weights = model->weights.n;
	}
	return configs;
}

/* One ERROR, or WARNINGs; `models` NULL: none of them is missing. */
static void
report(const hopper_config *configs, int n, const hopper_data_desc *desc, const hopper_name *models)
{
	enum
	{
		SEVERITY, CODE, MESSAGE, DETAIL, HINT, N_COLUMNS
	};
	hopper_rows *rows = HOPPER_CORE_ROWS(report_configs, configs, n, desc,
										 models ? hopper_to_utf8(models->shown) : NULL);

	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * N_COLUMNS;

		ereport(strcmp(cells[SEVERITY], "error") == 0 ? ERROR : WARNING,
				errcode(hopper_sqlstate(atoi(cells[CODE]))),
				errmsg_internal("%s", hopper_from_utf8(cells[MESSAGE])),
				cells[DETAIL] ? errdetail_internal("%s", hopper_from_utf8(cells[DETAIL])) : 0,
				cells[HINT] ? errhint("%s", hopper_from_utf8(cells[HINT])) : 0);
	}
	pfree(rows);
}

hopper_config *
hopper_load_configs(const hopper_name *selection_table, hopper_name *models, int *n)
{
	struct HTAB *known = NULL;
	bool		missing;
	hopper_config *configs = load_configs(selection_table, "", &known, n, models, &missing);

	if (missing)
		report(configs, *n, NULL, models);
	return configs;
}

hopper_config *
hopper_load_more_configs(const hopper_name *selection_table, int32 after, int32 last,
						 struct HTAB **known, int *n)
{
	hopper_config *configs;
	hopper_name models;
	bool		missing;

	/* What this statement has just written is among them. */
	PushActiveSnapshot(GetTransactionSnapshot());
	configs = load_configs(selection_table,
						   psprintf(" WHERE mst_key OPERATOR(pg_catalog.>) %d"
									" AND mst_key OPERATOR(pg_catalog.<=) %d", after, last),
						   known, n, &models, &missing);
	PopActiveSnapshot();
	if (missing)
		report(configs, *n, NULL, &models);
	return configs;
}

void
hopper_require_valid_configs(const hopper_config *configs, int n, const hopper_data_desc *desc)
{
	report(configs, n, desc, NULL);
}

enum
{
	KEY, SEVERITY, CODE, MESSAGE, DETAIL, HINT, N_COLUMNS
};

int
hopper_count_failing(const hopper_config *configs, int n, const hopper_data_desc *desc,
					 const char **message)
{
	hopper_rows *rows = HOPPER_CORE_ROWS(check_configs, configs, n, desc, NULL);
	const char *last = "";
	int			n_failing = 0;

	for (int row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * N_COLUMNS;

		if (strcmp(cells[SEVERITY], "error") != 0 || strcmp(cells[KEY], last) == 0)
			continue;
		last = cells[KEY];
		if (n_failing++ == 0)
			*message = pstrdup(hopper_from_utf8(cells[MESSAGE]));
	}
	pfree(rows);
	return n_failing;
}

/* check_configs(model_selection_table, packed_table): a row a problem */
HOPPER_FUNCTION(hopper_sql_check_configs)
{
	hopper_name table = hopper_name_argument(fcinfo, 0, "model_selection_table");
	struct HTAB *known = NULL;
	hopper_name models;
	bool		missing;
	hopper_packed packed;
	hopper_config *configs;
	hopper_rows *rows;
	int			n;

	hopper_connect_only();
	configs = load_configs(&table, "", &known, &n, &models, &missing);
	if (!PG_ARGISNULL(1))
	{
		hopper_name source = hopper_parse_name(PG_GETARG_TEXT_PP(1), "packed_table");

		hopper_read_packed(&source, false, &packed);
	}
	rows = HOPPER_CORE_ROWS(check_configs, configs, n, PG_ARGISNULL(1) ? NULL : &packed.desc,
							hopper_to_utf8(models.shown));
	for (int row = 0; row < rows->n_rows; row++)
	{
		const char **cells = (const char **) rows->cells + (size_t) row * N_COLUMNS;

		cells[CODE] = pstrdup(unpack_sql_state(hopper_sqlstate(atoi(cells[CODE]))));
	}
	/* The result lies in the query's memory. */
	(void) hopper_return_rows(fcinfo, rows);
	SPI_finish();
	return (Datum) 0;
}

const char *
hopper_balanced_params(const char *fit_params, const hopper_data_desc *data)
{
	hopper_rows *rows;

	if (fit_params == NULL || strstr(fit_params, "balanced") == NULL)
		return fit_params;
	rows = HOPPER_CORE_ROWS(balance_classes, fit_params, data);
	return rows->n_rows == 1 ? rows->cells[0] : fit_params;
}

/* params_json(params) */
HOPPER_FUNCTION(hopper_sql_params_json)
{
	hopper_rows *rows =
		HOPPER_CORE_ROWS(params_json, hopper_utf8_argument(fcinfo, 0));

	return DirectFunctionCall1(jsonb_in, CStringGetDatum(hopper_from_utf8(rows->cells[0])));
}
