/*
 * automl.c
 *		automl(): a search over configurations. The core decides what to train next and how far;
 *		each round of trials that may train together is a call of fit_multiple_model(), in which
 *		others keep what they have.
 */
#include "pg/server/glue.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "pg/catalog/configs.h"
#include "pg/server/words.h"
#include "pg/server/made.h"
#include "pg/train/history.h"
#include "pg/train/outputs.h"

PG_FUNCTION_INFO_V1(hopper_sql_automl);

/* Assignments are taken from the core so many at a time. */
#define MAX_ASSIGNMENTS 256

typedef struct automl
{
	hopper_name packed;
	hopper_name output;
	hopper_name info;
	hopper_name state;
	hopper_name models;
	hopper_name selection;
	hopper_name selection_summary;
	hopper_name trials;
	hopper_name decisions;
	char	   *validation;		/* quoted, or NULL */
	hopper_search_options options;
	char	   *method;
	char	   *arguments;		/* or NULL */
	char	   *settings;		/* further arguments of fit_multiple_model(), after a comma */
	double		max_seconds;	/* NaN: none */
	hopper_search *search;
	int64		n_trials;		/* in the selection table */
	int			rounds;
	TimestampTz started;
} automl;

/* One call of fit_multiple_model. */
typedef struct training_round
{
	const automl *search;
	const char *keys;			/* "{1,4}" */
	int64		iterations;
} training_round;

static char *
string_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(at));
}

static text *
text_argument(FunctionCallInfo fcinfo, int at)
{
	return PG_ARGISNULL(at) ? NULL : PG_GETARG_TEXT_PP(at);
}

static int64
budget_argument(FunctionCallInfo fcinfo, int at, const char *name)
{
	if (PG_ARGISNULL(at))
		return 0;
	if (PG_GETARG_INT64(at) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least 1, got " INT64_FORMAT, name, PG_GETARG_INT64(at)),
				 errhint("Leave it out to have no such end.")));
	return PG_GETARG_INT64(at);
}

static void
free_search(void *search)
{
	hopper_core()->search.free((hopper_search *) search);
}

/* --- tables --- */

static void
create_tables(const automl *run, bool replace)
{
	hopper_outputs outputs = hopper_outputs_named(&run->output);
	hopper_made models[HOPPER_OUTPUT_TABLES + 2];
	hopper_made configs[] =
	{{run->selection, HOPPER_MADE_CONFIGS}, {run->selection_summary, HOPPER_MADE_CONFIGS_SUMMARY}};

	hopper_outputs_tables(&outputs, models);
	models[HOPPER_OUTPUT_TABLES] = (hopper_made) {run->trials, HOPPER_MADE_TRIALS};
	models[HOPPER_OUTPUT_TABLES + 1] = (hopper_made) {run->decisions, HOPPER_MADE_DECISIONS};
	/* What is dropped comes back where the search fails. */
	if (hopper_make_room(models, lengthof(models), replace))
		(void) hopper_drop_made(models, lengthof(models), NULL);
	if (hopper_make_room(configs, lengthof(configs), replace))
		(void) hopper_drop_made(configs, lengthof(configs), NULL);
	hopper_exec("CREATE TABLE %s (mst_key pg_catalog.int4 PRIMARY KEY,"
				" model_id pg_catalog.int4 NOT NULL, compile_params pg_catalog.varchar,"
				" fit_params pg_catalog.varchar)" HOPPER_DISTRIBUTED_BY("mst_key"),
				run->selection.quoted);
	hopper_exec("CREATE TABLE %s (model_arch_table pg_catalog.varchar,"
				" object_table pg_catalog.varchar)" HOPPER_DISTRIBUTED_RANDOMLY,
				run->selection_summary.quoted);
	hopper_exec("INSERT INTO %s (model_arch_table) VALUES (%s)", run->selection_summary.quoted,
				hopper_literal(run->models.quoted));
	hopper_exec("CREATE TABLE %s (mst_key pg_catalog.int4, parameters pg_catalog.text,"
				" iterations pg_catalog.int4, value pg_catalog.float8, status pg_catalog.text,"
				" parent pg_catalog.int4, model_id pg_catalog.int4, compile_params pg_catalog.text,"
				" fit_params pg_catalog.text)" HOPPER_DISTRIBUTED_RANDOMLY, run->trials.quoted);
	hopper_exec("CREATE TABLE %s (number pg_catalog.int4, decision pg_catalog.text,"
				" mst_key pg_catalog.int4, s pg_catalog.int4, i pg_catalog.int4,"
				" iterations pg_catalog.int4, score pg_catalog.float8, parent pg_catalog.int4,"
				" reason pg_catalog.text, virtual_time pg_catalog.float8)"
				HOPPER_DISTRIBUTED_RANDOMLY, run->decisions.quoted);
	hopper_comment_table(&run->selection, "the best configuration of a search");
	hopper_comment_table(&run->selection_summary, "where the architectures of a search are");
	hopper_comment_table(&run->trials, "what a search tried, a row per configuration");
	hopper_comment_column(&run->trials, "parameters", "what was chosen, as JSON");
	hopper_comment_column(&run->trials, "value", "of the objective, after the last iteration");
	hopper_comment_column(&run->trials, "status",
						  "done, stopped (others were better) or failed");
	hopper_comment_column(&run->trials, "parent", "the trial from whose state it went on");
	hopper_comment_table(&run->decisions, "what a search decided and why");
	hopper_comment_column(&run->decisions, "number", "in this order");
	hopper_comment_column(&run->decisions, "s", "bracket");
	hopper_comment_column(&run->decisions, "i", "round of the bracket");
	hopper_comment_column(&run->decisions, "virtual_time",
						  "in iterations of a configuration: decisions depend on no clock");
}

static const char *
cell_literal(const char *cell)
{
	return cell ? hopper_literal(hopper_from_utf8(cell)) : "NULL";
}

/* A key of the search's trials, which count from 0: mst_key counts from 1. */
static const char *
key_literal(const char *trial)
{
	return trial ? psprintf("%d", (int) (strtol(trial, NULL, 10) + 1)) : "NULL";
}

/* Trials that the selection table does not have yet. */
static void
write_new_trials(automl *run)
{
	hopper_rows *rows;
	hopper_error error;

	HOPPER_CHECK(hopper_core()->search.trials(run->search, run->n_trials, &rows, &error), error);
	PG_TRY();
	{
		for (int row = 0; row < rows->n_rows; row++)
		{
			const char *const *cells = rows->cells + (size_t) row * rows->n_columns;

			hopper_exec("INSERT INTO %s VALUES (%s, %s, %s, %s)", run->selection.quoted,
						key_literal(cells[0]), cells[1], cell_literal(cells[2]),
						cell_literal(cells[3]));
			run->n_trials++;
		}
	}
	PG_CATCH();
	{
		hopper_core()->rows_free(rows);
		PG_RE_THROW();
	}
	PG_END_TRY();
	hopper_core()->rows_free(rows);
}

static void
write_rows(const automl *run)
{
	hopper_rows *trials;
	hopper_rows *decisions;
	hopper_error error;

	HOPPER_CHECK(hopper_core()->search.trials(run->search, 0, &trials, &error), error);
	PG_TRY();
	{
		for (int row = 0; row < trials->n_rows; row++)
		{
			const char *const *cells = trials->cells + (size_t) row * trials->n_columns;

			CHECK_FOR_INTERRUPTS();
			hopper_exec("INSERT INTO %s VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
						run->trials.quoted, key_literal(cells[0]), cell_literal(cells[4]), cells[5],
						cell_literal(cells[6]), cell_literal(cells[7]), key_literal(cells[8]),
						cells[1], cell_literal(cells[2]), cell_literal(cells[3]));
		}
	}
	PG_CATCH();
	{
		hopper_core()->rows_free(trials);
		PG_RE_THROW();
	}
	PG_END_TRY();
	hopper_core()->rows_free(trials);

	HOPPER_CHECK(hopper_core()->search.decisions(run->search, &decisions, &error), error);
	PG_TRY();
	{
		for (int row = 0; row < decisions->n_rows; row++)
		{
			const char *const *cells = decisions->cells + (size_t) row * decisions->n_columns;

			CHECK_FOR_INTERRUPTS();
			hopper_exec("INSERT INTO %s VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
						run->decisions.quoted, cells[0], cell_literal(cells[1]),
						key_literal(cells[2]), cell_literal(cells[3]), cell_literal(cells[4]),
						cells[5], cell_literal(cells[6]), key_literal(cells[7]),
						cell_literal(cells[8]), cell_literal(cells[9]));
		}
	}
	PG_CATCH();
	{
		hopper_core()->rows_free(decisions);
		PG_RE_THROW();
	}
	PG_END_TRY();
	hopper_core()->rows_free(decisions);
}

/* --- rounds --- */

static bool
has_models(const automl *run)
{
	return OidIsValid(hopper_relation_oid(&run->output, true));
}

/* The parent's model and state become those of a trial that goes on from it. */
static void
copy_parent(const automl *run, int32 mst_key, int32 parent)
{
	static const char *const suffixes[] = {"", "_state", "_info"};

	for (int i = 0; i < lengthof(suffixes); i++)
	{
		hopper_name table = i == 0 ? run->output
			: hopper_name_with_suffix(&run->output, suffixes[i] + 1);
		StringInfoData columns;
		uint64		n;

		initStringInfo(&columns);
		n = hopper_select_latest("SELECT attname FROM pg_attribute WHERE attrelid = %u"
								 " AND attnum > 0 AND NOT attisdropped AND attname <> 'mst_key'",
								 hopper_relation_oid(&table, false));
		for (uint64 row = 0; row < n; row++)
			appendStringInfo(&columns, ", %s", hopper_identifier(hopper_cell(row, 1)));
		hopper_exec("INSERT INTO %s (mst_key%s) SELECT %d%s FROM %s WHERE mst_key = %d",
					table.quoted, columns.data, mst_key, columns.data, table.quoted, parent);
	}
}

static void
train(void *state)
{
	const training_round *round = state;
	const automl *run = round->search;
	int			level = NewGUCNestLevel();

	/* A round says one line, below. */
	hopper_set_for_now("client_min_messages", "warning");
	hopper_exec("SELECT hopper.fit_multiple_model(packed_table := %s, model_table := %s,"
				" model_selection_table := %s, num_iterations := " INT64_FORMAT
				", validation_table := %s, warm_start := %s, mst_keys := %s%s)",
				hopper_literal(run->packed.quoted), hopper_literal(run->output.quoted),
				hopper_literal(run->selection.quoted), round->iterations,
				hopper_literal(run->validation), has_models(run) ? "true" : "false",
				hopper_literal(round->keys),
				run->settings);
	AtEOXact_GUC(true, level);
}

/* The objective of a configuration in the info table, or why there is none. */
static void
tell(automl *run, int64 trial, const char *failure)
{
	hopper_error error;
	double		value = NAN;
	bool		is_loss = strcmp(run->options.objective, "loss") == 0;
	const char *side = run->validation ? "validation" : "training";

	if (failure == NULL &&
		hopper_select_latest("SELECT CASE WHEN status = 'failed'"
							 " THEN coalesce(error, 'it failed') END,"
							 " %s::float8, metrics_type::text FROM %s WHERE mst_key = %d",
							 is_loss ? psprintf("%s_loss_final", side)
							 : psprintf("(SELECT %s_metrics_all[m][array_upper(metrics_iters, 1)]"
										" FROM generate_subscripts(metrics_type, 1) AS m"
										" WHERE metrics_type[m] = %s LIMIT 1)", side,
										hopper_literal(run->options.objective)),
							 run->info.quoted, (int) trial + 1) == 1)
	{
		failure = hopper_cell(0, 1);
		if (failure == NULL && hopper_cell(0, 2) != NULL)
			value = hopper_float_value(0, 2);
		else if (failure == NULL && !is_loss)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("objective \"%s\" is not among the metrics of configuration %d",
							run->options.objective, (int) trial + 1),
					 errdetail("Its metrics are %s.", hopper_cell(0, 3) ? hopper_cell(0,
																					  3) : "{}")));
	}
	else if (failure == NULL)
		failure = "it left no result";
	HOPPER_CHECK(hopper_core()->search.tell(run->search, trial, value,
											failure ? hopper_to_utf8(failure) : NULL, &error),
				 error);
}

static void
tell_round(const automl *run, int n, int64 iterations)
{
	int64		best = hopper_core()->search.best(run->search);

	ereport(NOTICE,
			(errmsg("automl \"%s\": round %d, %s trained for %s%s, %s elapsed", run->output.shown,
					run->rounds, hopper_plural(n, "configuration", "configurations"),
					hopper_plural(iterations, "iteration", "iterations"),
					best < 0 ? "" : psprintf(", best so far configuration %d", (int) best + 1),
					hopper_duration_words(hopper_seconds_since(run->started)))));
}

static bool
has_model(const automl *run, int32 mst_key)
{
	return has_models(run) &&
		hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d", run->info.quoted, mst_key) > 0;
}

/*
 * Before any of them trains on: who goes on from another's state takes it, and who comes back after
 * its state was of no more use begins anew.
 */
static void
prepare(const automl *run, const hopper_search_assignment *work, int n)
{
	for (int i = 0; i < n; i++)
	{
		int32		mst_key = (int32) work[i].trial + 1;

		if (work[i].parent >= 0 && work[i].from > 0 && !has_model(run, mst_key))
			copy_parent(run, mst_key, (int32) work[i].parent + 1);
		else if (work[i].from == 0 && has_model(run, mst_key))
		{
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->output.quoted, mst_key);
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->state.quoted, mst_key);
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->info.quoted, mst_key);
		}
	}
}

static int64
iterations_of(const hopper_search_assignment *work)
{
	return work->resource - work->from;
}

/* Trains what may be trained together: assignments with as many iterations to go. */
static void
run_group(automl *run, const hopper_search_assignment *work, int n, int64 iterations)
{
	StringInfoData keys;
	training_round round = {.search = run, .iterations = iterations};
	ErrorData  *error;
	int			in_group = 0;

	initStringInfo(&keys);
	for (int i = 0; i < n; i++)
	{
		if (iterations_of(&work[i]) != iterations)
			continue;
		appendStringInfo(&keys, "%s%d", in_group++ ? "," : "{", (int) work[i].trial + 1);
	}
	appendStringInfoChar(&keys, '}');
	round.keys = keys.data;
	error = hopper_attempt(train, &round);
	/* Where every one failed there is no run, but the search goes on. */
	if (error && error->sqlerrcode != ERRCODE_DATA_EXCEPTION)
	{
		/* Our statement is nothing that the caller has written. */
		error->context = NULL;
		ReThrowError(error);
	}
	run->rounds++;
	for (int i = 0; i < n; i++)
		if (iterations_of(&work[i]) == iterations)
			tell(run, work[i].trial, error ? error->message : NULL);
	tell_round(run, in_group, iterations);
}

static int
by_iterations(const void *a, const void *b)
{
	const hopper_search_assignment *one = a;
	const hopper_search_assignment *other = b;
	int64		difference = iterations_of(one) - iterations_of(other);

	if (difference == 0)
		difference = one->trial - other->trial;
	return difference < 0 ? -1 : difference > 0;
}

static void
run_search(automl *run)
{
	hopper_search_assignment work[MAX_ASSIGNMENTS];
	hopper_error error;

	while (!hopper_core()->search.done(run->search))
	{
		int32		n;

		CHECK_FOR_INTERRUPTS();
		if (!isnan(run->max_seconds) && hopper_seconds_since(run->started) >= run->max_seconds)
			HOPPER_CHECK(hopper_core()->search.stop(run->search, "its time was up", &error), error);
		HOPPER_CHECK(hopper_core()->search.ask(run->search, work, MAX_ASSIGNMENTS, &n, &error),
					 error);
		if (n == 0)
		{
			if (hopper_core()->search.done(run->search))
				break;
			elog(ERROR, "the search waits for nothing");
		}
		write_new_trials(run);
		prepare(run, work, n);
		qsort(work, n, sizeof(work[0]), by_iterations);
		for (int i = 0; i < n; i++)
			if (i == 0 || iterations_of(&work[i]) != iterations_of(&work[i - 1]))
				run_group(run, work, n, iterations_of(&work[i]));
	}
}

/* MADlib's columns of its outputs, and the selection table with the best alone. */
static void
finish_tables(const automl *run, int64 best)
{
	hopper_name summary = hopper_name_with_suffix(&run->output, "summary");

	write_rows(run);
	hopper_exec("DELETE FROM %s WHERE mst_key <> %d", run->selection.quoted, (int) best + 1);
	hopper_exec("ALTER TABLE %s ADD COLUMN s pg_catalog.int4, ADD COLUMN i pg_catalog.int4",
				run->info.quoted);
	hopper_exec("UPDATE %s o SET s = d.s, i = d.i FROM (SELECT mst_key, max(s) AS s, max(i) AS i"
				" FROM %s WHERE mst_key IS NOT NULL GROUP BY mst_key) d"
				" WHERE d.mst_key = o.mst_key",
				run->info.quoted, run->decisions.quoted);
	hopper_exec("ALTER TABLE %s ADD COLUMN automl_method pg_catalog.text,"
				" ADD COLUMN automl_params pg_catalog.text,"
				" ADD COLUMN random_state pg_catalog.text",
				summary.quoted);
	hopper_exec("UPDATE %s SET automl_method = %s, automl_params = %s, random_state = '%llu'",
				summary.quoted, hopper_literal(run->method), hopper_literal(run->arguments),
				(unsigned long long) run->options.seed);
	/* What no further training wants is the most of the bytes. */
	hopper_exec("DELETE FROM %s WHERE mst_key IN (SELECT mst_key FROM %s WHERE status <> 'done')",
				run->state.quoted, run->trials.quoted);
}

static Datum
result_row(FunctionCallInfo fcinfo, const automl *run, const char *written, int64 best,
		   double value, int64 n_failed, int64 iterations)
{
	TupleDesc	descriptor;
	Datum		values[8];
	bool		nulls[8] = {false};

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the result of automl() is not a row");
	descriptor = BlessTupleDesc(descriptor);
	values[0] = CStringGetTextDatum(written);
	values[1] = Int32GetDatum((int32) best + 1);
	values[2] = CStringGetTextDatum(psprintf("%s %s", run->validation ? "validation" : "training",
											 run->options.objective));
	values[3] = Float8GetDatum(value);
	values[4] = Int32GetDatum((int32) run->n_trials);
	values[5] = Int32GetDatum((int32) n_failed);
	values[6] = Int64GetDatum(iterations);
	values[7] = Float8GetDatum(hopper_round_seconds(hopper_seconds_since(run->started)));
	return HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls));
}

static void
model_ids(FunctionCallInfo fcinfo, int at, hopper_search_options *options)
{
	Datum	   *ids;
	bool	   *nulls;
	int			n;
	int32	   *numbers;

	if (PG_ARGISNULL(at))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"model_id_list\" must not be null")));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(at), INT4OID, sizeof(int32), true, 'i', &ids, &nulls,
					  &n);
	numbers = palloc(Max(n, 1) * sizeof(int32));
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"model_id_list\" holds NULL")));
		numbers[i] = DatumGetInt32(ids[i]);
	}
	options->model_ids = numbers;
	options->n_models = n;
}

static char *
utf8_argument(FunctionCallInfo fcinfo, int at)
{
	char	   *given = string_argument(fcinfo, at);

	return given ? hopper_to_utf8(given) : NULL;
}

/* What fit_multiple_model() gets as it is. */
static char *
settings(FunctionCallInfo fcinfo)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, ", use_gpus := %s", PG_ARGISNULL(10) || !PG_GETARG_BOOL(10)
					 ? "false" : "true");
	if (!PG_ARGISNULL(12))
		appendStringInfo(&text, ", metrics_compute_frequency := %d", PG_GETARG_INT32(12));
	appendStringInfo(&text, ", name := %s, description := %s",
					 hopper_literal(string_argument(fcinfo, 13)),
					 hopper_literal(string_argument(fcinfo, 14)));
	if (!PG_ARGISNULL(9))
		appendStringInfo(&text, ", seed := " INT64_FORMAT, PG_GETARG_INT64(9));
	appendStringInfo(&text, ", rank_by := %s",
					 hopper_literal(PG_ARGISNULL(16) ? "loss" : string_argument(fcinfo, 16)));
	if (!PG_ARGISNULL(23))
		appendStringInfo(&text, ", threads := %d", PG_GETARG_INT32(23));
	return text.data;
}

/*
 * automl(packed_table, model_table, model_arch_table, model_selection_table, model_id_list,
 * compile_params_grid, fit_params_grid, automl_method, automl_params, seed, use_gpus,
 * validation_table, metrics_compute_frequency, name, description, use_caching, objective, space,
 * parallel, max_configs, max_iterations, max_seconds, target, threads, replace)
 */
Datum
hopper_sql_automl(PG_FUNCTION_ARGS)
{
	MemoryContext caller = CurrentMemoryContext;
	automl		run = {.max_seconds = NAN};
	hopper_search_options *options = &run.options;
	hopper_guard *guard;
	hopper_error error;
	hopper_name validation;
	char	   *written;
	int64		best;
	double		value;
	int64		failed;
	int64		iterations;
	Datum		result;

	hopper_connect();
	run.started = GetCurrentTimestamp();
	run.packed = hopper_parse_name(text_argument(fcinfo, 0), "packed_table");
	run.output = hopper_parse_name(text_argument(fcinfo, 1), "model_table");
	run.models = hopper_parse_name(text_argument(fcinfo, 2), "model_arch_table");
	run.selection = hopper_parse_name(text_argument(fcinfo, 3), "model_selection_table");
	run.info = hopper_name_with_suffix(&run.output, "info");
	run.state = hopper_name_with_suffix(&run.output, "state");
	run.trials = hopper_name_with_suffix(&run.output, "trials");
	run.decisions = hopper_name_with_suffix(&run.output, "decisions");
	run.selection_summary = hopper_name_with_suffix(&run.selection, "summary");
	model_ids(fcinfo, 4, options);
	run.method = PG_ARGISNULL(7) ? "hyperband" : string_argument(fcinfo, 7);
	run.arguments = string_argument(fcinfo, 8);
	if (!PG_ARGISNULL(11))
	{
		validation = hopper_parse_name(text_argument(fcinfo, 11), "validation_table");
		run.validation = validation.quoted;
	}
	options->compile_grid = utf8_argument(fcinfo, 5);
	options->fit_grid = utf8_argument(fcinfo, 6);
	options->algorithm = hopper_to_utf8(run.method);
	options->arguments = utf8_argument(fcinfo, 8);
	options->seed = PG_ARGISNULL(9) ? 0 : (uint64) PG_GETARG_INT64(9);
	options->objective = PG_ARGISNULL(16) ? "loss" : utf8_argument(fcinfo, 16);
	options->space = utf8_argument(fcinfo, 17);
	options->seats = PG_ARGISNULL(18) ? 8 : PG_GETARG_INT32(18);
	options->max_configs = budget_argument(fcinfo, 19, "max_configs");
	options->max_iterations = budget_argument(fcinfo, 20, "max_iterations");
	if (!PG_ARGISNULL(21))
		run.max_seconds = PG_GETARG_FLOAT8(21);
	options->target = PG_ARGISNULL(22) ? NAN : PG_GETARG_FLOAT8(22);
	run.settings = settings(fcinfo);
	if (options->space == NULL && options->compile_grid == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"compile_params_grid\" must not be null"),
				 errdetail("It and fit_params_grid say what may be chosen, or space does.")));
	if (strcmp(options->objective, "loss") != 0)
		(void) hopper_metric_direction(options->objective);

	HOPPER_CHECK(hopper_core()->search.start(options, &run.search, &error), error);
	guard = hopper_guard_add(run.search, free_search);
	create_tables(&run, !PG_ARGISNULL(24) && PG_GETARG_BOOL(24));
	run_search(&run);

	best = hopper_core()->search.best(run.search);
	if (best < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("every configuration of the search failed"),
				 errhint("Train one of them with hopper.fit() to see why.")));
	finish_tables(&run, best);
	hopper_select_latest("SELECT (SELECT value FROM %s WHERE mst_key = %d)::float8,"
						 " (SELECT count(*) FROM %s WHERE status = 'failed'),"
						 " (SELECT coalesce(sum(iterations), 0)::int8 FROM %s)",
						 run.trials.quoted, (int) best + 1, run.trials.quoted, run.trials.quoted);
	value = hopper_float_value(0, 1);
	failed = hopper_int_cell(&run.trials, 0, 2, 0, PG_INT64_MAX);
	iterations = hopper_int_cell(&run.trials, 0, 3, 0, PG_INT64_MAX);
	written = hopper_written_name(&run.output);
	ereport(NOTICE,
			(errmsg("automl \"%s\" finished: best configuration %d, %s %s %.4f, %s, "
					INT64_FORMAT " iterations, %s", run.output.shown, (int) best + 1,
					run.validation ? "validation" : "training", options->objective, value,
					hopper_plural(run.n_trials, "configuration", "configurations"), iterations,
					hopper_duration_words(hopper_seconds_since(run.started))),
			 errhint("What was tried, and why: %s and %s.", run.trials.shown,
					 run.decisions.shown)));
	MemoryContextSwitchTo(caller);
	result = result_row(fcinfo, &run, written, best, value, failed, iterations);
	hopper_guard_release(guard);
	hopper_finish();
	return result;
}
