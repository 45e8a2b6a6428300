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
#include "pg/server/words.h"
#include "pg/train/results.h"
#include "pg/train/run.h"

/* Checkpoints take at most one part in so many of the time. */
#define LEAST_SHARE 33
/* How often the wish of others is looked up. */
#define SECONDS_BETWEEN_LOOKS 1.0
/* A table of states is made small once it is so many times its contents, and this much more. */
#define MOST_GROWTH 4
#define GROWTH_BYTES (64 * 1024 * 1024)

typedef struct hopper_driver
{
	hopper_fit_taker taker;		/* while the statement of the run is executed */
	int64		run;
	bool		creates;
	hopper_run_row row;
	hopper_guard_scope *scope;	/* of what it holds beyond transactions */
	MemoryContext context;
	hopper_fit *fit;
	hopper_progress progress;
	bool		steps;			/* a step goes on */
	bool		finished;		/* the core has nothing to train any more */
	TimestampTz looked;			/* for wishes */
	TimestampTz last_checkpoint;	/* when the latest one was asked for */
	double		cost;			/* seconds that the latest one took */
	double		spent;			/* seconds within this step that wrote checkpoints */
	int			n_written;		/* checkpoints in this step */
	bool		has_grown;		/* the table of states, by dead rows */
	bool		halts;			/* who halts does not go on before the next step */
	bool	   *halted;			/* by configuration */
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
	hopper_store_current_run = 0;
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
	else if (fit->options.use_gpus)
		what = "training on GPUs";
	if (what)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot be a run of its own yet", what),
				 errhint("Call the function in the foreground.")));
}

static hopper_name
own_table(const hopper_fit *fit)
{
	hopper_name name = fit->output;

	name.name = psprintf("hopper_run_" INT64_FORMAT, driver->run);
	name.qualified = true;
	name.quoted = psprintf("%s.%s", hopper_identifier(name.schema),
						   hopper_identifier(name.name));
	name.shown = psprintf("%s.%s", name.schema, name.name);
	return name;
}

static void
take_new(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit)
{
	hopper_run_row *row = &driver->row;
	hopper_name own;

	if (driver->run > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the statement trains more than once"),
				 errhint("Create a run of each call.")));
	driver->run = row->run = hopper_store_next();
	row->statement = hopper_call_text(fcinfo);
	row->search_path = (char *) hopper_setting("search_path");
	row->settings = hopper_settings_text();
	if (fit == NULL)
	{
		row->function = "automl";
		row->model_table = hopper_name_named(fcinfo, "model_table").shown;
		hopper_store_create(row, NULL);
		return;
	}
	refuse_undurable(fit);
	fit->durable = true;
	own = own_table(fit);
	hopper_require_absent(&own);
	fit->made = hopper_outputs_named(&own);
	hopper_show_as(&fit->made.model, &fit->output);
	hopper_fit_prepare(fit);
	AtEOXact_GUC(true, fit->level);

	row->function = (char *) fit->function;
	row->tables = fit->made.model.quoted;
	row->model_table = fit->output.shown;
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

/* hopper_training.checkpoint */
static bool
write_checkpoint(hopper_training *training, int at, int32 iteration)
{
	instr_time	start;

	if (iteration > training->done[at])
	{
		INSTR_TIME_SET_CURRENT(start);
		hopper_outputs_write_checkpoint(&driver->fit->made, training, at);
		hopper_store_trials(driver->run, training, &at, 1);
		training->done[at] = iteration;
		driver->n_written++;
		note_cost(start);
	}
	driver->halted[at] = driver->halts;
	return !driver->halts;
}

/* hopper_training.ended */
static void
write_ended(hopper_training *training, int at, bool failed)
{
	if (training->written[at])
		return;
	hopper_outputs_write_ended(&driver->fit->made, training, at);
	hopper_store_trials(driver->run, training, &at, 1);
	driver->n_written++;
}

static void
take_opened(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit)
{
	hopper_training *training = &fit->training;
	hopper_name own = hopper_parse_name(cstring_to_text(driver->row.tables), "tables");
	int			n = fit->n_configs;

	if (driver->fit)
		elog(ERROR, "the statement of a run trains more than once");
	if (CurrentMemoryContext != driver->context)
		elog(ERROR, "a request of a run is in %s", CurrentMemoryContext->name);
	fit->durable = true;
	fit->made = hopper_outputs_named(&own);
	hopper_store_require_same(driver->run, fit);
	hopper_show_as(&fit->made.model, &fit->output);
	training->number = driver->run;
	hopper_fit_resume(fit);
	if (strcmp(driver->row.data, psprintf("%s %s", fit->train.checksum, fit->has_validation
										  ? fit->valid.checksum : "")) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the data of run " INT64_FORMAT " have changed since it was created",
						driver->run),
				 errdetail("\"%s\"%s%s has another checksum.", fit->source.shown,
						   fit->has_validation ? " or its validation table " : "",
						   fit->has_validation ? fit->validation.shown : ""),
				 errhint("Create another run.")));
	training->ended = write_ended;
	training->checkpoint = write_checkpoint;
	training->written = palloc0(Max(n, 1) * sizeof(bool));
	driver->halted = palloc0(Max(n, 1) * sizeof(bool));
	training->stored_until = palloc0(Max(n, 1) * sizeof(int32));
	for (int i = 0; i < fit->n_configs; i++)
		training->stored_until[i] = training->done[i];
	training->costs = hopper_training_costs(training);
	hopper_progress_begin(&driver->progress);
	driver->fit = fit;
	if (fit->n_configs == 0)
	{
		/* The last session has written all models, and ended before the run did. */
		hopper_training_allocate(training);
		training->timeline = hopper_timeline_new(training);
		driver->finished = true;
		AtEOXact_GUC(true, fit->level);
		return;
	}
	hopper_training_start(training);
	for (int i = 0; i < fit->n_configs; i++)
	{
		int32		left = fit->options.num_iterations - training->done[i];

		/* One that had no iteration left when its last checkpoint was written has ended. */
		hopper_training_go_on(training, i, Max(left, 1), false);
	}
	hopper_training_close(training);
	hopper_progress_start(&driver->progress, training);
	AtEOXact_GUC(true, fit->level);
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
	if (driver->row.tables == NULL)
		return;
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
}

/* A search is one statement still: it trains to its end, or leaves nothing. */
static void
train_whole(void)
{
	int			level = NewGUCNestLevel();
	int			rc;

	hopper_connect();
	/* In the foreground the session's own settings count. */
	hopper_apply_settings(driver->row.search_path, MyBgworkerEntry ? driver->row.settings : NULL);
	hopper_store_current_run = driver->run;
	rc = SPI_execute(driver->row.statement, false, 0);
	hopper_store_current_run = 0;
	if (rc < 0)
		elog(ERROR, "the statement of a run failed: %s", SPI_result_code_string(rc));
	hopper_finish();
	AtEOXact_GUC(true, level);
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

	if (driver->row.tables == NULL)
		return;
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
		if (!driver->halted[i] && !training->written[i] && !training->failed[i])
			return false;
		n_halted += driver->halted[i];
	}
	/* Where all have ended the run is about to. */
	return n_halted > 0;
}

void
hopper_driver_go_on(void)
{
	if (driver->fit == NULL)
		return;
	driver->halts = false;
	for (int i = 0; i < driver->fit->training.n_configs; i++)
	{
		if (driver->halted[i])
			hopper_training_release(&driver->fit->training, i);
		driver->halted[i] = false;
	}
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
		if (!training->written[i])
			write_ended(training, i, true);
	training->n_failed = 0;
	for (int i = 0; i < training->n_configs; i++)
		training->n_failed += training->results[i].status == HOPPER_MODEL_FAILED;
	if (!fit->keeps_others)
		hopper_refuse_all_failed(training);
	hopper_fit_finish(fit);
	hopper_progress_finished(training, fit->record.best.mst_key, fit->record.best.metric,
							 fit->record.best.value);
	hopper_store_set_tables(driver->run, fit->outputs.model.quoted);
	hopper_store_ended(driver->run, "done", fit, NULL);
	AtEOXact_GUC(true, fit->level);
}

static void
take_back(void)
{
	hopper_made tables[HOPPER_OUTPUT_TABLES];

	hopper_outputs_tables(&driver->fit->made, tables);
	(void) hopper_drop_made(tables, HOPPER_OUTPUT_TABLES, NULL);
	hopper_store_set_tables(driver->run, NULL);
	hopper_store_ended(driver->run, "cancelled", NULL, NULL);
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

/* Whether dead rows of checkpoints take most of the table of states. */
static bool
has_grown(void)
{
	const hopper_training *training = &driver->fit->training;
	int64		contents = 0;
	int64		size;

	for (int i = 0; i < training->n_configs; i++)
		contents += training->results[i].state_size;
	hopper_select("SELECT pg_total_relation_size(%u)",
				  hopper_relation_oid(&driver->fit->made.state, false));
	size = hopper_int_cell(NULL, 0, 1, 0, PG_INT64_MAX);
	SPI_freetuptable(SPI_tuptable);
	return size > MOST_GROWTH * contents + GROWTH_BYTES;
}

bool
hopper_driver_wants_compaction(void)
{
	return driver != NULL && driver->has_grown;
}

/* --- a step --- */

hopper_driver_state
hopper_driver_step(void)
{
	hopper_driver_state state = HOPPER_DRIVER_TRAINS;

	driver->steps = true;
	driver->spent = 0;
	driver->n_written = 0;
	driver->level = GetCurrentTransactionNestLevel();
	if (driver->row.tables == NULL)
	{
		train_whole();
		hopper_driver_abandon();
		return HOPPER_DRIVER_DONE;
	}
	hopper_connect();
	driver->finished = driver->finished || hopper_training_drain(&driver->fit->training);
	if (driver->spent > 0)
	{
		driver->cost = driver->spent;
		hopper_store_checkpoint(driver->run, driver->spent);
	}
	if (driver->finished)
	{
		finish();
		state = HOPPER_DRIVER_DONE;
	}
	else
	{
		hopper_progress_line(&driver->progress, &driver->fit->training);
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
	driver->has_grown = false;
	hopper_connect();
	hopper_exec("CLUSTER %s USING %s", driver->fit->made.state.quoted,
				hopper_identifier(psprintf("%s_pkey", driver->fit->made.state.name)));
	hopper_finish();
}
