/*
 * tables.c
 *		The tables of a search: their names, making them, checking and replacing earlier ones.
 */
#include "pg/search/automl.h"

#include "pg/catalog/configs.h"
#include "pg/server/tables.h"
#include "pg/train/outputs.h"

#define MEANS_VIRTUAL_TIME \
	"in floating-point operations of training: decisions depend on no clock"

static const hopper_column trials_columns[] = {
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"parameters", JSONBOID, "what was chosen",.marks = true},
	{"iterations", INT4OID, HOPPER_MEANS_ITERATIONS,.marks = true},
	{"value", FLOAT8OID, "of the first objective, of the weights that it delivers",.marks = true},
	{"status", TEXTOID, "done, stopped (others were better), failed, or earlier (known from"
	" another search)",.marks = true},
	{"parent", INT4OID, "the trial from whose state it went on",.marks = true},
	{"model_id", INT4OID, HOPPER_MEANS_MODEL_ID},
	{"compile_params", TEXTOID, HOPPER_MEANS_COMPILE_PARAMS,.marks = true},
	{"fit_params", TEXTOID, HOPPER_MEANS_FIT_PARAMS},
	{"place", INT4OID, "from 1, the best"},
	{"pareto", BOOLOID, "whether no other is as good in all objectives and better in one"},
	{"objectives", FLOAT8ARRAYOID, "values of the weights that the trial delivers"},
	{"constraints", FLOAT8ARRAYOID, "values of what is bounded"},
};

const hopper_layout hopper_trials_layout = {
	.what = "a table of a search's trials",
	.columns = trials_columns,.n = lengthof(trials_columns)
};

static const hopper_column rungs_columns[] = {
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"iterations", INT4OID, "after which it was measured",.marks = true},
	{"objectives", FLOAT8ARRAYOID,.marks = true},
	{"constraints", FLOAT8ARRAYOID,.marks = true},
	{"kept", BOOLOID, "whether the constraints are",.marks = true},
	{"error", TEXTOID, HOPPER_MEANS_ERROR},
	{"virtual_time", FLOAT8OID, MEANS_VIRTUAL_TIME,.marks = true},
};

const hopper_layout hopper_rungs_layout = {
	.what = "a table of a search's results",
	.columns = rungs_columns,.n = lengthof(rungs_columns)
};

static const hopper_column decisions_columns[] = {
	{"number", INT4OID, "in this order",.marks = true},
	{"decision", TEXTOID,.marks = true},
	{"mst_key", INT4OID, HOPPER_MEANS_KEY,.marks = true},
	{"s", INT4OID, "bracket",.marks = true},
	{"i", INT4OID, "round of the bracket",.marks = true},
	{"iterations", INT4OID, HOPPER_MEANS_ITERATIONS},
	{"score", FLOAT8OID},
	{"parent", INT4OID},
	{"reason", TEXTOID,.marks = true},
	{"virtual_time", FLOAT8OID, MEANS_VIRTUAL_TIME,.marks = true},
};

const hopper_layout hopper_decisions_layout = {
	.what = "a table of a search's decisions",
	.columns = decisions_columns,.n = lengthof(decisions_columns)
};

/* The first column of a row of trials that no search has written so; NULL: they are all sound. */
#define WRONG_COLUMN \
	"CASE WHEN mst_key IS NULL OR mst_key < 1 OR twice > 1 THEN 'mst_key'" \
	" WHEN parameters IS NULL OR jsonb_typeof(parameters) <> 'object' THEN 'parameters'" \
	" WHEN iterations IS NULL OR iterations < 0 THEN 'iterations'" \
	" WHEN status IS NULL OR status NOT IN ('done', 'stopped', 'running', 'failed', 'earlier')" \
	"  THEN 'status'" \
	" WHEN model_id IS NULL THEN 'model_id'" \
	" WHEN place IS NULL AND iterations > 0 OR place < 1 THEN 'place'" \
	" WHEN status = 'failed' AND objectives IS NOT NULL" \
	"  OR status NOT IN ('failed', 'earlier') AND place > 0 AND objectives IS NULL" \
	"  OR NOT coalesce((SELECT count(o) = array_length(objectives, 1)" \
	"   AND bool_and(o NOT IN ('NaN', 'Infinity', '-Infinity'))" \
	"   FROM unnest(objectives) AS o), objectives IS NULL) THEN 'objectives'" \
	" WHEN value IS DISTINCT FROM objectives[1] THEN 'value'" \
	" WHEN (constraints IS NULL) <> (objectives IS NULL)" \
	"  OR (SELECT count(*) <> count(c) FROM unnest(constraints) AS c) THEN 'constraints' END"

void
hopper_search_check_trials(const hopper_name *trials)
{
	for (int i = 0; i < lengthof(trials_columns); i++)
		hopper_check_column(trials, trials_columns[i].name, trials_columns[i].type);
	if (hopper_select("SELECT mst_key, wrong FROM (SELECT mst_key, " WRONG_COLUMN " AS wrong FROM"
					  " (SELECT *, count(*) OVER (PARTITION BY mst_key) AS twice FROM %s) AS t)"
					  " AS w WHERE wrong IS NOT NULL ORDER BY mst_key LIMIT 1",
					  trials->quoted) > 0)
	{
		const char *key = hopper_cell(0, 1);

		hopper_refuse_damaged(trials,
							  psprintf("Column \"%s\" of configuration %s is not what a search has "
									   "written.", hopper_cell(0, 2), key ? key : "NULL"));
	}
}

void
hopper_search_name_tables(hopper_search_names *names, const hopper_name *output,
						  const hopper_name *selection)
{
	names->output = *output;
	names->info = hopper_name_with_suffix(output, "info");
	names->state = hopper_name_with_suffix(output, "state");
	names->trials = hopper_name_with_suffix(output, "trials");
	names->rungs = hopper_name_with_suffix(output, "rungs");
	names->decisions = hopper_name_with_suffix(output, "decisions");
	names->selection = *selection;
	names->selection_summary = hopper_name_with_suffix(selection, "summary");
}

int
hopper_search_model_tables(const hopper_name *output, hopper_table *tables)
{
	hopper_outputs outputs = hopper_outputs_named(output);

	hopper_outputs_tables(&outputs, tables);
	return HOPPER_OUTPUT_TABLES + hopper_search_tables(output, tables + HOPPER_OUTPUT_TABLES);
}

void
hopper_search_open(const hopper_name *output)
{
	hopper_outputs outputs = hopper_outputs_named(output);
	hopper_table tables[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(&outputs, tables);
	/* in the place of the states, which are not read */
	tables[HOPPER_OUTPUT_TABLES - 1] =
		(hopper_table) {hopper_name_with_suffix(output, "trials"), HOPPER_TABLE_TRIALS};
	hopper_open_to_read(tables, HOPPER_OUTPUT_TABLES);
}

void
hopper_search_config_tables(const hopper_name *selection, hopper_table *tables)
{
	tables[0] = (hopper_table) {*selection, HOPPER_TABLE_CONFIGS};
	tables[1] = (hopper_table) {hopper_name_with_suffix(selection, "summary"),
	HOPPER_TABLE_CONFIGS_SUMMARY};
}

/* As they will be called, whatever their companions are called by now. */
static void
list_tables(hopper_search_names *names)
{
	names->models.n = hopper_search_model_tables(&names->final_output, names->models.tables);
	names->configs.n = HOPPER_CONFIGS_TABLES;
	hopper_search_config_tables(&names->final_selection, names->configs.tables);
}

/* What run `number` calls them until its search ends. */
static void
name_of_run(hopper_search_names *names, int64 number)
{
	hopper_name output = hopper_name_of_run(&names->final_output, number, "");
	hopper_name selection = hopper_name_of_run(&names->final_selection, number, "_configs");

	/* The newest is looked at first: its name begins with the other's. */
	hopper_show_as(&output, &names->final_output);
	hopper_show_as(&selection, &names->final_selection);
	hopper_name_like(&output, names->models.tables, names->models.n, names->models.made);
	hopper_name_like(&selection, names->configs.tables, names->configs.n, names->configs.made);
	names->of_run = true;
}

static void
use_made(hopper_search_names *names)
{
	hopper_search_name_tables(names, &names->models.made[0].name, &names->configs.made[0].name);
}

void
hopper_search_use_tables(hopper_search_names *names, bool replace, int64 number)
{
	list_tables(names);
	names->models.replaces = names->configs.replaces = replace;
	name_of_run(names, number);
	use_made(names);
}

/* Others use the old tables while the search goes on. */
static void
make_room(hopper_search_names *names, bool replace, int64 number)
{
	const hopper_table *models = names->models.tables;
	const hopper_table *configs = names->configs.tables;

	hopper_outputs_take_back(&names->final_output);
	list_tables(names);
	for (int i = 0; i < names->models.n * HOPPER_CONFIGS_TABLES; i++)
		if (strcmp(models[i / HOPPER_CONFIGS_TABLES].name.quoted,
				   configs[i % HOPPER_CONFIGS_TABLES].name.quoted) == 0)
			hopper_wrong(errmsg("model_table \"%s\" and model_selection_table \"%s\" would both "
								"have a table \"%s\"", names->final_output.shown,
								names->final_selection.shown,
								configs[i % HOPPER_CONFIGS_TABLES].name.shown),
						 errhint("Give them different names."));
	hopper_making_begin(&names->models, replace, "");
	hopper_making_begin(&names->configs, replace, "_configs");
	if (number != 0)
		name_of_run(names, number);
	use_made(names);
}

/* What the summary says of where things are, once the models have the name of `output`. */
static void
update_names(const hopper_search_names *names, const hopper_name *output)
{
	hopper_outputs outputs = hopper_outputs_named(&names->output);
	hopper_outputs told = hopper_outputs_named(output);

	hopper_outputs_update_names(&outputs, &told);
	hopper_change("UPDATE %s SET model_selection_table = %s", outputs.summary.quoted,
				  hopper_literal(names->final_selection.quoted));
}

void
hopper_search_replace_tables(hopper_search_names *names)
{
	hopper_making *models = &names->models;
	hopper_making *configs = &names->configs;
	bool		has_outputs = models->replaces || names->of_run;
	bool		has_selection = configs->replaces || names->of_run;

	if (!has_outputs && !has_selection)
		return;
	list_tables(names);
	/* A training reads its configurations before it locks the models that it goes on with. */
	if (has_selection && !hopper_publish(configs, configs->replaces))
		names->final_selection = hopper_name_itself(&names->selection);
	update_names(names, &names->final_output);
	if (has_outputs && !hopper_publish(models, models->replaces))
	{
		names->final_output = hopper_name_itself(&names->output);
		update_names(names, &names->final_output);
	}
	hopper_search_name_tables(names, &names->final_output, &names->final_selection);
}

void
hopper_search_create_tables(hopper_search_names *names, const hopper_name *architectures,
							bool replace, int64 number)
{
	make_room(names, replace, number);
	hopper_exec("CREATE TABLE %s (%s)" HOPPER_DISTRIBUTED_BY("mst_key"), names->selection.quoted,
				hopper_layout_columns(&hopper_configs_layout, NULL,
									  (const char *const[]) {"pg_catalog.int4 PRIMARY KEY"}));
	hopper_comment_layout(&names->selection, &hopper_configs_layout, NULL,
						"the best configuration of a search");
	hopper_create_configs_summary(&names->selection_summary, architectures,
								  "where the architectures of a search are");
	hopper_create_layout(&names->trials, &hopper_trials_layout,
						 "what a search tried, a row per configuration");
	hopper_create_layout(&names->rungs, &hopper_rungs_layout, "each result of a search");
	hopper_create_layout(&names->decisions, &hopper_decisions_layout,
						 "what a search decided and why");
	hopper_making_rehearse(&names->models);
	hopper_making_rehearse(&names->configs);
}
