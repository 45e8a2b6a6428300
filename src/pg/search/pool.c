/*
 * pool.c
 *		A search is one run: trials enter it when the search wants them, rest in it until they are
 *		promoted, and leave it when they are stopped. Data are loaded once. On segments they enter
 *		and leave between hops.
 *
 * Results are told as they come. Which trials there are and how far they train follows from results
 * in virtual time, so that it does not matter when that is.
 *
 * What has ended goes on in the core's memory, or from the tables of the models, where it lies once
 * it was written: in a run that outlives its session at once, in the foreground where its memory is
 * wanted, where another trial begins from it, and at the end. Another session goes on with what the
 * tables have, and so does another training of this one, once a trial did not fit beside what the
 * first had planned, or was the first to want libtorch.
 */
#include "pg/search/pool.h"

#include "pg/catalog/configs.h"
#include "pg/train/fit.h"
#include "pg/train/options.h"
#include "pg/train/store.h"
#include "pg/train/warm_start.h"

/* Histories share memory as if there were so many of them. */
#define HISTORIES 256

static void
pool_context(void *arg)
{
	const hopper_pool *pool = arg;

	errcontext("automl \"%s\" after %s", pool->run->tables.final_output.shown,
			   hopper_plural(pool->n_told, "result", "results"));
}

/* --- results --- */

/* Trials that were stopped need no state any more: their weights stay. */
static void
drop_stopped(hopper_pool *pool)
{
	hopper_training *training = &pool->fit.training;
	int64		trial;

	while ((trial = hopper_core()->search.next_stopped(pool->run->search)) >= 0)
	{
		int32		mst_key = hopper_key_of_trial(trial);
		int			at = hopper_training_place(training, mst_key);

		if (trial < pool->n_trials && pool->trials[trial].trains)
			continue;
		if (at >= 0 && !training->saved[at].written)
			hopper_backend.training->drop_state(training, at);
		else
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", pool->fit.staging.state.quoted,
						mst_key);
	}
}

void
hopper_pool_ended(hopper_pool *pool, int at)
{
	int64		trial = hopper_trial_of_key(pool->fit.training.configs[at].mst_key);

	/* One that fails when it enters fails once more when it is to train. */
	if (!pool->trials[trial].trains)
		return;
	pool->trials[trial].trains = false;
	pool->n_training--;
	pool->n_told++;
	pool->run->seconds_ended += hopper_seconds_since(pool->trials[trial].begun_at);
	pool->run->n_ended++;
	hopper_search_tell(pool->run, &pool->fit.training, at);
	drop_stopped(pool);
}

/* Says once with which iteration it ends. */
static void
tell_over(hopper_pool *pool, int64 trial, int32 iteration)
{
	if (pool->run->trials[trial].over == HOPPER_OVER)
		hopper_store_steered(pool->run->number, hopper_key_of_trial(trial), iteration,
							 iteration + 1);
	pool->run->trials[trial].over = HOPPER_OVER_TOLD;
}

void
hopper_pool_steer(hopper_pool *pool, int at, int32 iteration)
{
	hopper_training *training = &pool->fit.training;
	int64		trial = hopper_trial_of_key(training->configs[at].mst_key);

	if (pool->run->trials[trial].over != HOPPER_OVER || !pool->trials[trial].trains)
		return;
	hopper_backend.training->set_iterations(training, at, 1);
	tell_over(pool, trial, iteration);
}

/* One that waits for another training gets one iteration there. */
static bool
waits(const hopper_pool *pool, int64 trial)
{
	for (int i = 0; i < pool->n_left; i++)
		if (pool->left[i].trial == trial)
			return true;
	return false;
}

void
hopper_pool_tell_resting(hopper_pool *pool)
{
	hopper_automl *run = pool->run;

	for (int64 trial = 0; trial < run->n_trials; trial++)
	{
		if (run->trials[trial].over != HOPPER_OVER ||
			(trial < pool->n_trials && pool->trials[trial].trains) || waits(pool, trial))
			continue;
		hopper_store_event(run->number, "steered", hopper_key_of_trial(trial),
						   "has ended: it rested");
		run->trials[trial].over = HOPPER_OVER_TOLD;
	}
}

/* hopper_training.ended, in the foreground */
static void
ended(hopper_training *training, int at, bool failed)
{
	hopper_pool *pool = training->ended_state;
	MemoryContext caller = MemoryContextSwitchTo(pool->result);

	hopper_training_look(training, at);
	hopper_pool_ended(pool, at);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(pool->result);
}

static const char *
best_words(const hopper_pool *pool)
{
	int64		best = hopper_search_best(pool->run);

	return best < 0 ? "" : psprintf(", best so far configuration %d", hopper_key_of_trial(best));
}

static void
tell_promotion(hopper_pool *pool, const hopper_search_assignment *work)
{
	/* Rungs are told when they are decided, each of them. */
	if (work->from == 0 || work->resource <= pool->largest || pool->run->has_rungs)
		return;
	pool->largest = work->resource;
	ereport(NOTICE, errmsg("automl \"%s\": configuration %d is the first to go on to %s, %s "
						   "tried%s, %s elapsed", pool->run->tables.final_output.shown,
						   hopper_key_of_trial(work->trial),
						   hopper_plural(work->resource, "iteration", "iterations"),
						   hopper_plural(pool->fit.training.n_configs, "configuration",
										 "configurations"), best_words(pool),
						   hopper_duration_words(hopper_seconds_since(pool->run->started))));
}

static void
tell_progress(hopper_pool *pool)
{
	hopper_progress_watch(&pool->progress, &pool->fit.training);
	if (!hopper_progress_due(&pool->progress))
		return;
	ereport(NOTICE, errmsg("automl \"%s\": %s tried, %d in training%s, %s elapsed",
						   pool->run->tables.final_output.shown,
						   hopper_plural(pool->fit.training.n_configs, "configuration",
										 "configurations"), pool->n_training, best_words(pool),
						   hopper_duration_words(hopper_seconds_since(pool->run->started))));
}

/* --- assignments --- */

/* The configurations of trials that are new. */
static void
load_configs(hopper_pool *pool)
{
	int			known = pool->n_trials;
	int			n = pool->run->n_trials;
	hopper_config *more;
	int			n_more;

	if (n == known)
		return;
	hopper_grow(pool->trials, n, pool->allocated);
	more = hopper_load_more_configs(&pool->run->tables.selection, known, n, &pool->models, &n_more);
	for (int i = 0; i < n_more; i++)
	{
		if (more[i].mst_key <= known || more[i].mst_key > n)
			elog(ERROR, "the table of configurations is not what the search wrote");
		pool->trials[hopper_trial_of_key(more[i].mst_key)].config = more[i];
	}
	pfree(more);
	pool->n_trials = n;
}

static void
leave(hopper_pool *pool, const hopper_search_assignment *work)
{
	pool->leaves = true;
	pool->left = pool->left == NULL ? palloc(sizeof(*work))
		: repalloc(pool->left, (pool->n_left + 1) * sizeof(*work));
	pool->left[pool->n_left++] = *work;
}

/* What has ended here is in the tables, too. */
static void
require_written(hopper_pool *pool, int64 trial)
{
	hopper_training *training = &pool->fit.training;
	int			at = hopper_training_place(training, hopper_key_of_trial(trial));

	if (at >= 0 && !training->saved[at].written)
		hopper_outputs_write_ended(training, &at, 1);
}

/*
 * Makes the rows that the trial begins from. Returns whether it has a state among them: of an
 * earlier training, of its last stint, or its parent's.
 */
static bool
make_ready(hopper_pool *pool, const hopper_search_assignment *work)
{
	const hopper_outputs *made = &pool->fit.staging;
	int32		mst_key = hopper_key_of_trial(work->trial);

	/* Nothing but this training has written to its tables. */
	if (!pool->fit.durable && work->from == 0)
		return false;
	if (hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d LIMIT 1", made->state.quoted,
							 mst_key) > 0)
		return true;
	hopper_outputs_clear_one(made, mst_key);
	if (work->from == 0)
		return false;
	if (work->parent < 0)
		hopper_refuse_damaged(&made->state,
							  psprintf("It has no state of configuration %d.", mst_key));
	require_written(pool, work->parent);
	hopper_outputs_copy_one(made, hopper_key_of_trial(work->parent), mst_key);
	if (hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d AND iterations = %d",
							 made->info.quoted, mst_key, pool->run->trials[work->trial].base) == 0)
		elog(ERROR, "configuration %d begins from another state than its parent's", mst_key);
	return true;
}

/*
 * Where the trial's state is damaged, the one of the checkpoint before takes its place, of this
 * stint or of its last one. False where it begins anew.
 */
static bool
mend(const hopper_pool *pool, const hopper_search_assignment *work)
{
	int32		mst_key = hopper_key_of_trial(work->trial);
	int32		behind = hopper_mend_checkpoint(&pool->fit.staging, mst_key, false);

	if (behind < 0)
		return true;
	if (behind < pool->run->trials[work->trial].base)
		hopper_refuse_damaged(&pool->fit.staging.state,
							  psprintf("No state of configuration %d is sound.", mst_key));
	hopper_store_forget(pool->run->number, mst_key, behind);
	return behind > 0;
}

/*
 * Whether this training computes it, and not one with libtorch, which all that follow then are.
 */
static bool
is_computed_here(hopper_pool *pool, const hopper_config *config)
{
	const hopper_fit *fit = &pool->fit;

	if (fit->training.wants_libtorch == NULL)
		pool->run->wants_libtorch = hopper_wants_libtorch(config, 1, &fit->train.desc);
	return fit->training.wants_libtorch || pool->run->wants_libtorch == NULL;
}

/* The trial enters the run; -1: it waits for another training. */
static int
enter(hopper_pool *pool, const hopper_search_assignment *work)
{
	hopper_fit *fit = &pool->fit;
	hopper_config config = pool->trials[work->trial].config;
	hopper_ranked_config ranked = hopper_ranked_by_architecture(&config);
	hopper_ranking ranking;
	MemoryContext caller;
	hopper_history *history;
	bool		stored;
	int			at;

	hopper_require_valid_configs(&config, 1, &fit->train.desc);
	if (!is_computed_here(pool, &config))
		return -1;
	/* It has what all are ranked by. */
	hopper_rank_configs(1, &ranked, &fit->train.desc, fit->record.rank_by, false, &ranking);
	caller = MemoryContextSwitchTo(fit->memory);
	history = hopper_history_new(config.mst_key, HISTORIES, fit->options.memory_limit);
	MemoryContextSwitchTo(caller);
	stored = make_ready(pool, work);
	if (stored)
	{
		/* This very statement may have written it. */
		CommandCounterIncrement();
		PushActiveSnapshot(GetTransactionSnapshot());
		/* What this statement has written is sound. */
		stored = !fit->durable || mend(pool, work);
		if (stored)
			hopper_warm_start(&fit->staging, &fit->train.desc, &config, 1, &history, false);
		PopActiveSnapshot();
	}
	at = hopper_backend.training->enter(&fit->training, &config, history);
	if (stored && at >= 0)
		hopper_fit_goes_on(&fit->training, at);
	return at;
}

/* Iterations of this stint that an earlier session has trained. */
static int32
done_of_stint(const hopper_pool *pool, int at, const hopper_search_assignment *work)
{
	return Max(pool->fit.training.saved[at].stored - pool->run->trials[work->trial].base, 0);
}

static void
begin(hopper_pool *pool, const hopper_search_assignment *work)
{
	hopper_training *training = &pool->fit.training;
	int			at = hopper_training_place(training, hopper_key_of_trial(work->trial));
	bool		restart = pool->trials[work->trial].begun && work->from == 0;
	bool		over;
	int32		done;

	if (!pool->leaves && at < 0)
		at = enter(pool, work);
	if (pool->leaves || at < 0)
	{
		leave(pool, work);
		return;
	}
	tell_promotion(pool, work);
	pool->trials[work->trial].trains = pool->trials[work->trial].begun = true;
	pool->trials[work->trial].begun_at = GetCurrentTimestamp();
	pool->n_training++;
	if (restart && training->saved[at].there)
		hopper_outputs_clear_one(&pool->fit.staging, training->configs[at].mst_key);
	if (restart)
		memset(&training->saved[at], 0, sizeof(hopper_saved));
	done = done_of_stint(pool, at, work);
	over = pool->run->trials[work->trial].over != HOPPER_NOT_OVER;
	hopper_backend.training->go_on(training, at,
								   over ? 1 : (int32) (work->resource - work->from) - done,
								   done, restart);
	if (over)
		tell_over(pool, work->trial, pool->run->trials[work->trial].base + done);
}

/* What the search wants now, as far as it can be trained; how many assignments. */
static int
ask_for_work(hopper_pool *pool, hopper_search_assignment *work)
{
	int			n;

	while (hopper_search_ask(pool->run, work, &n))
	{
		if (n == 0)
			continue;
		load_configs(pool);
		return n;
	}
	return 0;
}

static void
begin_all(hopper_pool *pool)
{
	hopper_search_assignment work[HOPPER_MAX_ASSIGNMENTS];
	int			n;

	pool->run->batch++;
	while ((n = ask_for_work(pool, work)) > 0)
		for (int i = 0; i < n; i++)
			begin(pool, &work[i]);
}

/* --- the training --- */

/* hopper_training.chosen */
static const char *
chosen(const hopper_training *training, int at)
{
	const hopper_pool *pool = training->ended_state;

	return pool->run->trials[hopper_trial_of_key(training->configs[at].mst_key)].parameters;
}

static hopper_pool *
new_pool(hopper_automl *run)
{
	hopper_pool *pool = palloc0(sizeof(hopper_pool));

	pool->run = run;
	pool->result = AllocSetContextCreate(CurrentMemoryContext, "result of a trial",
										 ALLOCSET_DEFAULT_SIZES);
	return pool;
}

/* What is asked of the training of these trials. */
static void
request(hopper_pool *pool, const hopper_search_assignment *work, int n)
{
	const hopper_search_names *tables = &pool->run->tables;
	hopper_fit *fit = &pool->fit;

	*fit = pool->run->asked;
	fit->output = tables->output;
	fit->shown = tables->final_output.shown;
	fit->selection = tables->selection;
	fit->record.model_selection_table = tables->selection.quoted;
	hopper_take_resources(&fit->options, fit->threads_given, pool->run->threads);
	fit->training.enters = true;
	fit->training.wants_libtorch = pool->run->wants_libtorch;
	fit->training.ended_state = pool;
	fit->training.chosen = chosen;
	fit->training.search = hopper_search_json(pool->run);
	fit->configs = palloc(Max(n, 1) * sizeof(hopper_config));
	for (int i = 0; i < n; i++)
		fit->configs[fit->n_configs++] = pool->trials[work[i].trial].config;
	hopper_backend.require_segments();
}

hopper_pool *
hopper_pool_prepare(hopper_automl *run, hopper_search_assignment **work, int *n)
{
	hopper_pool *pool = new_pool(run);

	*work = palloc(HOPPER_MAX_ASSIGNMENTS * sizeof(hopper_search_assignment));
	*n = ask_for_work(pool, *work);
	if (*n == 0)
		return pool;
	request(pool, *work, *n);
	hopper_fit_prepare(&pool->fit);
	return pool;
}

/* A training that begins with this work, of trials whose states lie in the tables. */
static hopper_pool *
pool_of(hopper_automl *run, const hopper_search_assignment *work, int n)
{
	hopper_pool *pool = new_pool(run);

	load_configs(pool);
	request(pool, work, n);
	pool->fit.durable = true;
	pool->fit.staging = hopper_outputs_named(&run->tables.output);
	/* This very statement may have written what it begins from. */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	for (int i = 0; i < n; i++)
	{
		if (!make_ready(pool, &work[i]))
			continue;
		CommandCounterIncrement();
		UpdateActiveSnapshotCommandId();
		(void) mend(pool, &work[i]);
	}
	hopper_fit_resume(&pool->fit);
	PopActiveSnapshot();
	return pool;
}

hopper_pool *
hopper_pool_resume(hopper_automl *run, hopper_search_assignment **work, int *n)
{
	*work = hopper_search_replay(run, n);
	(void) hopper_search_steer(run);
	return pool_of(run, *work, *n);
}

void
hopper_pool_start(hopper_pool *pool, const hopper_search_assignment *work, int n)
{
	hopper_backend.training->begin(&pool->fit.training);
	hopper_backend.training->start(&pool->fit.training);
	hopper_progress_begin(&pool->progress);
	for (int i = 0; i < n; i++)
		begin(pool, &work[i]);
	hopper_pool_go_on(pool);
}

/* Where max_seconds cuts trials: ends them, or sees to it that it is asked again then. */
static void
cut(hopper_pool *pool)
{
	const hopper_automl *run = pool->run;
	double		left = run->options.max_seconds - hopper_seconds_since(run->started);

	if (!run->cuts || pool->cut || isnan(left))
		return;
	pool->cut = left <= 0;
	if (pool->cut)
		hopper_backend.training->end_iterations(&pool->fit.training);
	pool->progress.wakes = pool->cut ? 0 : hopper_seconds_since(pool->progress.started) + left;
}

void
hopper_pool_go_on(hopper_pool *pool)
{
	cut(pool);
	begin_all(pool);
	tell_progress(pool);
	if (pool->closed || pool->n_training > 0)
		return;
	if (pool->n_left == 0 && !hopper_core()->search.done(pool->run->search))
		elog(ERROR, "the search waits for nothing");
	hopper_backend.training->close(&pool->fit.training);
	pool->closed = true;
}

/* --- in the foreground --- */

static void
train(hopper_pool *pool)
{
	hopper_training *training = &pool->fit.training;

	while (!hopper_backend.training->step(training, hopper_progress_timeout(&pool->progress)))
		hopper_pool_go_on(pool);
	/* Before its time where its books are lost, for lack of memory: its results say so. */
	if (!pool->closed)
	{
		hopper_training_take(training);
		hopper_refuse_all_failed(training);
	}
}

/* Everything as a run of its own leaves it behind. */
static void
write_outputs(hopper_pool *pool)
{
	hopper_fit *fit = &pool->fit;
	hopper_training *training = &fit->training;

	/* The search has failed, which takes all back. */
	if (hopper_search_best(pool->run) < 0 && pool->n_left == 0)
		return;
	hopper_training_take(training);
	for (int i = 0; i < training->n_configs; i++)
		fit->record.num_iterations = Max(fit->record.num_iterations,
										 training->results[i].iterations);
	hopper_fit_finish(fit);
}

void
hopper_search_pool(hopper_automl *run)
{
	hopper_search_assignment *work;
	int			n;
	hopper_pool *pool = hopper_pool_prepare(run, &work, &n);
	ErrorContextCallback context = {error_context_stack, pool_context, NULL};

	for (; n > 0; work = pool->left, n = pool->n_left)
	{
		if (pool->left)
			pool = pool_of(run, work, n);
		context.arg = pool;
		pool->fit.training.ended = ended;
		error_context_stack = &context;
		hopper_pool_start(pool, work, n);
		train(pool);
		error_context_stack = context.previous;
		write_outputs(pool);
		hopper_fit_end(&pool->fit);
	}
}
