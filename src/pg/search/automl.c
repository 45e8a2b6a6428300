/*
 * automl.c
 *		automl(): a search over configurations. The core decides what to train next and how far;
 *		each round of trials that may train together is a call of fit_multiple_model(), in which
 *		others keep what they have.
 */
#include "pg/search/automl.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "pg/server/words.h"
#include "pg/train/history.h"

PG_FUNCTION_INFO_V1(hopper_sql_automl);

/* Assignments are taken from the core so many at a time. */
#define MAX_ASSIGNMENTS 256

/* One call of fit_multiple_model. */
typedef struct training_round
{
	const hopper_automl *search;
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

/* --- rounds --- */

static bool
has_models(const hopper_automl *run)
{
	return OidIsValid(hopper_relation_oid(&run->output, true));
}

/* The parent's model and state become those of a trial that goes on from it. */
static void
copy_parent(const hopper_automl *run, int32 mst_key, int32 parent)
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
	const hopper_automl *run = round->search;
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
tell(hopper_automl *run, int64 trial, const char *failure)
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
tell_round(const hopper_automl *run, int n, int64 iterations)
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
has_model(const hopper_automl *run, int32 mst_key)
{
	return has_models(run) &&
		hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d", run->info.quoted, mst_key) > 0;
}

/*
 * Before any of them trains on: who goes on from another's state takes it, and who comes back after
 * its state was of no more use begins anew.
 */
static void
prepare(const hopper_automl *run, const hopper_search_assignment *work, int n)
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
run_group(hopper_automl *run, const hopper_search_assignment *work, int n, int64 iterations)
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
run_search(hopper_automl *run)
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
		hopper_search_write_new_trials(run);
		prepare(run, work, n);
		qsort(work, n, sizeof(work[0]), by_iterations);
		for (int i = 0; i < n; i++)
			if (i == 0 || iterations_of(&work[i]) != iterations_of(&work[i - 1]))
				run_group(run, work, n, iterations_of(&work[i]));
	}
}

static Datum
result_row(FunctionCallInfo fcinfo, const hopper_automl *run, const char *written, int64 best,
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
	hopper_automl run = {.max_seconds = NAN};
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
	hopper_search_create_tables(&run, !PG_ARGISNULL(24) && PG_GETARG_BOOL(24));
	run_search(&run);

	best = hopper_core()->search.best(run.search);
	if (best < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("every configuration of the search failed"),
				 errhint("Train one of them with hopper.fit() to see why.")));
	hopper_search_finish_tables(&run, best);
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
