/*
 * selection.c
 *		Writing selection tables: configurations that the core lists become rows with keys.
 */
#include "pg/catalog/configs.h"

#include "utils/hsearch.h"

#include "pg/catalog/models.h"

static const hopper_column configs_columns[] = {
	{"mst_key", InvalidOid, HOPPER_MEANS_KEY,.marks = true},
	{"model_id", INT4OID, HOPPER_MEANS_MODEL_ID, "NOT NULL",.marks = true},
	{"compile_params", VARCHAROID, HOPPER_MEANS_COMPILE_PARAMS,.marks = true},
	{"fit_params", VARCHAROID, HOPPER_MEANS_FIT_PARAMS,.marks = true},
};

const hopper_layout hopper_configs_layout = {
	.what = "a model selection table",
	.columns = configs_columns,.n = lengthof(configs_columns)
};

static const hopper_column configs_summary_columns[] = {
	{"model_arch_table", VARCHAROID, HOPPER_MEANS_ARCH_TABLE,.marks = true},
	{"object_table", VARCHAROID, HOPPER_MEANS_OBJECT_TABLE,.marks = true},
};

const hopper_layout hopper_configs_summary_layout = {
	.what = "a summary of a model selection table",.completes = true,
	.columns = configs_summary_columns,.n = lengthof(configs_summary_columns)
};

void
hopper_create_configs_summary(const hopper_name *summary, const hopper_name *models,
							  const char *comment)
{
	hopper_create_layout(summary, &hopper_configs_summary_layout, comment);
	hopper_insert(summary, "(model_arch_table) VALUES (%s)", hopper_literal(models->quoted));
}

static void
create_selection_tables(const hopper_name *selection, const hopper_name *summary,
						const hopper_name *models)
{
	hopper_exec("CREATE TABLE %s (%s, UNIQUE (model_id, compile_params, fit_params))"
				HOPPER_DISTRIBUTED_BY("model_id"), selection->quoted,
				hopper_layout_columns(&hopper_configs_layout, NULL,
									  (const char *const[]) {"serial" HOPPER_SECOND_KEY}));
	hopper_comment_layout(selection, &hopper_configs_layout, NULL,
						"configurations to train, filled by hopper.generate_model_configs()");
	hopper_create_configs_summary(summary, models,
								  psprintf("the table of model architectures of %s",
										   selection->quoted));
}

/* What the tables are to get once they are filled; NULL where they replace none. */
static hopper_grants *
make_selection_tables(const hopper_destination *to)
{
	hopper_grants *grants = NULL;

	if (to->replaces)
		grants = hopper_drop_to_replace(to->tables, lengthof(to->tables));
	create_selection_tables(&to->tables[0].name, &to->tables[1].name, &to->models);
	return grants;
}

/* The first row that has a model. */
typedef struct first_row
{
	int32		model_id;
	int			row;
} first_row;

/*
 * The new rows as configurations with the keys that they will have. Architectures are read once a
 * model; stored weights play no part in what can be wrong with parameters.
 */
static hopper_config *
configs_of_rows(const hopper_rows *rows, const hopper_name *models, int32 first_key)
{
	hopper_config *configs = palloc0(sizeof(hopper_config) * (rows->n_rows + 1));
	HTAB	   *firsts = hopper_table_by_id(sizeof(first_row));
	int			row;

	for (row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * 3;
		hopper_config *config = &configs[row];
		first_row  *first;
		bool		known;

		CHECK_FOR_INTERRUPTS();
		config->mst_key = first_key + row;
		config->model_id = atoi(cells[0]);
		config->compile_params = cells[1];
		config->fit_params = cells[2];
		first = hash_search(firsts, &config->model_id, HASH_ENTER, &known);
		if (known)
		{
			config->model_arch = configs[first->row].model_arch;
			config->model_arch_size = configs[first->row].model_arch_size;
		}
		else
		{
			hopper_model model;

			hopper_read_model(models, config->model_id, &model);
			config->model_arch = model.arch;
			config->model_arch_size = model.arch_size;
			first->row = row;
		}
	}
	hash_destroy(firsts);
	return configs;
}

static void
insert_configs(const hopper_name *selection, const hopper_config *configs, int n)
{
	Oid			types[4] = {INT4OID, INT4OID, TEXTOID, TEXTOID};
	SPIPlanPtr	plan = hopper_prepare(psprintf("INSERT INTO %s (mst_key, model_id, compile_params,"
											   " fit_params) VALUES ($1, $2, $3, $4)",
											   selection->quoted), 4, types, 0);

	for (int i = 0; i < n; i++)
	{
		Datum		values[4];

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(configs[i].mst_key);
		values[1] = Int32GetDatum(configs[i].model_id);
		values[2] = CStringGetTextDatum(hopper_from_utf8(configs[i].compile_params));
		values[3] = CStringGetTextDatum(hopper_from_utf8(configs[i].fit_params));
		hopper_require_inserted(selection, SPI_execute_plan(plan, values, NULL, false, 0));
	}
	SPI_freeplan(plan);
}

/* Configurations that users add by hand later get the keys after ours. */
static void
advance_key_sequence(const hopper_name *selection, int32 last_key)
{
	if (hopper_select("SELECT pg_catalog.pg_get_serial_sequence(%s, 'mst_key')",
					  hopper_literal(selection->quoted)) > 0 && hopper_cell(0, 1) != NULL)
		hopper_exec("SELECT pg_catalog.setval(%s::pg_catalog.regclass, %d)",
					hopper_literal(hopper_cell(0, 1)), last_key);
}

int32
hopper_write_configs(const hopper_destination *to, hopper_rows *rows)
{
	hopper_grants *grants = NULL;
	hopper_config *configs;
	int			n = rows->n_rows;

	rows = hopper_take_rows(rows);
	if (rows->n_columns != 3)
		elog(ERROR, "the core lists configurations in an unknown form");
	if (to->first_key + n - 1 > PG_INT32_MAX)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("\"%s\" has no keys left for %d more configurations",
							to->selection.shown, n),
					 errdetail("Its largest mst_key is " INT64_FORMAT " of at most %d.",
							   to->first_key - 1, PG_INT32_MAX),
					 errhint("Give its configurations smaller keys, or choose another model "
							 "selection table."));
	configs = configs_of_rows(rows, &to->models, (int32) to->first_key);
	hopper_require_valid_configs(configs, n, NULL);
	if (!to->exists)
		grants = make_selection_tables(to);
	insert_configs(&to->selection, configs, n);
	if (n > 0)
		advance_key_sequence(&to->selection, (int32) to->first_key + n - 1);
	hopper_grant_again(grants);
	return n;
}
