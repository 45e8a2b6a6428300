/*
 * automl.c
 *		automl(): a search over configurations. The core decides what to train next and how far.
 *		All trials train in one run (search/pool.c).
 */
#include "pg/search/pool.h"

#include "pg/server/devices.h"
#include "pg/train/options.h"
#include "pg/train/ranking.h"

#define TIME_IS_UP "its time was up"
#define TIME_IS_SHORT "its time would be up before another trial was half trained"

/* Why nothing more begins by now, or NULL: what others have taken tells how long a trial trains. */
static const char *
why_over(const hopper_automl *run)
{
	double		left = run->options.max_seconds - hopper_seconds_since(run->started);

	if (isnan(left))
		return NULL;
	if (left <= 0)
		return TIME_IS_UP;
	return run->n_ended > 0 && left <= run->seconds_ended / run->n_ended / 2 ? TIME_IS_SHORT : NULL;
}

bool
hopper_search_ask(hopper_automl *run, hopper_search_assignment *work, int *n)
{
	const char *over = run->stopped || run->replays ? NULL : why_over(run);

	if (over)
	{
		HOPPER_CORE(search.stop, run->search, over);
		run->stopped = true;
		if (run->number != 0)
			hopper_search_note(run, -1, NULL, over, NULL);
	}
	HOPPER_CORE(search.ask, run->search, work, HOPPER_MAX_ASSIGNMENTS, n);
	if (*n == 0)
		return false;
	hopper_search_write_new_trials(run);
	for (int i = 0; i < *n; i++)
		run->trials[work[i].trial].base = work[i].from == 0 ? 0
			: run->trials[work[i].parent >= 0 && run->trials[work[i].trial].trained == 0
						  ? work[i].parent : work[i].trial].trained;
	*n = hopper_search_refuse(run, work, *n);
	return true;
}

/* What there was to try is known from earlier, or nothing that was tried could be trained. */
void
hopper_search_refuse_without_best(const hopper_automl *run)
{
	if (run->earlier && run->n_trials <= run->options.n_earlier)
		hopper_wrong(errmsg("nothing is left to try"),
					 errdetail("\"%s\" has tried all configurations of the search space.",
							   run->earlier->shown),
					 errhint("Leave from_run out, or search a larger space."));
	hopper_raise(ERRCODE_DATA_EXCEPTION, errmsg("every configuration of the search failed"),
				 errhint("Train one of them with hopper.fit() to see why."));
}

/* The best is of an iteration before its last one. */
static void
tell_kept(const hopper_automl *run, int64 best)
{
	if (hopper_select_latest("SELECT fit_params, best_iteration, iterations FROM %s"
							 " WHERE mst_key = %d AND best_iteration < iterations",
							 run->tables.info.quoted, hopper_key_of_trial(best)) == 0 ||
		!hopper_keeps_best(hopper_cell(0, 1)))
		return;
	ereport(NOTICE, errmsg("automl \"%s\": configuration %d has the weights of iteration %s of "
						   "%s, its best", run->tables.final_output.shown,
						   hopper_key_of_trial(best), hopper_cell(0, 2), hopper_cell(0, 3)),
			errhint("'restore_best': [False] among the fit parameters keeps the last ones."));
}

/* What its last line does not say: the best misses what was asked for, or better is known. */
static void
tell_shortcomings(const hopper_automl *run, int64 best)
{
	if (hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d"
							 " HAVING NOT (array_agg(kept ORDER BY iterations DESC))[1]",
							 run->tables.rungs.quoted, hopper_key_of_trial(best)) > 0)
		ereport(WARNING,
				errmsg("automl \"%s\": no configuration keeps the constraints \"%s\"",
					   run->tables.final_output.shown, hopper_from_utf8(run->options.constraints)),
				errdetail("The best is configuration %d, which misses them by least.",
						  hopper_key_of_trial(best)));
	/* A grid has nothing left at its end by its nature. */
	if (strcmp(run->options.algorithm, "grid") != 0 &&
		hopper_select_latest("SELECT reason FROM %s WHERE decision = 'exhausted' AND reason LIKE"
							 " 'the search space %%' LIMIT 1", run->tables.decisions.quoted) > 0)
		ereport(NOTICE,
				errmsg("automl \"%s\": %s", run->tables.final_output.shown, hopper_cell(0, 1)));
	/* What is known from earlier comes before all that was tried here. */
	if (run->earlier &&
		hopper_select_latest("SELECT e.mst_key, e.value FROM %s e JOIN %s b ON b.mst_key = %d"
							 " WHERE e.status = 'earlier' AND e.place < b.place"
							 " ORDER BY e.place LIMIT 1",
							 run->tables.trials.quoted, run->tables.trials.quoted,
							 hopper_key_of_trial(best)) > 0)
		ereport(NOTICE,
				errmsg("automl \"%s\": none of its configurations is better than configuration %d "
					   "of \"%s\", with %s", run->tables.final_output.shown,
					   run->earlier_keys[hopper_key_cell(&run->tables.trials, 0, 1) - 1],
					   run->earlier->shown,
					   hopper_search_objective_words(run, hopper_float_value(0, 2))));
}

/* What is asked of its trainings; the names of what they make come with its tables. */
static void
take_fit(FunctionCallInfo fcinfo, hopper_automl *run)
{
	hopper_fit *fit = &run->asked;
	hopper_run_options *options = &fit->options;
	hopper_run_record *record = &fit->record;
	int			threads = hopper_argument(fcinfo, "threads");
	bool		use_gpus = hopper_bool_named(fcinfo, "use_gpus", false);

	fit->function = "automl";
	fit->searches = true;
	fit->source = run->packed;
	fit->models = run->models;
	fit->has_selection = true;
	fit->has_validation = run->validation != NULL;
	if (fit->has_validation)
		fit->validation = hopper_parse_name(cstring_to_text(run->validation), "validation_table");
	fit->threads_given = hopper_is_given(fcinfo, threads);
	run->threads = hopper_integer_argument(fcinfo, threads, "threads", 0);
	hopper_default_options(options);
	options->metrics_compute_frequency =
		hopper_positive_argument(fcinfo, hopper_argument(fcinfo, "metrics_compute_frequency"),
								 "metrics_compute_frequency", 1);
	options->seed = run->options.seed;
	hopper_check_precision(options->precision, use_gpus);
	hopper_choose_gpus(use_gpus, NULL, 0, true, options);
	record->source_table = run->packed.quoted;
	record->validation_table = run->validation;
	record->model_arch_table = run->models.quoted;
	record->num_iterations = options->num_iterations;
	record->frequency = options->metrics_compute_frequency;
	record->statement = hopper_call_text(fcinfo);
	record->name = hopper_string_named(fcinfo, "name");
	record->description = hopper_string_named(fcinfo, "description");
	record->rank_by = hopper_search_ranking(run)->name;
}

void
hopper_search_conclude(hopper_automl *run, hopper_search_result *result)
{
	result->best = hopper_search_best(run);
	if (result->best < 0)
		hopper_search_refuse_without_best(run);
	hopper_search_finish_tables(run, result->best);
	hopper_select_latest("SELECT (SELECT value FROM %s WHERE mst_key = %d)::float8,"
						 " count(*), count(CASE WHEN status = 'failed' THEN 1 END)"
						 " FROM %s WHERE status <> 'earlier' AND place IS NOT NULL",
						 run->tables.trials.quoted, hopper_key_of_trial(result->best),
						 run->tables.trials.quoted);
	result->value = hopper_float_value(0, 1);
	result->configurations = hopper_int_cell(&run->tables.trials, 0, 2, 0, PG_INT64_MAX);
	result->failed = hopper_int_cell(&run->tables.trials, 0, 3, 0, PG_INT64_MAX);
	result->iterations = hopper_core()->search.iterations(run->search);
	hopper_search_replace_tables(&run->tables);
	ereport(NOTICE,
			errmsg("automl \"%s\" finished: best configuration %d, %s, %s%s, %s, %s",
				   run->tables.final_output.shown, hopper_key_of_trial(result->best),
				   hopper_search_objective_words(run, result->value),
				   hopper_plural(result->configurations, "configuration", "configurations"),
				   result->failed > 0 ? psprintf(" (" INT64_FORMAT " failed)", result->failed) : "",
				   hopper_plural(result->iterations, "iteration", "iterations"),
				   hopper_duration_words(hopper_seconds_since(run->started))),
			errhint("What was tried, and why: %s and %s.", run->tables.trials.shown,
					run->tables.decisions.shown));
	/* Of trials that are cut the best weights are wanted: the last are where the time was up. */
	if (!run->cuts)
		tell_kept(run, result->best);
	tell_shortcomings(run, result->best);
	hopper_search_tell_limit(run);
}

/* What is asked for, and the search at its beginning, which a guard frees. */
static hopper_guard *
begin_search(FunctionCallInfo fcinfo, hopper_automl *run)
{
	hopper_guard *guard;

	run->started = GetCurrentTimestamp();
	hopper_automl_arguments(fcinfo, run);
	run->tables.final_output = hopper_name_named(fcinfo, "model_table");
	run->tables.final_selection = hopper_name_named(fcinfo, "model_selection_table");
	hopper_search_name_tables(&run->tables, &run->tables.final_output,
							  &run->tables.final_selection);
	hopper_require_other_tables(fcinfo, "model_table", (const char *const[]) {
		"model_selection_table", "packed_table", "validation_table", "model_arch_table",
		"first_table", "from_run", NULL});
	hopper_require_other_tables(fcinfo, "model_selection_table", (const char *const[]) {
		"packed_table", "validation_table", "model_arch_table", "first_table", "from_run", NULL});
	guard = hopper_search_start(run);
	take_fit(fcinfo, run);
	hopper_search_require_possible(run);
	run->replace = hopper_bool_named(fcinfo, "replace", false);
	run->cuts = hopper_bool_named(fcinfo, "cut", false);
	return guard;
}

HOPPER_SPI_FUNCTION(hopper_sql_automl)
{
	hopper_automl *run;
	hopper_guard *guard;
	hopper_search_result found;

	(void) hopper_fit_begin_request();
	run = palloc0(sizeof(hopper_automl));
	guard = begin_search(fcinfo, run);
	if (hopper_fit_is_taken(fcinfo, NULL, run))
		PG_RETURN_NULL();
	hopper_search_create_tables(&run->tables, &run->models, run->replace, 0);
	hopper_search_rehearse(run);
	hopper_search_pool(run);
	hopper_search_conclude(run, &found);
	hopper_guard_release(guard);
	return hopper_return_params(fcinfo, HOPPER_PARAMS(
		hopper_text_param(hopper_written_name(&run->tables.output)),
		HOPPER_INT4(hopper_key_of_trial(found.best)),
		hopper_text_param(hopper_search_objective(run)), HOPPER_FLOAT8(found.value),
		HOPPER_INT4((int32) found.configurations), HOPPER_INT4((int32) found.failed),
		HOPPER_INT8(found.iterations), HOPPER_SECONDS(hopper_seconds_since(run->started))));
}
