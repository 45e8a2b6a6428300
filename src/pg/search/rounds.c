/*
 * rounds.c
 *		A search on GPUs, or of what does not fit beside the others: each round of trials that may
 *		train together is a call of fit_multiple_model(), in which others keep what they have.
 */
#include "pg/search/automl.h"

#include "utils/guc.h"

#include "pg/codec/placement.h"
#include "pg/server/devices.h"
#include "pg/server/words.h"

/* One call of fit_multiple_model. */
typedef struct training_round
{
	const hopper_automl *search;
	int32	   *keys;
	int			n_keys;
	int64		iterations;
} training_round;

static bool
has_models(const hopper_automl *run)
{
	return OidIsValid(hopper_relation_oid(&run->tables.output, true));
}

static void
copy_parent(const hopper_automl *run, int32 mst_key, int32 parent)
{
	hopper_outputs outputs = hopper_outputs_named(&run->tables.output);

	hopper_outputs_copy_one(&outputs, parent, mst_key);
}

static void
train(void *state)
{
	const training_round *round = state;
	const hopper_automl *run = round->search;
	hopper_fit	fit = {.caller = CurrentMemoryContext,.function = "fit"};
	int			level = NewGUCNestLevel();

	/* A round says one line, below. */
	hopper_set_for_now("client_min_messages", "warning");
	hopper_search_request(run, &fit, round->iterations);
	hopper_check_precision(fit.options.precision, run->settings.use_gpus);
	hopper_choose_gpus(run->settings.use_gpus, NULL, 0, true, &fit.options);
	hopper_require_segments();
	fit.warm_start = fit.record.warm_start = has_models(run);
	hopper_fit_selected(&fit, round->keys, round->n_keys);
	AtEOXact_GUC(true, level);
}

static void
tell_round(const hopper_automl *run, int n, int64 iterations)
{
	int64		best = hopper_search_best(run);

	ereport(NOTICE,
			(errmsg("automl \"%s\": round %d, %s trained for %s%s, %s elapsed",
					run->tables.final_output.shown, run->rounds,
					hopper_plural(n, "configuration", "configurations"),
					hopper_plural(iterations, "iteration", "iterations"),
					best < 0 ? "" : psprintf(", best so far configuration %d",
											 hopper_key_of_trial(best)),
					hopper_duration_words(hopper_seconds_since(run->started)))));
}

static bool
has_model(const hopper_automl *run, int32 mst_key)
{
	return has_models(run) &&
		hopper_select_latest("SELECT 1 FROM %s WHERE mst_key = %d", run->tables.info.quoted,
							 mst_key) > 0;
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
		int32		mst_key = hopper_key_of_trial(work[i].trial);

		if (work[i].parent >= 0 && work[i].from > 0 && !has_model(run, mst_key))
			copy_parent(run, mst_key, (int32) work[i].parent + 1);
		else if (work[i].from == 0 && has_model(run, mst_key))
		{
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->tables.output.quoted, mst_key);
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->tables.state.quoted, mst_key);
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->tables.info.quoted, mst_key);
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
	training_round round = {.search = run, .iterations = iterations};
	ErrorData  *error;

	round.keys = palloc(n * sizeof(int32));
	for (int i = 0; i < n; i++)
		if (iterations_of(&work[i]) == iterations)
			round.keys[round.n_keys++] = hopper_key_of_trial(work[i].trial);
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
			hopper_search_tell(run, work[i].trial, error ? error->message : NULL);
	tell_round(run, round.n_keys, iterations);
	pfree(round.keys);
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

/* Whose states are of no more use, once nobody is to go on from them: their weights stay. */
static void
drop_stopped(const hopper_automl *run)
{
	int64		trial;

	while ((trial = hopper_core()->search.next_stopped(run->search)) >= 0)
		if (has_models(run))
			hopper_exec("DELETE FROM %s WHERE mst_key = %d", run->tables.state.quoted,
						hopper_key_of_trial(trial));
}

void
hopper_search_rounds(hopper_automl *run, hopper_search_assignment *work, int n)
{
	prepare(run, work, n);
	qsort(work, n, sizeof(work[0]), by_iterations);
	for (int i = 0; i < n; i++)
		if (i == 0 || iterations_of(&work[i]) != iterations_of(&work[i - 1]))
			run_group(run, work, n, iterations_of(&work[i]));
	drop_stopped(run);
}
