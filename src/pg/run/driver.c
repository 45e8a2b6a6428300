/*
 * driver.c
 *		A run in the session that drives it.
 */
#include "pg/run/driver.h"

#include "access/xact.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "pg/run/call.h"
#include "pg/run/lease.h"
#include "pg/run/steer.h"
#include "pg/search/pool.h"
#include "pg/server/watch.h"
#include "pg/server/words.h"
#include "pg/train/results.h"
#include "pg/train/run.h"

/* Checkpoints take at most one part in so many of the time. */
#define LEAST_SHARE 33
/* How often the wish of others is looked up. */
#define SECONDS_BETWEEN_LOOKS 1.0
/* Tables of checkpoints are made small once they are so many times their contents, and more. */
#define MOST_GROWTH 3
#define GROWTH_BYTES (16 * 1024 * 1024)

typedef struct hopper_driver
{
	hopper_fit_taker taker;		/* while the statement of the run is executed */
	int64		run;
	bool		creates;
	hopper_run_row row;
	hopper_guard_scope *scope;	/* of what it holds beyond transactions */
	MemoryContext context;
	hopper_fit *fit;
	hopper_pool *pool;			/* of a search, whose fit this is; or NULL */
	hopper_progress progress;
	bool		steps;			/* a step goes on */
	bool		finished;		/* the core has nothing to train any more */
	hopper_steering steering;	/* what holds now */
	bool		reopens;		/* it is opened again, for trials that are not in it */
	TimestampTz looked;			/* for wishes */
	TimestampTz last_checkpoint;	/* when the latest one was asked for */
	double		cost;			/* seconds that the latest one took */
	double		spent;			/* seconds within this step that wrote checkpoints */
	int			n_written;		/* checkpoints in this step */
	bool		has_grown;		/* the table of states, by dead rows */
	int			n_seen;			/* trials of a search that have their rows */
	bool		halts;			/* who halts does not go on before the next step */
	int			level;			/* of transactions in which something was written last */
} hopper_driver;

/* This session's, or NULL. */
static hopper_driver *driver = NULL;

bool
hopper_driver_has(int64 run)
{
	return driver != NULL && !driver->creates && driver->run == run;
}

void
hopper_driver_abandon(void)
{
	hopper_driver *ended = driver;

	if (ended == NULL)
		return;
	driver = NULL;
	hopper_taker_of_fits = NULL;
	hopper_request_context = NULL;
	if (ended->scope)
		hopper_guard_release_scope(ended->scope);
	if (!ended->creates)
		hopper_lease_give_back(ended->run, true);
	MemoryContextDelete(ended->context);
}

void
hopper_driver_leave(void)
{
	/* Others' functions, of triggers say, may be called by a step. */
	if (driver && (driver->creates || driver->steps || !driver->halts))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("this session drives run " INT64_FORMAT " at this moment", driver->run),
				 errhint("hopper.submit() trains in the background.")));
	hopper_driver_abandon();
}

/* What the core has given away was not written. */
static void
transaction_ends(XactEvent event, void *nothing)
{
	if (event == XACT_EVENT_ABORT)
		hopper_driver_abandon();
	else if (driver)
		driver->level = 0;
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId own, SubTransactionId parent,
					void *nothing)
{
	/* Deeper ones are attempts within a step. */
	if (event == SUBXACT_EVENT_ABORT_SUB && driver &&
		GetCurrentTransactionNestLevel() <= driver->level)
		hopper_driver_abandon();
}

static void
new_driver(int64 run, bool creates)
{
	static bool registered = false;
	MemoryContext context;

	hopper_driver_leave();
	if (!registered)
	{
		RegisterXactCallback(transaction_ends, NULL);
		RegisterSubXactCallback(subtransaction_ends, NULL);
		registered = true;
	}
	context = AllocSetContextCreate(TopMemoryContext, "hopper driver", ALLOCSET_DEFAULT_SIZES);
	driver = MemoryContextAllocZero(context, sizeof(hopper_driver));
	driver->context = driver->taker.context = context;
	driver->run = run;
	driver->creates = creates;
	driver->level = GetCurrentTransactionNestLevel();
}

/* The statement is executed: fit() hands over what it asks for. */
static void
execute(const char *statement)
{
	int			rc;

	hopper_taker_of_fits = &driver->taker;
	rc = SPI_execute(statement, false, 0);
	hopper_taker_of_fits = NULL;
	hopper_request_context = NULL;
	if (rc < 0)
		elog(ERROR, "the statement of a run failed: %s", SPI_result_code_string(rc));
	if (driver->creates ? driver->run == 0 : driver->fit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the statement trains nothing"),
				 errhint("It has to call hopper.fit(), hopper.fit_multiple_model() or "
						 "hopper.automl().")));
}

/* --- a new run --- */

static void
refuse_undurable(const hopper_fit *fit)
{
	const char *what = NULL;

	if (HOPPER_DATA_ON_SEGMENTS)
		what = "training on segments";
	else if (fit->warm_start)
		what = "a warm start";
	else if (fit->keeps_others)
		what = "training of some mst_keys";
	if (what)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot be a run of its own yet", what),
				 errhint("Call the function in the foreground.")));
}

/* The tables of a new run, and all that can be wrong; what is trained in them. */
static hopper_fit *
prepare_fit(hopper_fit *fit)
{
	hopper_name own = hopper_name_of_run(&fit->output, driver->run, "");

	refuse_undurable(fit);
	fit->durable = true;
	hopper_require_absent(&own);
	fit->made = hopper_outputs_named(&own);
	hopper_show_as(&fit->made.model, &fit->output);
	hopper_fit_prepare(fit);
	return fit;
}

static hopper_fit *
prepare_search(hopper_automl *search)
{
	hopper_search_assignment *work;
	hopper_pool *pool;
	int			n;

	refuse_undurable(&(hopper_fit) {0});
	hopper_search_create_tables(&search->tables, &search->models, search->replace, driver->run);
	hopper_search_rehearse(search);
	pool = hopper_pool_prepare(search, &work, &n);
	if (n == 0)
		hopper_search_refuse_without_best(search);
	return &pool->fit;
}

static void
take_new(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit, hopper_automl *search)
{
	hopper_run_row *row = &driver->row;

	if (driver->run > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the statement trains more than once"),
				 errhint("Create a run of each call.")));
	driver->run = row->run = hopper_store_next();
	row->statement = hopper_call_text(fcinfo);
	row->search_path = (char *) hopper_setting("search_path");
	row->settings = hopper_settings_text();
	fit = search ? prepare_search(search) : prepare_fit(fit);
	fit->record.ended = fit->record.started;
	hopper_outputs_write_summary(&fit->made, &fit->training, &fit->record);
	AtEOXact_GUC(true, fit->level);
	row->function = (char *) fit->function;
	row->tables = fit->made.model.quoted;
	row->selection = search ? search->tables.selection.quoted
		: fit->has_selection ? fit->selection.quoted : NULL;
	row->model_table = search ? search->tables.final_output.shown : fit->output.shown;
	hopper_store_create(row, fit);
	fit->training.results = NULL;
	for (int i = 0; i < fit->n_configs; i++)
		hopper_store_trials(driver->run, &fit->training, &i, 1);
}

int64
hopper_driver_create(const char *statement)
{
	int64		run;

	hopper_require_one_select(statement);
	new_driver(0, true);
	driver->taker.take = take_new;
	execute(statement);
	run = driver->run;
	hopper_driver_abandon();
	return run;
}

/* --- training --- */

static void
note_cost(instr_time start)
{
	instr_time	end;

	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	driver->spent += INSTR_TIME_GET_DOUBLE(end);
}

/* hopper_fit.target */
static int32
target_of(const hopper_fit *fit, int32 trial)
{
	return hopper_steering_target(&driver->steering, trial, fit->options.num_iterations);
}

/* One that has halted trains to what others want now. */
static void
steer(hopper_training *training, int at, int32 iteration)
{
	int32		trial = training->configs[at].mst_key;
	int32		target = target_of(driver->fit, trial);
	hopper_error error;

	if (driver->pool || training->durable[at].target == target)
		return;
	HOPPER_CHECK(hopper_torch()->run.set_iterations(training->run, trial,
													Max(target - iteration, 1), &error), error);
	training->durable[at].target = target;
	hopper_store_event(driver->run, "steered", trial,
					   psprintf("after iteration %d, to iteration %d", iteration,
								Max(target, iteration + 1)));
}

/* hopper_training.checkpoint */
static bool
write_checkpoint(hopper_training *training, int at, int32 iteration)
{
	instr_time	start;

	if (iteration > training->durable[at].stored)
	{
		INSTR_TIME_SET_CURRENT(start);
		hopper_outputs_write_checkpoint(&driver->fit->made, training, at);
		training->durable[at].stored = iteration;
		hopper_store_trials(driver->run, training, &at, 1);
		driver->n_written++;
		note_cost(start);
	}
	steer(training, at, iteration);
	training->durable[at].halted = driver->halts;
	return !driver->halts;
}

/* hopper_training.ended */
static void
write_ended(hopper_training *training, int at, bool failed)
{
	instr_time	start;

	if (training->durable[at].written)
		return;
	INSTR_TIME_SET_CURRENT(start);
	hopper_outputs_write_ended(&driver->fit->made, training, at);
	/* Values that a checkpoint took while weights moved may have been evaluated since then. */
	if (training->durable[at].stored_until > 0)
		hopper_store_forget(driver->run, training->configs[at].mst_key, 0);
	training->durable[at].stored_until = 0;
	hopper_store_trials(driver->run, training, &at, 1);
	driver->n_written++;
	note_cost(start);
	if (driver->pool)
		hopper_pool_ended(driver->pool, at);
}

static void
require_same_data(const hopper_fit *fit)
{
	if (strcmp(driver->row.data, psprintf("%s %s", fit->train.checksum, fit->has_validation
										  ? fit->valid.checksum : "")) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the data of run " INT64_FORMAT " have changed since it was created",
					driver->run),
			 errdetail("\"%s\"%s%s has another checksum.", fit->source.shown,
					   fit->has_validation ? " or its validation table " : "",
					   fit->has_validation ? fit->validation.shown : ""),
			 errhint("Create another run.")));
}

/* The training of fit(), from its tables. */
static void
resume_fit(hopper_fit *fit)
{
	hopper_name own = hopper_parse_name(cstring_to_text(driver->row.tables), "tables");

	fit->durable = true;
	fit->target = target_of;
	hopper_steering_read(driver->run, &driver->steering);
	fit->made = hopper_outputs_named(&own);
	hopper_store_require_same(driver->run, fit);
	hopper_show_as(&fit->made.model, &fit->output);
	fit->training.number = driver->run;
	hopper_fit_resume(fit);
	driver->fit = fit;
}

/* What a search has under way, from its journal and its tables. */
static void
resume_search(hopper_automl *search, hopper_search_assignment **work, int *n)
{
	search->number = driver->run;
	hopper_search_use_tables(&search->tables, search->replace, driver->run);
	driver->pool = hopper_pool_resume(search, work, n);
	driver->fit = &driver->pool->fit;
}

static void
start_fit(hopper_training *training)
{
	hopper_training_start(training);
	for (int i = 0; i < training->n_configs; i++)
	{
		int32		done = training->durable[i].stored;
		int32		target = target_of(driver->fit, training->configs[i].mst_key);
		int32		left = target - done;

		training->durable[i].target = target;
		/* One that had no iteration left when its last checkpoint was written has ended. */
		hopper_training_go_on(training, i, Max(left, 1), done, false);
	}
	hopper_training_close(training);
	hopper_progress_start(&driver->progress, training);
}

static void
take_opened(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit,
			hopper_automl *search)
{
	hopper_training *training;
	hopper_search_assignment *work;
	int			n;

	if (driver->fit)
		elog(ERROR, "the statement of a run trains more than once");
	if (CurrentMemoryContext != driver->context)
		elog(ERROR, "a request of a run is in %s", CurrentMemoryContext->name);
	if (search)
		resume_search(search, &work, &n);
	else
		resume_fit(fit);
	fit = driver->fit;
	require_same_data(fit);
	training = &fit->training;
	training->number = driver->run;
	training->ended = write_ended;
	training->checkpoint = write_checkpoint;
	/* Of a search others enter, and are ranked by its own rules. */
	training->costs = search ? NULL : hopper_training_costs(training);
	hopper_progress_begin(&driver->progress);
	if (fit->n_configs == 0)
	{
		/* The last session has written all models, and ended before the run did. */
		hopper_training_allocate(training);
		training->timeline = hopper_timeline_new(training);
		driver->finished = true;
	}
	else if (search)
		hopper_pool_start(driver->pool, work, n);
	else
		start_fit(training);
	AtEOXact_GUC(true, fit->level);
}

/* Whether dead rows of checkpoints take most of the tables that they are written to. */
static bool
has_grown(void)
{
	const hopper_training *training = &driver->fit->training;
	const hopper_outputs *made = &driver->fit->made;
	int64		contents = 0;
	int64		size;

	for (int i = 0; i < training->n_configs && training->results; i++)
		contents += 2 * Max(training->results[i].state_size, training->configs[i].state_size);
	hopper_select("SELECT pg_total_relation_size(%u) + pg_total_relation_size(%u)"
				  " + pg_total_relation_size(%u)", hopper_relation_oid(&made->state, false),
				  hopper_relation_oid(&made->info, false),
				  hopper_relation_oid(&made->model, false));
	size = hopper_int_cell(NULL, 0, 1, 0, PG_INT64_MAX);
	SPI_freetuptable(SPI_tuptable);
	return size > MOST_GROWTH * contents + GROWTH_BYTES;
}

static void
require_drivable(const hopper_run_row *row)
{
	if (row->role != GetUserId())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("run " INT64_FORMAT " belongs to role \"%s\"", row->run,
						hopper_role_name(row->role)),
				 errdetail("A run reads its data with the rights of its role."),
				 errhint("SET ROLE %s; or let hopper.resume() train it in the background.",
						 hopper_identifier(hopper_role_name(row->role)))));
	if (row->outcome && strcmp(row->outcome, "failed") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " is %s", row->run, row->outcome)));
}

void
hopper_driver_open(int64 run)
{
	MemoryContext caller;
	int			level;

	hopper_store_read(run, false, &(hopper_run_row) {0});
	/* Before others see that it is running: what they wish then is newer. */
	if (MyBgworkerEntry == NULL && hopper_store_wish(run) != HOPPER_WISH_RUN)
		hopper_store_event(run, "resumed", 0, NULL);
	new_driver(run, true);
	hopper_lease_take(run);
	driver->creates = false;
	caller = CurrentMemoryContext;
	hopper_request_context = driver->context;
	hopper_store_read(run, true, &driver->row);
	hopper_request_context = NULL;
	MemoryContextSwitchTo(caller);
	require_drivable(&driver->row);
	if (driver->row.statement == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " was trained in the foreground", run)));
	hopper_store_started(run, MyBgworkerEntry != NULL);
	driver->scope = MemoryContextAllocZero(driver->context, sizeof(hopper_guard_scope));
	driver->taker.take = take_opened;
	level = NewGUCNestLevel();
	/* In the foreground the session's own settings count. */
	hopper_apply_settings(driver->row.search_path, MyBgworkerEntry ? driver->row.settings : NULL);
	hopper_guard_enter(driver->scope);
	execute(driver->row.statement);
	hopper_guard_leave();
	AtEOXact_GUC(true, level);
	driver->looked = driver->last_checkpoint = GetCurrentTimestamp();
	driver->has_grown = has_grown();
}

/* --- steps --- */

static double
checkpoint_interval(void)
{
	return Max(hopper_checkpoint_interval, LEAST_SHARE * driver->cost);
}

void
hopper_driver_wait(double seconds)
{
	double		looks;
	double		checkpoint;

	looks = SECONDS_BETWEEN_LOOKS - hopper_seconds_since(driver->looked);
	checkpoint = checkpoint_interval() - hopper_seconds_since(driver->last_checkpoint);

	seconds = Min(seconds, Min(looks, checkpoint));
	if (!driver->finished)
		hopper_wait(driver->fit->training.event_fd, Max((long) (seconds * 1000), 0));
}

static void
ask_for_checkpoints(bool all)
{
	hopper_error error;

	HOPPER_CHECK(hopper_torch()->run.halt_for_checkpoints(driver->fit->training.run, all,
														  &error), error);
	driver->last_checkpoint = GetCurrentTimestamp();
}

void
hopper_driver_halt(void)
{
	if (driver->fit == NULL || driver->halts)
		return;
	driver->halts = true;
	ask_for_checkpoints(true);
}

bool
hopper_driver_has_halted(void)
{
	const hopper_training *training;
	int			n_halted = 0;

	if (driver == NULL || driver->fit == NULL)
		return true;
	training = &driver->fit->training;
	for (int i = 0; i < training->n_configs; i++)
	{
		const hopper_durable *durable = &training->durable[i];

		if (!durable->halted && !durable->written && !training->failed[i])
			return false;
		n_halted += durable->halted;
	}
	/* Where all have ended the run is about to; a search begins others when it goes on. */
	return n_halted > 0 || (driver->pool && !driver->pool->closed);
}

void
hopper_driver_go_on(void)
{
	/* The session may have another role by now. */
	require_drivable(&driver->row);
	if (driver->fit == NULL)
		return;
	driver->halts = false;
	for (int i = 0; i < driver->fit->training.n_configs; i++)
	{
		hopper_durable *durable = &driver->fit->training.durable[i];

		if (durable->halted)
			hopper_training_release(&driver->fit->training, i);
		durable->halted = false;
	}
}

/* In iterations. */
static int32
longest_trial(void)
{
	const hopper_name *info = &driver->fit->made.info;

	hopper_select("SELECT coalesce(max(iterations), 0) FROM %s", info->quoted);
	return (int32) hopper_int_cell(info, 0, 1, 0, PG_INT32_MAX);
}

/* The best of a search is by its first objective. */
static void
finish_search(void)
{
	hopper_automl *search = driver->pool->run;
	hopper_run_record *record = &driver->fit->record;
	hopper_search_result found;

	hopper_search_conclude(search, &found);
	record->best.mst_key = hopper_key_of_trial(found.best);
	record->best.metric = (char *) hopper_search_objective(search);
	record->best.value = found.value;
	hopper_store_set_tables(driver->run, search->tables.output.quoted);
}

static void
finish_fit(void)
{
	const hopper_best *best = &driver->fit->record.best;

	hopper_progress_finished(&driver->fit->training, best->mst_key, best->metric, best->value);
	hopper_store_set_tables(driver->run, driver->fit->outputs.model.quoted);
}

/* The end of all models: what has failed is written down, and the tables get their names. */
static void
finish(void)
{
	hopper_fit *fit = driver->fit;
	hopper_training *training = &fit->training;

	fit->level = NewGUCNestLevel();
	hopper_disable_jit();
	if (training->run)
		hopper_torch()->run.get_info(training->run, &training->info);
	for (int i = 0; i < training->n_configs; i++)
		if (!training->durable[i].written)
			write_ended(training, i, true);
	training->n_failed = 0;
	for (int i = 0; i < training->n_configs; i++)
		training->n_failed += training->results[i].status == HOPPER_MODEL_FAILED;
	if (!fit->keeps_others)
		hopper_refuse_all_failed(training);
	if (driver->pool && hopper_search_best(driver->pool->run) < 0)
		hopper_search_refuse_without_best(driver->pool->run);
	fit->record.num_iterations = Max(fit->record.num_iterations, longest_trial());
	hopper_fit_finish(fit);
	if (driver->pool)
		finish_search();
	else
		finish_fit();
	hopper_store_ended(driver->run, "done", fit, NULL);
	AtEOXact_GUC(true, fit->level);
}

static void
take_back(void)
{
	hopper_search_drop_tables(&driver->fit->made.model,
							  driver->pool ? &driver->pool->run->tables.selection : NULL);
	hopper_store_set_tables(driver->run, NULL);
	hopper_store_ended(driver->run, "cancelled", NULL, NULL);
}

/* Whether a want is of something that this opening of the run does not train. */
static bool
wants_others(const hopper_steering *steering)
{
	const hopper_training *training = &driver->fit->training;

	for (int i = driver->steering.n; i < steering->n; i++)
	{
		int32		trial = steering->wants[i].trial;
		int			at = trial > 0 ? hopper_training_place(training, trial) : -1;

		if (steering->wants[i].iterations != 0 && (at < 0 || training->durable[at].written))
			return true;
	}
	return false;
}

/* What others want of trials since the last look takes effect when they have halted. */
static void
look_for_wants(void)
{
	hopper_steering now;
	MemoryContext caller = MemoryContextSwitchTo(driver->context);

	hopper_request_context = driver->context;
	hopper_steering_read(driver->run, &now);
	hopper_request_context = NULL;
	MemoryContextSwitchTo(caller);
	if (driver->pool || now.n == driver->steering.n)
		return;
	driver->reopens = driver->reopens || wants_others(&now);
	driver->steering = now;
	if (driver->finished)
		return;
	if (driver->reopens)
		hopper_driver_halt();
	else
		ask_for_checkpoints(true);
}

/* Whether another opening of the run goes on with what is in the tables. */
static bool
is_to_open_again(void)
{
	/* A search has trials that did not fit beside the others. */
	if (driver->finished)
		return driver->reopens || (driver->pool && driver->pool->n_left > 0);
	return driver->reopens && hopper_driver_has_halted();
}

static hopper_driver_state
look_for_wishes(void)
{
	driver->looked = GetCurrentTimestamp();
	switch (hopper_store_wish(driver->run))
	{
		case HOPPER_WISH_CANCEL:
			take_back();
			return HOPPER_DRIVER_CANCELLED;
		case HOPPER_WISH_PAUSE:
			hopper_driver_halt();
			if (!hopper_driver_has_halted())
				return HOPPER_DRIVER_TRAINS;
			hopper_store_event(driver->run, "paused", 0, NULL);
			return HOPPER_DRIVER_PAUSED;
		default:
			return HOPPER_DRIVER_TRAINS;
	}
}

/* --- the size of the tables --- */

bool
hopper_driver_wants_compaction(void)
{
	return driver != NULL && driver->has_grown;
}

/* --- a step --- */

static void
go_on(void)
{
	if (driver->halts)
		hopper_watch_end();
	else if (driver->pool == NULL)
	{
		hopper_guard_enter(driver->scope);
		hopper_progress_line(&driver->progress, &driver->fit->training);
		hopper_guard_leave();
	}
	else
	{
		MemoryContext caller = MemoryContextSwitchTo(driver->context);

		hopper_request_context = driver->context;
		hopper_guard_enter(driver->scope);
		hopper_pool_go_on(driver->pool);
		hopper_guard_leave();
		for (; driver->n_seen < driver->fit->training.n_configs; driver->n_seen++)
			hopper_store_trials(driver->run, &driver->fit->training, &driver->n_seen, 1);
		hopper_request_context = NULL;
		MemoryContextSwitchTo(caller);
	}
}

hopper_driver_state
hopper_driver_step(void)
{
	hopper_driver_state state = HOPPER_DRIVER_TRAINS;

	driver->steps = true;
	driver->spent = 0;
	driver->n_written = 0;
	driver->level = GetCurrentTransactionNestLevel();
	hopper_connect();
	driver->finished = driver->finished || hopper_training_drain(&driver->fit->training);
	if (driver->spent > 0)
	{
		driver->cost = driver->spent;
		hopper_store_checkpoint(driver->run, driver->spent);
	}
	if (driver->finished || hopper_seconds_since(driver->looked) >= SECONDS_BETWEEN_LOOKS)
		look_for_wants();
	if (is_to_open_again())
	{
		hopper_finish();
		hopper_driver_abandon();
		return HOPPER_DRIVER_TRAINS;
	}
	if (driver->finished)
	{
		finish();
		state = HOPPER_DRIVER_DONE;
	}
	else
	{
		go_on();
		if (hopper_seconds_since(driver->looked) >= SECONDS_BETWEEN_LOOKS)
			state = look_for_wishes();
	}
	driver->has_grown = state == HOPPER_DRIVER_TRAINS && driver->n_written > 0 && has_grown();
	hopper_finish();
	driver->steps = false;
	if (state != HOPPER_DRIVER_TRAINS)
		hopper_driver_abandon();
	else if (hopper_seconds_since(driver->last_checkpoint) >= checkpoint_interval())
		ask_for_checkpoints(false);
	return state;
}

void
hopper_driver_compact(void)
{
	const hopper_outputs *made = &driver->fit->made;
	const hopper_name *tables[] = {&made->state, &made->info, &made->model};

	driver->has_grown = false;
	hopper_connect();
	for (int i = 0; i < lengthof(tables); i++)
		hopper_exec("CLUSTER %s USING %s", tables[i]->quoted,
					hopper_identifier(psprintf("%s_pkey", tables[i]->name)));
	hopper_finish();
}
