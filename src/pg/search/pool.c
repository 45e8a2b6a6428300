/*
 * pool.c
 *		A search is one run: trials enter it when the search wants them, rest in it until they are
 *		promoted, and leave it when they are stopped. Data are loaded once. On segments they enter
 *		and leave between hops.
 *
 * Results are told as they come. Which trials there are and how far they train follows from results
 * in virtual time, so that it does not matter when that is.
 */
#include "pg/search/automl.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "pg/catalog/configs.h"
#include "pg/codec/placement.h"
#include "pg/server/ceilings.h"
#include "pg/server/devices.h"
#include "pg/server/words.h"
#include "pg/train/fit.h"
#include "pg/train/options.h"

/* Histories share memory as if there were so many of them. */
#define HISTORIES 256

typedef struct search_pool
{
	hopper_automl *run;
	hopper_fit	fit;
	hopper_progress progress;
	/* by trial; without a key: it is nothing to train */
	hopper_config *configs;
	bool	   *trains;
	int			n_trials;
	struct HTAB *models;		/* their architectures, or NULL */
	int			n_training;
	int			n_told;
	int64		largest;		/* iterations to which a trial has been promoted */
	MemoryContext result;		/* of one result */
	/* What is left for rounds: a trial does not fit beside what the run has planned. */
	bool		leaves;
	hopper_search_assignment *left;
	int			n_left;
} search_pool;

static void
pool_context(void *arg)
{
	const search_pool *pool = arg;

	errcontext("automl \"%s\" after %s", pool->run->tables.final_output.shown,
			   hopper_plural(pool->n_told, "result", "results"));
}

/* --- results --- */

/* Whose states are of no more use: their weights stay. */
static void
drop_stopped(search_pool *pool)
{
	int64		trial;

	while ((trial = hopper_core()->search.next_stopped(pool->run->search)) >= 0)
	{
		int			at = hopper_training_place(&pool->fit.training, hopper_key_of_trial(trial));

		if (at >= 0 && !pool->trains[trial])
			hopper_training_drop_state(&pool->fit.training, at);
	}
}

/* hopper_training.ended */
static void
ended(hopper_training *training, int at, bool failed)
{
	search_pool *pool = training->ended_state;
	int64		trial = hopper_trial_of_key(training->configs[at].mst_key);
	MemoryContext caller;

	/* One that fails when it enters fails once more when it is to train. */
	if (!pool->trains[trial])
		return;
	pool->trains[trial] = false;
	pool->n_training--;
	pool->n_told++;
	caller = MemoryContextSwitchTo(pool->result);
	hopper_outputs_write_info(&pool->fit.made, training, at);
	hopper_search_tell(pool->run, trial, NULL);
	drop_stopped(pool);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(pool->result);
}

static const char *
best_words(const search_pool *pool)
{
	int64		best = hopper_search_best(pool->run);

	return best < 0 ? "" : psprintf(", best so far configuration %d", hopper_key_of_trial(best));
}

static void
tell_promotion(search_pool *pool, const hopper_search_assignment *work)
{
	/* Rungs are told when they are decided, each of them. */
	if (work->from == 0 || work->resource <= pool->largest || pool->run->has_rungs)
		return;
	pool->largest = work->resource;
	ereport(NOTICE,
			(errmsg("automl \"%s\": configuration %d is the first to go on to %s, %s tried%s,"
					" %s elapsed", pool->run->tables.final_output.shown,
					hopper_key_of_trial(work->trial),
					hopper_plural(work->resource, "iteration", "iterations"),
					hopper_plural(pool->fit.training.n_configs, "configuration", "configurations"),
					best_words(pool),
					hopper_duration_words(hopper_seconds_since(pool->run->started)))));
}

static void
tell_progress(search_pool *pool)
{
	hopper_progress_watch(&pool->progress, &pool->fit.training);
	if (!hopper_progress_due(&pool->progress))
		return;
	ereport(NOTICE,
			(errmsg("automl \"%s\": %s tried, %d in training%s, %s elapsed",
					pool->run->tables.final_output.shown,
					hopper_plural(pool->fit.training.n_configs, "configuration", "configurations"),
					pool->n_training, best_words(pool),
					hopper_duration_words(hopper_seconds_since(pool->run->started)))));
}

/* --- assignments --- */

/* The configurations of trials that are new. */
static void
load_configs(search_pool *pool)
{
	int			known = pool->n_trials;
	int			n = pool->run->trials.n;
	hopper_config *more;
	int			n_more;

	if (n == known)
		return;
	if (pool->configs == NULL)
	{
		pool->configs = palloc(n * sizeof(hopper_config));
		pool->trains = palloc(n * sizeof(bool));
	}
	else
	{
		pool->configs = repalloc_huge(pool->configs, n * sizeof(hopper_config));
		pool->trains = repalloc_huge(pool->trains, n * sizeof(bool));
	}
	memset(pool->configs + known, 0, (n - known) * sizeof(hopper_config));
	memset(pool->trains + known, 0, (n - known) * sizeof(bool));
	more = hopper_load_more_configs(&pool->run->tables.selection, known, n, &pool->models, &n_more);
	for (int i = 0; i < n_more; i++)
	{
		if (more[i].mst_key <= known || more[i].mst_key > n)
			elog(ERROR, "the table of configurations is not what the search wrote");
		pool->configs[hopper_trial_of_key(more[i].mst_key)] = more[i];
	}
	pfree(more);
	pool->n_trials = n;
}

static void
leave(search_pool *pool, const hopper_search_assignment *work)
{
	pool->leaves = true;
	pool->left = pool->left == NULL ? palloc(sizeof(*work))
		: repalloc(pool->left, (pool->n_left + 1) * sizeof(*work));
	pool->left[pool->n_left++] = *work;
}

/* The trial enters the run. */
static int
enter(search_pool *pool, const hopper_search_assignment *work)
{
	hopper_fit *fit = &pool->fit;
	const hopper_config *config = &pool->configs[work->trial];
	hopper_ranked_config ranked = hopper_ranked_by_architecture(config);
	hopper_ranking ranking;
	MemoryContext caller;
	hopper_history *history;

	hopper_require_valid_configs(config, 1, &fit->train.desc);
	/* It has what all are ranked by. */
	hopper_rank_configs(1, &ranked, &fit->train.desc, fit->record.rank_by, false, &ranking);
	caller = MemoryContextSwitchTo(fit->memory);
	history = hopper_history_new(config->mst_key, HISTORIES, fit->options.memory_limit);
	MemoryContextSwitchTo(caller);
	if (work->parent >= 0 && work->from > 0)
	{
		int			parent = hopper_training_place(&fit->training,
												   hopper_key_of_trial(work->parent));

		return hopper_training_enter_child(&fit->training, config, history, parent);
	}
	return hopper_training_enter(&fit->training, config, history);
}

static void
begin(search_pool *pool, const hopper_search_assignment *work)
{
	hopper_training *training = &pool->fit.training;
	int			at = hopper_training_place(training, hopper_key_of_trial(work->trial));
	bool		anew = at >= 0 && work->from == 0;

	if (!pool->leaves && at < 0)
		at = enter(pool, work);
	if (pool->leaves || at < 0)
	{
		leave(pool, work);
		return;
	}
	tell_promotion(pool, work);
	pool->trains[work->trial] = true;
	pool->n_training++;
	hopper_training_go_on(training, at, (int32) (work->resource - work->from), anew);
}

/* What the search wants now, as far as it can be trained; how many assignments. */
static int
ask(search_pool *pool, hopper_search_assignment *work)
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
begin_all(search_pool *pool)
{
	hopper_search_assignment work[HOPPER_MAX_ASSIGNMENTS];
	int			n;

	while ((n = ask(pool, work)) > 0)
		for (int i = 0; i < n; i++)
			begin(pool, &work[i]);
}

/* --- the run --- */

/* hopper_training.chosen */
static const char *
chosen(const hopper_training *training, int at)
{
	const search_pool *pool = training->ended_state;

	return pool->run->trials.parameters[hopper_trial_of_key(training->configs[at].mst_key)];
}


static void
set_up(search_pool *pool, const hopper_search_assignment *work, int n)
{
	hopper_automl *run = pool->run;
	hopper_fit *fit = &pool->fit;

	fit->function = "automl";
	hopper_search_request(run, fit, 1);
	fit->configs = palloc(n * sizeof(hopper_config));
	for (int i = 0; i < n; i++)
		fit->configs[fit->n_configs++] = pool->configs[work[i].trial];
	hopper_require_segments();
	hopper_fit_prepare(fit);
	fit->training.ended = ended;
	fit->training.ended_state = pool;
	fit->training.chosen = chosen;
	fit->training.search = hopper_search_json(run);
	if (hopper_limits_temporary())
		fit->training.expected = hopper_search_expected(run);
	hopper_training_start(&fit->training);
	hopper_progress_begin(&pool->progress);
}

static void
train(search_pool *pool)
{
	hopper_training *training = &pool->fit.training;
	bool		closed = false;

	for (;;)
	{
		if (!closed && pool->n_training == 0)
		{
			if (pool->n_left == 0 && !hopper_core()->search.done(pool->run->search))
				elog(ERROR, "the search waits for nothing");
			hopper_training_close(training);
			closed = true;
		}
		if (hopper_training_step(training, hopper_progress_timeout(&pool->progress)))
		{
			/* Before its time where its books are lost, for lack of memory: its results say so. */
			if (!closed)
				hopper_training_take(training);
			return;
		}
		begin_all(pool);
		tell_progress(pool);
	}
}

/* Everything as a run of its own leaves it behind. */
static void
write_outputs(search_pool *pool)
{
	hopper_fit *fit = &pool->fit;

	if (hopper_search_best(pool->run) < 0)
	{
		hopper_made tables[HOPPER_OUTPUT_TABLES];

		hopper_outputs_tables(&fit->made, tables);
		(void) hopper_drop_made(tables, HOPPER_OUTPUT_TABLES, NULL);
		return;
	}
	hopper_training_take(&fit->training);
	for (int i = 0; i < fit->training.n_configs; i++)
		fit->record.num_iterations = Max(fit->record.num_iterations,
										 fit->training.results[i].iterations);
	hopper_exec("DELETE FROM %s", fit->made.info.quoted);
	hopper_fit_finish(fit);
}

int
hopper_search_pool(hopper_automl *run, hopper_search_assignment **left)
{
	search_pool *pool = palloc0(sizeof(search_pool));
	ErrorContextCallback context = {error_context_stack, pool_context, pool};
	hopper_search_assignment work[HOPPER_MAX_ASSIGNMENTS];
	int			n;

	pool->run = run;
	pool->result = AllocSetContextCreate(CurrentMemoryContext, "result of a trial",
										 ALLOCSET_DEFAULT_SIZES);
	n = ask(pool, work);
	if (n == 0)
		return 0;
	set_up(pool, work, n);
	error_context_stack = &context;
	for (int i = 0; i < n; i++)
		begin(pool, &work[i]);
	train(pool);
	error_context_stack = context.previous;
	write_outputs(pool);
	hopper_fit_end(&pool->fit);
	*left = pool->left;
	return pool->n_left;
}
