/*
 * progress.c
 *		The lines that a training run writes: NOTICEs, one an event, in a fixed order of words.
 */
#include "pg/train/run.h"

#include "pg/server/devices.h"
#include "pg/server/watch.h"

/*
 * psycopg2 keeps the last 50 notices of a connection; so a run writes at most 40 of these lines:
 * some at the interval that the user set, then two at each doubling of it (the 40th after about
 * sixty days, with the default of 10 s).
 */
#define MAX_LINES 40
#define LINES_BEFORE_DOUBLING 8
#define LINES_A_DOUBLING 2
/* Of models that stop early; the last line of a run tells how many there were. */
#define MAX_STOPPED_LINES 8

void
hopper_progress_begin(hopper_progress *progress)
{
	progress->started = progress->last_line = GetCurrentTimestamp();
	progress->interval = hopper_notice_interval;
	progress->n_lines = 0;
	progress->wakes = 0;
}

void
hopper_progress_start(hopper_progress *progress, const hopper_training *training)
{
	const hopper_packed *train = training->train;

	hopper_progress_begin(progress);
	ereport(NOTICE,
			errmsg("%s \"%s\": %s on %s, %s over %s in %s%s", training->function, training->shown,
				   hopper_plural(training->n_configs, "configuration", "configurations"),
				   hopper_devices_text(&training->options),
				   hopper_plural(training->options.num_iterations, "iteration", "iterations"),
				   hopper_plural(train->desc.n_rows, "row", "rows"),
				   hopper_plural(train->desc.n_partitions, "partition", "partitions"),
				   training->valid
				   ? psprintf(", validation on %s",
							  hopper_plural(training->valid->desc.n_rows, "row", "rows"))
				   : ""));
}

/*
 * The live model with the best newest value of what all are ranked by: of validation, else of
 * training. False where nothing is known yet, or nothing is the same for all.
 */
static bool
find_best(const hopper_training *training, int *at, double *value_found)
{
	int			best = -1;
	int			split = training->valid ? HOPPER_SPLIT_VALID : HOPPER_SPLIT_TRAIN;
	double		best_value = 0;

	if (training->ranking->n_groups != 1 || training->beside)
		return false;
	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_rank *rank = &training->ranking->ranks[i];
		const hopper_history *history = training->histories[i];
		hopper_maybe found = hopper_history_value(history, hopper_history_last(history, split),
												  split, rank->metric);

		if (training->failed[i] || !found.known || isnan(found.value))
			continue;
		if (best < 0 || rank->direction * found.value > rank->direction * best_value)
		{
			best = i;
			best_value = found.value;
		}
	}
	*at = best;
	*value_found = best_value;
	return best >= 0;
}

/* "best configuration 3 validation accuracy 0.9706" */
static bool
best_so_far(const hopper_training *training, char **words)
{
	int			best;
	double		value;

	if (!find_best(training, &best, &value))
		return false;
	*words = psprintf("best configuration %d %s %s %.4f", training->configs[best].mst_key,
					  training->valid ? "validation" : "training",
					  training->ranking->ranks[best].name, value);
	return true;
}

/* "fit "models": 44 of 160 iterations, 4 live, best ..., 3 s elapsed, about 1 s left" */
static char *
line_words(const hopper_progress *progress, const hopper_training *training)
{
	double		elapsed = hopper_seconds_since(progress->started);
	hopper_done done = hopper_training_done(training);
	int			live = 0;
	char	   *best;

	if (!best_so_far(training, &best))
		best = NULL;
	for (const hopper_training *t = training; t; t = t->beside)
		live += t->n_configs - t->n_failed;
	return psprintf("%s: %s of %s, %d live%s%s, %s elapsed%s",
					hopper_training_words(training), hopper_count_words(done.iterations),
					hopper_plural(done.iterations_total, "iteration", "iterations"), live,
					best ? ", " : "", best ? best : "", hopper_duration_words(elapsed),
					done.work > 0
					? psprintf(", about %s left",
							   hopper_duration_words(elapsed * (1 / done.work - 1))) : "");
}

void
hopper_progress_watch(const hopper_progress *progress, const hopper_training *training)
{
	hopper_watched watched = {0};
	int			best;

	if (!hopper_watch_due())
		return;
	watched.run = training->number;
	watched.packed = hopper_relation_oid(&training->train->table, true);
	watched.started = progress->started;
	for (const hopper_training *t = training; t; t = t->beside)
	{
		watched.trials += t->n_configs;
		watched.trials_failed += t->n_failed;
		watched.memory += t->share_bytes;
	}
	watched.threads = training->options.threads;
	watched.work = -1;
	if (training->costs)
	{
		hopper_done done = hopper_training_done(training);

		watched.iterations = done.iterations;
		watched.iterations_total = done.iterations_total;
		watched.work = done.work;
		watched.trials_training = done.trials_training;
	}
	else
		for (int i = 0; i < training->n_configs; i++)
		{
			if (training->histories[i]->n > 0)
				watched.iterations += hopper_history_at(training->histories[i],
														training->histories[i]->n - 1)->iteration;
			watched.trials_training += !training->failed[i] &&
				(training->results == NULL ||
				 training->results[i].status == HOPPER_MODEL_TRAINING);
		}
	/* Of a search it is what the search tells; its trials have rankings of their own. */
	if (training->costs && find_best(training, &best, &watched.best_value))
		watched.best_trial = training->configs[best].mst_key;
	hopper_watch(&watched);
	if (HOPPER_TELLS_ACTIVITY && training->costs)
		pgstat_report_activity(STATE_RUNNING, line_words(progress, training));
}

bool
hopper_progress_due(hopper_progress *progress)
{
	if (hopper_notice_interval <= 0 || progress->n_lines >= MAX_LINES ||
		hopper_seconds_since(progress->last_line) < progress->interval)
		return false;
	progress->last_line = GetCurrentTimestamp();
	progress->n_lines++;
	if (progress->n_lines >= LINES_BEFORE_DOUBLING &&
		(progress->n_lines - LINES_BEFORE_DOUBLING) % LINES_A_DOUBLING == 0)
		progress->interval *= 2;
	return true;
}

void
hopper_progress_line(hopper_progress *progress, const hopper_training *training)
{
	hopper_progress_watch(progress, training);
	if (hopper_progress_due(progress))
		ereport(NOTICE, errmsg("%s", line_words(progress, training)));
}

long
hopper_progress_timeout(const hopper_progress *progress)
{
	bool		speaks = hopper_notice_interval > 0 && progress->n_lines < MAX_LINES;
	double		left = progress->interval - hopper_seconds_since(progress->last_line);

	if (!speaks && progress->wakes == 0)
		return -1;
	if (progress->wakes > 0)
		left = Min(speaks ? left : progress->wakes,
				   progress->wakes - hopper_seconds_since(progress->started));
	return left <= 0 ? 1 : (long) Min(left * 1000 + 1, 60000.0);
}

/* "Loss became NaN. It happened ..." from an event's message and detail. */
static char *
failure_sentences(const hopper_event *event)
{
	char	   *reason = pstrdup(hopper_from_utf8(event->message));
	char	   *detail = hopper_from_utf8(event->detail);

	reason[0] = pg_toupper((unsigned char) reason[0]);
	return psprintf("%s.%s%s", reason, detail[0] ? " " : "", detail);
}

/* Of failures for one reason; the end of the run counts them all. */
#define MAX_FAILED_LINES 3

/* How often it has been told; NULL: not yet, as many other texts. */
static hopper_told *
find_told(hopper_training *training, const char *text)
{
	ListCell   *cell;
	hopper_told *told;
	MemoryContext caller;

	foreach(cell, training->told)
	{
		told = lfirst(cell);
		if (strcmp(told->text, text) == 0)
			return told;
	}
	if (list_length(training->told) >= 100)
		return NULL;
	/* As long as the run. */
	caller = MemoryContextSwitchTo(GetMemoryChunkContext(training->failed));
	told = palloc0(sizeof(hopper_told));
	told->text = pstrdup(text);
	training->told = lappend(training->told, told);
	MemoryContextSwitchTo(caller);
	return told;
}

/* How many configurations have failed for this one's reason, with it. */
static int
count_failure(hopper_training *training, const char *reason)
{
	hopper_told *told = find_told(training, reason);

	/* Reasons with numbers in them may be many: the rest counts as one. */
	return ++(told ? told : (hopper_told *) linitial(training->told))->n;
}

/* What is true of several models, of states of another numerics class, is told once. */
static void
tell_warning(hopper_training *training, const hopper_event *event)
{
	char	   *message = pstrdup(hopper_from_utf8(event->message));
	char	   *detail = pstrdup(hopper_from_utf8(event->detail));
	hopper_told *told = find_told(training, psprintf("%s %s", message, detail));

	if (told && told->n++ > 0)
		return;
	ereport(WARNING, errmsg("%s \"%s\": %s", training->function, training->shown, message),
			detail[0] ? errdetail("%s", detail) : 0,
			event->hint[0] ? errhint("%s", hopper_from_utf8(event->hint)) : 0);
}

static void
tell_failed(hopper_training *training, const hopper_event *event)
{
	char	   *reason = hopper_short_reason(event->message, event->reason_size);
	int			n = count_failure(training, reason);

	if (n == MAX_FAILED_LINES + 1)
		ereport(WARNING, errmsg("%s \"%s\": more configurations fail for this reason: %s",
								training->function, training->shown, reason),
				errhint("They are not told one by one; the end of the run says how many they "
						"are."));
	if (n > MAX_FAILED_LINES)
		return;
	ereport(WARNING,
			errmsg("%s \"%s\": configuration %d failed%s", training->function, training->shown,
				   event->mst_key,
				   event->iteration > 0
				   ? psprintf(" after %s",
							  hopper_plural(event->iteration, "iteration", "iterations")) : ""),
			errdetail("%s", failure_sentences(event)),
			errhint("%s", event->hint[0] ? hopper_from_utf8(event->hint)
					: "The configuration is recorded as failed and the run goes on."));
}

static void
tell_stopped(hopper_training *training, int at, const hopper_event *event)
{
	if (training->stopped[at])
		return;
	training->stopped[at] = true;
	if (++training->n_stopped > MAX_STOPPED_LINES)
		return;
	ereport(NOTICE, errmsg("%s \"%s\": configuration %d stopped after %s, %s", training->function,
						   training->shown, event->mst_key,
						   hopper_plural(event->iteration, "iteration", "iterations"),
						   hopper_from_utf8(event->message)));
}

bool
hopper_progress_take(hopper_training *training, int at, const hopper_event *event)
{
	switch (event->type)
	{
		case HOPPER_EVENT_METRICS:
			hopper_history_record(training->histories[at], event);
			return true;
		case HOPPER_EVENT_MODEL_FAILED:
			if (training->failed[at])
				return true;
			training->failed[at] = true;
			training->n_failed++;
			tell_failed(training, event);
			return true;
		case HOPPER_EVENT_MODEL_STOPPED:
			tell_stopped(training, at, event);
			return true;
		case HOPPER_EVENT_WARNING:
			tell_warning(training, event);
			return true;
		default:
			return false;
	}
}

void
hopper_progress_finished(const hopper_training *training, int32 best_mst_key,
						 const char *best_metric, double best_value)
{
	char	   *failed = "";
	char	   *stopped = "";
	int			last_iteration = 0;

	for (int i = 0; i < training->n_configs; i++)
		last_iteration = Max(last_iteration, training->results[i].iterations);
	if (training->n_failed > 0)
		failed = psprintf(", %d of %d failed", training->n_failed, training->n_configs);
	if (training->n_stopped > 0)
		stopped = psprintf(", %d of %d stopped early", training->n_stopped, training->n_configs);
	ereport(NOTICE,
			errmsg("%s \"%s\" finished: %s, %s, %s%s%s", training->function, training->shown,
				   best_metric
				   ? psprintf("best configuration %d, %s %.4f", best_mst_key, best_metric,
							  best_value)
				   : "configurations that cannot be compared, none is the best",
				   hopper_plural(last_iteration, "iteration", "iterations"),
				   hopper_duration_words(training->info.seconds_wall), stopped, failed),
			errhint("Compare the configurations with: SELECT * FROM hopper.leaderboard(%s);",
					hopper_literal(training->quoted)));
}
