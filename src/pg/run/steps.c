/*
 * steps.c
 *		The steps of a run: what has come is written, what others wish is looked up, and the run
 *		ends.
 */
#include "pg/run/driver_state.h"

#include "storage/lmgr.h"

#include "pg/run/lease.h"
#include "pg/server/own_tables.h"
#include "pg/server/watch.h"

/* Checkpoints take at most one part in so many of the time. */
#define LEAST_SHARE 33
/* How often the wish of others is looked up. */
#define SECONDS_BETWEEN_LOOKS 1.0
/* Tables of checkpoints are made small once they are so many times their contents, and more. */
#define MOST_GROWTH 3
#define GROWTH_BYTES (16 * 1024 * 1024)

/* --- steps --- */

static double
checkpoint_interval(void)
{
	/* Halves of the time that is left: of a procedure that is ended the last one alone is lost. */
	return Max(Min(hopper_checkpoint_interval, hopper_seconds_to_timeout() / 2),
			   LEAST_SHARE * hopper_driven->cost);
}

void
hopper_driver_wait(double seconds)
{
	double		looks;
	double		checkpoint;

	looks = SECONDS_BETWEEN_LOOKS - hopper_seconds_since(hopper_driven->looked);
	checkpoint = checkpoint_interval() - hopper_seconds_since(hopper_driven->last_checkpoint);

	seconds = Min(seconds, Min(looks, checkpoint));
	if (!hopper_driven->finished)
		hopper_backend.training->wait(&hopper_driven->fit->training,
									  Max((long) (seconds * 1000), 0));
}

static void
ask_for_checkpoints(bool all)
{
	hopper_backend.training->halt(&hopper_driven->fit->training, all);
	hopper_driven->last_checkpoint = GetCurrentTimestamp();
}

void
hopper_driver_halt(void)
{
	if (hopper_driven->fit == NULL || hopper_driven->halts_now)
		return;
	hopper_driven->halts = hopper_driven->halts_now = true;
	ask_for_checkpoints(true);
}

bool
hopper_driver_has_halted(void)
{
	const hopper_training *training;
	int			n_halted = 0;

	if (hopper_driven == NULL || hopper_driven->fit == NULL)
		return true;
	training = &hopper_driven->fit->training;
	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_saved *saved = &training->saved[i];

		if (!saved->halted && !saved->written && !training->failed[i])
			return false;
		n_halted += saved->halted;
	}
	/* Where all have ended the run is about to; a search begins others when it goes on. */
	return n_halted > 0 || (hopper_driven->pool && !hopper_driven->pool->closed);
}

/* Whether a trial is to stop where it halts. */
static bool
heed_wishes(hopper_pool *pool)
{
	bool		stops = !pool->closed && hopper_search_steer(pool->run);

	if (stops)
		hopper_pool_tell_resting(pool);
	return stops;
}

/* What others wish of a search's trials takes effect where each of them halts. */
static void
steer_search(void)
{
	if (heed_wishes(hopper_driven->pool))
		ask_for_checkpoints(true);
}

/* Trials that have halted, and that nobody has let go on yet. */
static void
steer_halted(void)
{
	hopper_training *training = &hopper_driven->fit->training;

	hopper_connect();
	if (heed_wishes(hopper_driven->pool))
		for (int i = 0; i < training->n_configs; i++)
			if (training->saved[i].halted)
				hopper_pool_steer(hopper_driven->pool, i, training->saved[i].stored);
	hopper_finish();
}

void
hopper_driver_go_on(bool halts)
{
	hopper_restricted before;

	/* The session may have another role by now. */
	hopper_driver_require_role(&hopper_driven->row);
	if (hopper_driven->fit == NULL)
		return;
	before = hopper_restrict(hopper_driven->row.role);
	hopper_driven->halts = halts;
	hopper_driven->halts_now = false;
	if (hopper_driven->pool)
		steer_halted();
	if (hopper_driven->fit->training.run)
		hopper_training_halt_each(&hopper_driven->fit->training, halts);
	for (int i = 0; i < hopper_driven->fit->training.n_configs; i++)
	{
		hopper_saved *saved = &hopper_driven->fit->training.saved[i];

		if (saved->halted)
			hopper_backend.training->release(&hopper_driven->fit->training, i);
		saved->halted = false;
	}
	hopper_unrestrict(&before);
}

/* In iterations of this run. */
static int32
longest_trial(void)
{
	hopper_own_select("SELECT coalesce(max(iterations - earlier), 0) FROM @extschema@.all_trials"
					  " WHERE run = " INT64_FORMAT, hopper_driven->run);
	return (int32) hopper_int_cell(NULL, 0, 1, 0, PG_INT32_MAX);
}

/* What looks the run up finds its models, also where somebody else has a table of their name. */
static void
store_place(const hopper_name *models)
{
	const hopper_run_row *row = &hopper_driven->row;
	const char *shown = strcmp(models->quoted, row->tables) == 0 ? hopper_name_itself(models).shown
		: NULL;

	hopper_store_set_tables(hopper_driven->run, models->quoted, shown);
	if (shown)
		hopper_store_event(hopper_driven->run, "not published", 0,
						   psprintf("\"%s\" is there already, the models are in \"%s\"",
									row->model_table, shown));
}

/* The best of a search is by its first objective. */
static void
finish_search(void)
{
	hopper_automl *search = hopper_driven->pool->run;
	hopper_run_record *record = &hopper_driven->fit->record;
	hopper_search_result found;

	hopper_search_conclude(search, &found);
	record->best.mst_key = hopper_key_of_trial(found.best);
	record->best.metric = (char *) hopper_search_objective(search);
	record->best.value = found.value;
	hopper_search_refuse_wishes(search);
	store_place(&search->tables.output);
}

static void
finish_fit(void)
{
	const hopper_best *best = &hopper_driven->fit->record.best;

	hopper_progress_finished(&hopper_driven->fit->training, best->mst_key, best->metric,
							 best->value);
	store_place(&hopper_driven->fit->outputs.model);
}

static void
tell_checkpoint(void)
{
	hopper_store_checkpoint(hopper_driven->run, hopper_driven->untold);
	hopper_driven->untold = 0;
}

/*
 * On segments the training ends with the transaction. What the slice has come to is written now, in
 * the tables that others write to as well.
 */
static void
end_slice(void)
{
	hopper_training *training = &hopper_driven->fit->training;

	if (!HOPPER_DATA_ON_SEGMENTS)
		return;
	hopper_backend.training->leave(training);
	hopper_store_started(hopper_driven->run, false, hopper_driven->opening);
	hopper_driver_write_due(training);
	if (hopper_driven->untold > 0)
		tell_checkpoint();
}

static bool
has_result(void)
{
	const hopper_pool *pool = hopper_driven->pool;

	return pool ? hopper_search_best(pool->run) >= 0 : hopper_store_has_result(hopper_driven->run);
}

/* ERROR 22000 */
static void
refuse_without_result(void *nothing)
{
	if (hopper_driven->pool)
		hopper_search_refuse_without_best(hopper_driven->pool->run);
	hopper_refuse_all_failed(&hopper_driven->fit->training);
}

/*
 * What else belongs to the run is done with its models: threads and data are given back before. It
 * may go on with others, or have no models any more.
 */
static void
close_run(void)
{
	const hopper_fit *fit = hopper_driven->fit;
	const hopper_name *models = hopper_driven->pool ? &hopper_driven->pool->run->tables.output
		: &fit->outputs.model;

	if (hopper_driven->row.closing)
	{
		hopper_guard_release_scope(hopper_driven->scope);
		hopper_driver_close_models(models->quoted);
	}
	if (hopper_driven->goes_on)
		return;
	if (!OidIsValid(hopper_relation_oid(models, true)))
	{
		hopper_store_set_tables(hopper_driven->run, NULL, NULL);
		fit = NULL;
	}
	hopper_store_ended(hopper_driven->run, "done", fit, NULL);
}

/*
 * No trial has a result. The error would take back what this transaction has written: why trials
 * failed stays.
 */
static hopper_driver_state
fail(void)
{
	ErrorData  *error;

	if (!HOPPER_DATA_ON_SEGMENTS)
	{
		if (!hopper_driven->uncommitted)
			refuse_without_result(NULL);
		hopper_driven->refuses = true;
		return HOPPER_DRIVER_TRAINS;
	}
	/* The training has ended with this step, in which no other one could say it. */
	error = hopper_look(refuse_without_result, NULL);
	hopper_store_ended(hopper_driven->run, "failed", NULL, error);
	ereport(WARNING, errmsg("%s", error->message),
			error->detail ? errdetail("%s", error->detail) : 0,
			errhint("hopper.resume(" INT64_FORMAT ") has it tried again.", hopper_driven->run));
	return HOPPER_DRIVER_FAILED;
}

/*
 * The end of all models: what has failed is written down, and the tables get their names; or the
 * run has failed, which the next step says.
 */
static hopper_driver_state
finish(void)
{
	hopper_fit *fit = hopper_driven->fit;
	hopper_training *training = &fit->training;
	hopper_driver_state state = HOPPER_DRIVER_DONE;

	fit->level = NewGUCNestLevel();
	hopper_disable_jit();
	if (training->run)
		training->api->get_info(training->run, &training->info);
	for (int i = 0; i < training->n_configs; i++)
		if (!training->saved[i].written)
			hopper_driver_note_ended(training, i, true);
	hopper_driver_write(training);
	end_slice();
	training->n_failed = 0;
	for (int i = 0; i < training->n_configs; i++)
		training->n_failed += training->results[i].status == HOPPER_MODEL_FAILED;
	if (!has_result())
		state = fail();
	else
	{
		fit->record.num_iterations = Max(fit->record.num_iterations, longest_trial());
		hopper_fit_finish(fit);
		if (hopper_driven->pool)
			finish_search();
		else
			finish_fit();
		close_run();
		if (hopper_driven->goes_on)
			state = HOPPER_DRIVER_TRAINS;
	}
	AtEOXact_GUC(true, fit->level);
	return state;
}

bool
hopper_driver_refuses(void)
{
	return hopper_driven != NULL && hopper_driven->refuses;
}

/* Whether this opening of the run trains it, and has not written its end. */
static bool
is_training(int32 trial, bool *is_here)
{
	const hopper_training *training = &hopper_driven->fit->training;
	int			at = trial > 0 ? hopper_training_place(training, trial) : -1;

	*is_here = at >= 0;
	return *is_here && !training->saved[at].written;
}

/* Trials that are not trained here are trained by another opening, or have nothing to stop. */
static void
take_wants(const hopper_steering *now)
{
	bool		is_here;

	for (int i = hopper_driven->steering.n; i < now->n; i++)
		if (now->wants[i].iterations != 0 && !is_training(now->wants[i].trial, &is_here))
			hopper_driven->reopens = true;
	for (int i = hopper_driven->steering.n; i < now->n; i++)
		if (now->wants[i].iterations == 0 && !is_training(now->wants[i].trial, &is_here) &&
			(is_here || !hopper_driven->reopens))
			hopper_store_event(hopper_driven->run, "steered", now->wants[i].trial,
							   HOPPER_TOO_LATE);
	hopper_driven->steering = *now;
}

/* What others want of trials since the last look takes effect when they have halted. */
static void
look_for_wants(void)
{
	hopper_steering now;
	MemoryContext caller;

	if (hopper_driven->pool)
	{
		steer_search();
		return;
	}
	caller = MemoryContextSwitchTo(hopper_driven->context);
	hopper_request_context = hopper_driven->context;
	hopper_steering_read(hopper_driven->run, &now);
	hopper_request_context = NULL;
	MemoryContextSwitchTo(caller);
	if (now.n == hopper_driven->steering.n)
		return;
	take_wants(&now);
	if (hopper_driven->finished)
		return;
	if (hopper_driven->reopens)
		hopper_driver_halt();
	else
		ask_for_checkpoints(true);
}

/* Whether another opening of the run goes on with what is in the tables. */
static bool
is_to_open_again(void)
{
	/* A search has trials that did not fit beside the others. */
	if (hopper_driven->finished)
		return hopper_driven->reopens || (hopper_driven->pool && hopper_driven->pool->n_left > 0);
	return hopper_driven->reopens && hopper_driver_has_halted();
}

static hopper_driver_state
cancel(void)
{
	end_slice();
	hopper_run_cancel(&hopper_driven->row);
	return HOPPER_DRIVER_CANCELLED;
}

static hopper_driver_state
look_for_wishes(void)
{
	hopper_driven->looked = GetCurrentTimestamp();
	switch (hopper_store_wish(hopper_driven->run))
	{
		case HOPPER_WISH_CANCEL:
			return cancel();
		case HOPPER_WISH_PAUSE:
			hopper_driver_halt();
			if (!hopper_driver_has_halted())
				return HOPPER_DRIVER_TRAINS;
			hopper_wishes_close(hopper_driven->run);
			if (hopper_store_wish(hopper_driven->run) == HOPPER_WISH_CANCEL)
				return cancel();
			end_slice();
			hopper_store_event(hopper_driven->run, "paused", 0, NULL);
			return HOPPER_DRIVER_PAUSED;
		default:
			return HOPPER_DRIVER_TRAINS;
	}
}

/* --- the size of the tables --- */

static int64
size_of_tables(void)
{
	const hopper_outputs *made = &hopper_driven->fit->staging;

	return hopper_number(NULL, hopper_select(
		"SELECT pg_total_relation_size(%u) + pg_total_relation_size(%u)"
		" + pg_total_relation_size(%u)", hopper_relation_oid(&made->state, false),
		hopper_relation_oid(&made->info, false), hopper_relation_oid(&made->model, false)));
}

/* Rows that a snapshot of another session keeps were there the last time, too. */
bool
hopper_driver_has_grown(void)
{
	const hopper_training *training = &hopper_driven->fit->training;
	int64		contents = 0;

	for (int i = 0; i < training->n_configs && training->results; i++)
		contents += 2 * Max(training->results[i].state_size, training->configs[i].state_size);
	return size_of_tables() > MOST_GROWTH * Max(contents, hopper_driven->compacted) + GROWTH_BYTES;
}

/* --- a step --- */

static void
go_on(void)
{
	if (hopper_driven->halts_now)
		hopper_watch_end();
	else if (hopper_driven->pool == NULL)
	{
		hopper_guard_enter(hopper_driven->scope);
		hopper_progress_line(&hopper_driven->progress, &hopper_driven->fit->training);
		hopper_guard_leave();
	}
	else
	{
		MemoryContext caller = MemoryContextSwitchTo(hopper_driven->context);

		hopper_request_context = hopper_driven->context;
		hopper_guard_enter(hopper_driven->scope);
		hopper_pool_go_on(hopper_driven->pool);
		hopper_guard_leave();
		for (int *seen = &hopper_driven->n_seen; *seen < hopper_driven->fit->training.n_configs;
			 (*seen)++)
			hopper_driver_note_seen(&hopper_driven->fit->training, *seen);
		hopper_request_context = NULL;
		MemoryContextSwitchTo(caller);
	}
}

static hopper_driver_state
step(void)
{
	hopper_driver_state state = HOPPER_DRIVER_TRAINS;

	hopper_driven->spent = 0;
	hopper_driven->n_written = 0;
	hopper_driven->level = GetCurrentTransactionNestLevel();
	hopper_connect();
	hopper_driven->finished = hopper_driven->finished ||
		hopper_backend.training->step(&hopper_driven->fit->training, 0);
	if (hopper_driven->spent > 0)
	{
		hopper_driven->cost = hopper_driven->spent;
		hopper_driven->untold += hopper_driven->spent;
		if (!HOPPER_DATA_ON_SEGMENTS)
			tell_checkpoint();
	}
	if (hopper_driven->finished)
	{
		/* Shown while it waits for wishes, though a statement has emptied the slot meanwhile. */
		hopper_watch_end();
		hopper_guard_enter(hopper_driven->scope);
		hopper_progress_watch(hopper_driven->pool ? &hopper_driven->pool->progress
							  : &hopper_driven->progress, &hopper_driven->fit->training);
		hopper_guard_leave();
		hopper_wishes_close(hopper_driven->run);
	}
	if (hopper_driven->finished ||
		hopper_seconds_since(hopper_driven->looked) >= SECONDS_BETWEEN_LOOKS)
		look_for_wants();
	if (is_to_open_again())
	{
		end_slice();
		hopper_driven->goes_on = true;
	}
	else if (hopper_driven->finished &&
			 hopper_store_wish(hopper_driven->run) == HOPPER_WISH_CANCEL)
		state = cancel();
	else if (hopper_driven->finished)
		state = finish();
	else
	{
		go_on();
		if (hopper_seconds_since(hopper_driven->looked) >= SECONDS_BETWEEN_LOOKS)
			state = look_for_wishes();
	}
	if (hopper_driven->goes_on)
	{
		hopper_finish();
		hopper_driver_close();
		return state;
	}
	hopper_driven->has_grown = state == HOPPER_DRIVER_TRAINS && hopper_driven->n_written > 0 &&
		hopper_driver_has_grown();
	hopper_finish();
	if (state != HOPPER_DRIVER_TRAINS)
		hopper_driver_close();
	else if (!hopper_driven->finished &&
			 hopper_seconds_since(hopper_driven->last_checkpoint) >= checkpoint_interval())
		ask_for_checkpoints(false);
	return state;
}

hopper_driver_state
hopper_driver_step(void)
{
	hopper_restricted before = hopper_restrict(hopper_driven->row.role);
	hopper_driver_state state = step();

	hopper_unrestrict(&before);
	return state;
}

/*
 * Readers of a table, such as a dump, are not waited for: others would wait behind the run, and
 * workers of a parallel dump give up then. The next checkpoint tries again.
 */
static void
compact(void)
{
	const hopper_outputs *made = &hopper_driven->fit->staging;
	const hopper_name *tables[] = {&made->state, &made->info, &made->model};
	bool		all = true;

	hopper_driven->has_grown = false;
	hopper_connect();
	for (int i = 0; i < lengthof(tables); i++)
	{
		if (ConditionalLockRelationOid(hopper_relation_oid(tables[i], false), AccessExclusiveLock))
			hopper_exec("CLUSTER %s USING %s", tables[i]->quoted,
						hopper_identifier(psprintf("%s_pkey", tables[i]->name)));
		else
			all = false;
	}
	if (all)
		hopper_driven->compacted = size_of_tables();
	hopper_finish();
}

bool
hopper_driver_compact(void)
{
	if (hopper_driven == NULL || !hopper_driven->has_grown)
		return false;
	compact();
	return true;
}

void
hopper_driver_end_transaction(void)
{
	hopper_restricted before;

	if (hopper_driven == NULL)
		return;
	if (!HOPPER_DATA_ON_SEGMENTS)
	{
		hopper_driver_rest();
		return;
	}
	before = hopper_restrict(hopper_driven->row.role);
	hopper_connect();
	end_slice();
	hopper_driven->has_grown = hopper_driver_has_grown();
	hopper_finish();
	(void) hopper_driver_compact();
	hopper_driver_close();
	hopper_unrestrict(&before);
}
