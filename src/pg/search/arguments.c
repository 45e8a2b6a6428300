/*
 * arguments.c
 *		What a search is asked for.
 */
#include "pg/search/automl.h"

#include "pg/catalog/models.h"
#include "pg/train/outputs.h"

/* A number of bigint, or what means none; also where the function has no such argument. */
static int64
budget_argument(FunctionCallInfo fcinfo, const char *name)
{
	int			at = hopper_argument_if_any(fcinfo, name);

	return hopper_is_given(fcinfo, at) ? PG_GETARG_INT64(at) : HOPPER_NO_BUDGET;
}

/* NaN where it is not given, which the caller must not say for himself. */
static double
number_argument(FunctionCallInfo fcinfo, const char *name, hopper_complaints *complaints)
{
	int			at = hopper_argument_if_any(fcinfo, name);

	if (!hopper_is_given(fcinfo, at))
		return NAN;
	if (isnan(PG_GETARG_FLOAT8(at)))
		hopper_complain(complaints, ERRCODE_INVALID_PARAMETER_VALUE,
						psprintf("%s must be a number, got NaN", name), NULL,
						"Leave it out to have no such end.");
	return PG_GETARG_FLOAT8(at);
}

typedef struct missing_model
{
	const hopper_name *models;
	int32		model_id;
} missing_model;

static void
refuse_missing(void *state)
{
	const missing_model *missing = state;

	hopper_no_such_model(missing->models, missing->model_id);
}

const char *const *
hopper_search_archs(const hopper_name *models, const int32 *ids, int n,
					hopper_complaints *complaints)
{
	const char **archs = palloc0(Max(n, 1) * sizeof(char *));

	(void) hopper_require_model_table(models);
	for (int i = 0; i < n; i++)
	{
		hopper_model model;
		missing_model missing = {models, ids[i]};

		archs[i] = "";
		if (hopper_find_model(models, ids[i], &model))
			archs[i] = model.arch;
		else
			(void) hopper_complain_unless(complaints, refuse_missing, &missing);
	}
	return archs;
}

/* Names of objectives and constraints, where they are understood: if not, start() says so. */
static void
read_wanted_measures(hopper_automl *run)
{
	hopper_rows *rows;
	hopper_error error;

	if (!hopper_accepts(hopper_core()->search.measures(&run->options, &rows, &error), &error))
		return;
	rows = hopper_take_rows(rows);
	run->n_measures = rows->n_rows;
	run->measures = palloc(Max(rows->n_rows, 1) * sizeof(hopper_searched));
	for (int i = 0; i < rows->n_rows; i++)
	{
		const char *const *cells = hopper_row(rows, i);

		run->measures[i].name = hopper_from_utf8(cells[0]);
		run->measures[i].measure = (hopper_measure) atoi(cells[1]);
		run->n_objectives += cells[2][0] == 't';
		run->measures[i].ascends = cells[3][0] == 't';
	}
	for (int i = 0; i < run->n_measures; i++)
		if (run->measures[i].measure == HOPPER_MEASURE_GAP && run->validation == NULL)
		{
			hopper_complain(&run->complaints, ERRCODE_NULL_VALUE_NOT_ALLOWED,
							psprintf("%s needs argument \"validation_table\"",
									 run->measures[i].name), NULL, NULL);
			return;
		}
}

static void
read_validation(FunctionCallInfo fcinfo, hopper_automl *run)
{
	hopper_packed valid;
	hopper_name table;

	if (!hopper_is_given(fcinfo, hopper_argument(fcinfo, "validation_table")))
		return;
	table = hopper_name_named(fcinfo, "validation_table");
	hopper_read_compatible(&table, "validation table", &run->train, run->packed.shown, &valid);
	run->validation = table.quoted;
	run->validation_checksum = valid.checksum;
}

/* What a reader of one argument is given. */
typedef struct table_argument
{
	FunctionCallInfo fcinfo;
	const char *name;
	hopper_automl *run;
} table_argument;

/* Reads the table that an argument names; what is wrong with it is a complaint. */
static void
read_table(FunctionCallInfo fcinfo, const char *name, hopper_automl *run, hopper_work_fn reader)
{
	table_argument argument = {fcinfo, name, run};

	if (hopper_is_given(fcinfo, hopper_argument_if_any(fcinfo, name)))
		(void) hopper_complain_unless(&run->complaints, reader, &argument);
}

/* A column "parameters" as JSON texts: what _trials has, in its order where it has one. */
static void
read_first(void *state)
{
	const table_argument *argument = state;
	hopper_automl *run = argument->run;
	hopper_name table;
	Oid			relation;
	AttrNumber	key;
	bool		has_keys;
	uint64		n;
	const char **texts;
	int32	   *keys = NULL;

	table = hopper_name_named(argument->fcinfo, argument->name);
	relation = hopper_relation_oid(&table, false);
	(void) hopper_require_column(relation, "parameters");
	key = get_attnum(relation, "mst_key");
	has_keys = key != InvalidAttrNumber && get_atttype(relation, key) == INT4OID;
	n = hopper_select("SELECT parameters::pg_catalog.text%s FROM %s"
					  " WHERE parameters IS NOT NULL ORDER BY %s1", has_keys ? ", mst_key" : "",
					  table.quoted, key != InvalidAttrNumber ? "mst_key, " : "");
	texts = palloc(Max(n, 1) * sizeof(char *));
	if (has_keys)
		keys = palloc0(Max(n, 1) * sizeof(int32));
	for (uint64 row = 0; row < n; row++)
	{
		texts[row] = hopper_to_utf8(hopper_cell(row, 1));
		if (has_keys && hopper_cell(row, 2))
			keys[row] = (int32) hopper_int_cell(&table, row, 2, PG_INT32_MIN, PG_INT32_MAX);
	}
	run->options.first_table = hopper_to_utf8(table.shown);
	run->options.n_first = (int32) n;
	run->options.first = texts;
	run->options.first_keys = keys;
}

/* Appends a sentence where the earlier search and this one differ; NULL: there is none. */
static void
append_other(StringInfo words, const char *what, const char *earlier, const char *asked)
{
	if (earlier && asked && strcmp(earlier, asked) == 0)
		return;
	if (!earlier && !asked)
		return;
	appendStringInfo(words, "%sIts %s %s %s, and here %s.", words->len ? " " : "", what,
					 what[strlen(what) - 1] == 's' ? "are" : "is",
					 earlier ? psprintf("\"%s\"", earlier) : "none",
					 asked ? psprintf("\"%s\"", asked) : "none");
}

static void
require_same_search(const hopper_automl *run, const hopper_name *earlier,
					const hopper_name *summary)
{
	StringInfo	words = makeStringInfo();

	if (hopper_select("SELECT objective::pg_catalog.text, constraints::pg_catalog.text,"
					  " validation_table IS NULL FROM %s", summary->quoted) == 0)
		hopper_wrong(errmsg("\"%s\" has no row", summary->shown));
	append_other(words, "objective", hopper_cell(0, 1),
				 hopper_from_utf8(run->options.objective));
	append_other(words, "constraints", hopper_cell(0, 2),
				 hopper_from_utf8(run->options.constraints));
	if (hopper_cell(0, 3)[0] == (run->validation ? 't' : 'f'))
		appendStringInfo(words, "%s%s", words->len ? " " : "", run->validation
						 ? "It had no validation table, and here there is one."
						 : "It had a validation table, and here there is none.");
	if (words->len > 0)
		hopper_wrong(errmsg("search \"%s\" looked for something else", earlier->shown),
					 errdetail("%s", words->data),
					 errhint("What it measured counts only for a search of the same."));
	if (hopper_select("SELECT 1 FROM %s WHERE source_checksum::pg_catalog.text = %s"
					  " AND validation_checksum::pg_catalog.text IS NOT DISTINCT FROM %s",
					  summary->quoted, hopper_literal(run->train.checksum),
					  run->validation ? hopper_literal(run->validation_checksum) : "NULL") == 0)
		ereport(WARNING,
				errmsg("search \"%s\" measured its configurations on other data", earlier->shown),
				errdetail("Their values are compared with those of this search nevertheless."),
				errhint("Without from_run, every configuration is measured on these data."));
}

/* What the earlier search measured, if it looked for the same. */
static void
read_earlier(void *state)
{
	const table_argument *argument = state;
	hopper_automl *run = argument->run;
	hopper_name earlier;
	hopper_name summary;
	hopper_name trials;
	uint64		n;
	hopper_search_earlier *known;

	earlier = hopper_name_named(argument->fcinfo, argument->name);
	summary = hopper_outputs_named(&earlier).summary;
	trials = hopper_name_with_suffix(&earlier, "trials");
	hopper_search_open(&earlier);
	if (!OidIsValid(hopper_relation_oid(&trials, true)))
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("\"%s\" is not the result of a search", earlier.shown),
					 errdetail("There is no table \"%s\".", trials.shown));
	(void) hopper_require_column(hopper_relation_oid(&summary, false), "objective");
	hopper_search_check_trials(&trials);
	/* What this one looks for is not understood. */
	if (run->measures == NULL)
		return;
	require_same_search(run, &earlier, &summary);
	n = hopper_select("SELECT parameters::pg_catalog.text, iterations::pg_catalog.int4,"
					  " objectives || constraints, mst_key::pg_catalog.int4"
					  " FROM %s WHERE place IS NOT NULL"
					  " ORDER BY mst_key", trials.quoted);
	known = palloc0(Max(n, 1) * sizeof(hopper_search_earlier));
	run->earlier_keys = palloc(Max(n, 1) * sizeof(int32));
	run->earlier = memcpy(palloc(sizeof(hopper_name)), &earlier, sizeof(hopper_name));
	for (uint64 row = 0; row < n; row++)
	{
		int			n_values;

		known[row].values = hopper_float_cells(row, 3, &n_values);
		/* Tables may have been written to. */
		if (known[row].values && n_values != run->n_measures)
			hopper_wrong(errmsg("a row of \"%s\" has not the values of its search",
								trials.shown));
		known[row].parameters = hopper_to_utf8(hopper_text_cell(&trials, row, 1));
		run->earlier_keys[row] = known[row].mst_key = hopper_key_cell(&trials, row, 4);
		/* One that could not be trained at all is known, too. */
		known[row].iterations = Max(1, hopper_int_cell(&trials, row, 2, 0, PG_INT32_MAX));
	}
	run->options.earlier_table = hopper_to_utf8(trials.shown);
	run->options.n_earlier = (int32) n;
	run->options.earlier = known;
}

void
hopper_search_require_choice(const hopper_search_options *options, hopper_complaints *complaints)
{
	if (options->space == NULL && options->compile_grid == NULL)
		hopper_complain(complaints, ERRCODE_NULL_VALUE_NOT_ALLOWED,
						"argument \"compile_params_grid\" must not be null",
						"It and fit_params_grid say what may be chosen, or space does.", NULL);
	if (options->space != NULL && (options->compile_grid != NULL || options->fit_grid != NULL))
		hopper_complain(complaints, ERRCODE_INVALID_PARAMETER_VALUE,
						psprintf("space and %s exclude each other", options->compile_grid != NULL
								 ? "compile_params_grid" : "fit_params_grid"),
						"Each of them says what may be chosen.", NULL);
}

/* What only automl() has is not given to explain_automl(). */
void
hopper_automl_arguments(FunctionCallInfo fcinfo, hopper_automl *run)
{
	hopper_search_options *options = &run->options;
	int			seed = hopper_argument(fcinfo, "seed");
	int			keep = hopper_argument_if_any(fcinfo, "keep");

	run->packed = hopper_name_named(fcinfo, "packed_table");
	run->models = hopper_name_named(fcinfo, "model_arch_table");
	options->model_ids = hopper_model_ids_argument(fcinfo, 0, &options->n_models);
	hopper_read_packed(&run->packed, false, &run->train);
	read_validation(fcinfo, run);
	options->compile_grid = hopper_utf8_named(fcinfo, "compile_params_grid");
	options->fit_grid = hopper_utf8_named(fcinfo, "fit_params_grid");
	options->space = hopper_utf8_named(fcinfo, "space");
	options->algorithm = hopper_utf8_named(fcinfo, "automl_method");
	if (options->algorithm == NULL)
		options->algorithm = "hyperband";
	options->arguments = hopper_utf8_named(fcinfo, "automl_params");
	if (hopper_is_given(fcinfo, seed))
		options->seed = (uint64) PG_GETARG_INT64(seed);
	options->objective = hopper_utf8_named(fcinfo, "objective");
	if (options->objective == NULL)
		options->objective = "loss";
	options->constraints = hopper_utf8_named(fcinfo, "constraints");
	options->seats = hopper_integer_argument(fcinfo, hopper_argument(fcinfo, "parallel"),
											 "parallel", 8);
	options->max_configs = budget_argument(fcinfo, "max_configs");
	/* A run has so many at most, whoever chooses them. */
	run->limited = options->max_configs > hopper_max_configs;
	options->max_configs = Min(options->max_configs, hopper_max_configs);
	options->max_iterations = budget_argument(fcinfo, "max_iterations");
	options->max_seconds = number_argument(fcinfo, "max_seconds", &run->complaints);
	options->target = number_argument(fcinfo, "target", &run->complaints);
	options->keep = hopper_is_given(fcinfo, keep)
		? hopper_integer_argument(fcinfo, keep, "keep", 0) : HOPPER_NO_BUDGET;
	hopper_search_require_choice(options, &run->complaints);
	options->model_archs = hopper_search_archs(&run->models, options->model_ids,
											   options->n_models, &run->complaints);
	options->data = &run->train.desc;
	options->has_validation = run->validation != NULL;
	read_wanted_measures(run);
	read_table(fcinfo, "first_table", run, read_first);
	read_table(fcinfo, "from_run", run, read_earlier);
	options->problems = hopper_complaints_for_core(&run->complaints, &options->n_problems);
}

void
hopper_search_tell_limit(const hopper_automl *run)
{
	if (run->limited && hopper_core()->search.is_spent(run->search))
		ereport(NOTICE, errmsg("the search tries %d configurations at most", hopper_max_configs),
				errhint("That is hopper.max_configs, which an administrator can raise."));
}

void
hopper_search_throw(const hopper_error *error, const hopper_complaints *complaints)
{
	int			n;
	const hopper_error *ours = hopper_complaints_for_core(complaints, &n);

	if (n == 1 && strcmp(error->message, ours->message) == 0)
		hopper_throw_complaints(complaints, "the search");
	hopper_throw(error);
}

hopper_guard *
hopper_search_start(hopper_automl *run)
{
	hopper_error error;

	if (hopper_core()->search.start(&run->options, &run->search, &error) != 0)
		hopper_search_throw(&error, &run->complaints);
	return hopper_guard_add(run->search, hopper_core()->search.free);
}
