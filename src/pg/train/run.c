/*
 * run.c
 *		What is known of a training, whoever trains it.
 */
#include "pg/train/run.h"

char *
hopper_training_words(const hopper_training *training)
{
	int			n = 0;

	for (const hopper_training *other = training->beside; other; other = other->beside)
		n++;
	return psprintf("%s \"%s\"%s", training->function, training->shown,
					n > 0 ? psprintf(" and %s", hopper_plural(n, "other", "others")) : "");
}

void
hopper_training_context(void *arg)
{
	hopper_training *training = arg;

	if (!training->started)
		errcontext("%s before its first iteration", hopper_training_words(training));
	else
	{
		hopper_done done = hopper_training_done(training);

		errcontext("%s after %s of %s", hopper_training_words(training),
				   hopper_count_words(done.iterations),
				   hopper_plural(done.iterations_total, "iteration", "iterations"));
	}
}

bool
hopper_training_is_whole(const hopper_training *training)
{
	return !training->enters && !training->commits;
}

int32
hopper_training_earlier(const hopper_training *training, int at)
{
	return training->saved ? training->saved[at].earlier : 0;
}

/* The iterations that a configuration trains, of this run. */
static int
iterations_of(const hopper_training *training, int at)
{
	const hopper_saved *saved = training->saved ? &training->saved[at] : NULL;

	/* Others may have changed it. */
	return saved && saved->target > 0 ? saved->target - saved->earlier
		: training->options.num_iterations;
}

/* Adds what is done of one training; work in its unit. */
static void
add_done(const hopper_training *training, hopper_done *done, double *total)
{
	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_history *history = training->histories[i];
		int			n = history->n > 0
			? hopper_history_at(history, history->n - 1)->iteration -
			hopper_training_earlier(training, i) : 0;

		int			n_total = training->stopped[i] ? Max(n, 0) : iterations_of(training, i);

		if (training->failed[i])
			continue;
		done->iterations += Max(n, 0);
		done->iterations_total += n_total;
		done->trials_training += n < n_total;
		done->work += Max(n, 0) * training->costs[i];
		*total += n_total * training->costs[i];
	}
}

hopper_done
hopper_training_done(const hopper_training *training)
{
	hopper_done done = {0};
	double		total = 0;

	for (; training; training = training->beside)
		add_done(training, &done, &total);
	done.work = total > 0 ? done.work / total : 0;
	return done;
}

double *
hopper_training_costs(const hopper_training *training)
{
	double	   *costs = palloc(Max(training->n_configs, 1) * sizeof(double));

	HOPPER_CORE(iteration_flops, training->configs, training->n_configs, &training->train->desc,
				costs);
	return costs;
}

int
hopper_training_place(const hopper_training *training, int32 mst_key)
{
	int			first = 0;
	int			last = training->n_configs - 1;

	if (training->enters)
		return mst_key >= 0 && mst_key < training->n_places ? training->places[mst_key] - 1 : -1;
	while (first <= last)
	{
		int			middle = first + (last - first) / 2;

		if (training->configs[middle].mst_key == mst_key)
			return middle;
		if (training->configs[middle].mst_key < mst_key)
			first = middle + 1;
		else
			last = middle - 1;
	}
	return -1;
}

void
hopper_training_halt_each(const hopper_training *training, bool each)
{
	HOPPER_CHECK(training->api->halt_each(training->run, each, hopper_fault));
}

void
hopper_training_look(hopper_training *training, int at)
{
	/* segments have told theirs */
	if (training->run == NULL)
		return;
	HOPPER_CHECK(training->api->result(training->run, training->configs[at].mst_key,
									   &training->results[at], hopper_fault));
}

void
hopper_training_take(hopper_training *training)
{
	if (training->run)
		training->api->get_info(training->run, &training->info);
	training->n_failed = 0;
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_training_look(training, i);
		if (training->results[i].status == HOPPER_MODEL_TRAINING)
			elog(ERROR, "configuration %d did not finish", training->configs[i].mst_key);
		training->n_failed += training->results[i].status == HOPPER_MODEL_FAILED;
		CHECK_FOR_INTERRUPTS();
	}
}

void
hopper_training_allocate(hopper_training *training)
{
	int			n = training->n_configs;

	training->allocated = n;
	training->n_failed = 0;
	training->failed = palloc0(n * sizeof(bool));
	training->stopped = palloc0(n * sizeof(bool));
	training->results = hopper_palloc0_huge(n * sizeof(hopper_model_result));
}

/* --- why configurations failed --- */

char *
hopper_short_reason(const char *utf8_message, int32 size)
{
	return hopper_from_utf8(size > 0 ? pnstrdup(utf8_message, size) : utf8_message);
}

/* "16 failed: loss became NaN (15), out of memory (1).", with one reason without its number */
static char *
counted_reasons(const hopper_training *training)
{
	int			n = training->n_configs;
	const char **reasons = palloc(n * sizeof(char *));

	for (int i = 0; i < n; i++)
		reasons[i] = hopper_short_reason(training->results[i].error,
										 training->results[i].reason_size);
	return psprintf("%d failed: %s.", n, HOPPER_CORE_ROWS(count_texts, n, reasons)->cells[0]);
}

void
hopper_refuse_all_failed(const hopper_training *training)
{
	if (training->n_failed == training->n_configs)
		hopper_raise(ERRCODE_DATA_EXCEPTION,
					 errmsg("no configuration of \"%s\" finished", training->shown),
					 errdetail("%s", counted_reasons(training)),
					 errhint("The warnings above tell more."));
}
