/*
 * driver.c
 *		A run in the session that drives it: how it is opened and left. How it is made is in
 *		create.c, and its steps are in steps.c.
 */
#include "pg/run/driver_state.h"

#include "postmaster/bgworker.h"

#include "pg/run/lease.h"

hopper_driver *hopper_driven = NULL;

void
hopper_driver_abandon(void)
{
	hopper_driver *ended = hopper_driven;

	if (ended == NULL)
		return;
	hopper_driven = NULL;
	hopper_taker_of_fits = NULL;
	hopper_request_context = NULL;
	if (ended->scope)
		hopper_guard_release_scope(ended->scope);
	if (ended->leased)
		hopper_lease_give_back(ended->run, true);
	MemoryContextDelete(ended->context);
}

bool
hopper_driver_has(int64 run)
{
	return hopper_driven != NULL && !hopper_driven->creates && hopper_driven->run == run;
}

void
hopper_driver_rest(void)
{
	/* Others see what it has written with the end of the transaction, and its lease until then. */
	(void) hopper_lease_try(hopper_driven->run);
	hopper_lease_give_back(hopper_driven->run, true);
	hopper_driven->leased = false;
}

void
hopper_driver_close(void)
{
	hopper_driver_rest();
	hopper_driver_abandon();
}

void
hopper_driver_leave(void)
{
	if (hopper_driven && hopper_driven->creates)
		hopper_raise(ERRCODE_OBJECT_IN_USE,
					 errmsg("this session creates another run at this moment"),
					 errhint("Call the functions in statements of their own."));
	/* Others' functions, of triggers say, may be called by a step. */
	if (hopper_driven && hopper_driven->leased)
		hopper_raise(ERRCODE_OBJECT_IN_USE,
					 errmsg("this session drives run " INT64_FORMAT " at this moment",
							hopper_driven->run),
					 errhint("hopper.submit() trains in the background."));
	hopper_driver_abandon();
}

/* What the core has given away was not written. */
static void
transaction_ends(XactEvent event, void *nothing)
{
	if (event == XACT_EVENT_ABORT)
		hopper_driver_abandon();
	/* The lease would be no process'. */
	else if (event == XACT_EVENT_PRE_PREPARE && hopper_driven && hopper_driven->level > 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("a transaction that steps a run cannot be prepared"));
	else if (hopper_driven)
	{
		hopper_driven->level = 0;
		hopper_driven->uncommitted = false;
	}
}

static void
subtransaction_ends(SubXactEvent event, SubTransactionId own, SubTransactionId parent,
					void *nothing)
{
	/* Deeper ones are attempts within a step. */
	if (event == SUBXACT_EVENT_ABORT_SUB && hopper_driven &&
		GetCurrentTransactionNestLevel() <= hopper_driven->level)
		hopper_driver_abandon();
}

void
hopper_driver_new(int64 run)
{
	static bool registered = false;
	MemoryContext context;

	hopper_driver_leave();
	if (!registered)
	{
		RegisterXactCallback(transaction_ends, NULL);
		RegisterSubXactCallback(subtransaction_ends, NULL);
		hopper_on_discard(hopper_driver_abandon);
		registered = true;
	}
	context = AllocSetContextCreate(TopMemoryContext, "hopper driver", ALLOCSET_DEFAULT_SIZES);
	hopper_driven = MemoryContextAllocZero(context, sizeof(hopper_driver));
	hopper_driven->context = hopper_driven->taker.context = context;
	hopper_driven->run = run;
	hopper_driven->creates = true;
	hopper_driven->opening = GetCurrentTimestamp();
	hopper_driven->level = GetCurrentTransactionNestLevel();
}

hopper_restricted
hopper_driver_begin_as_run(const hopper_run_row *row)
{
	hopper_restricted before = hopper_restrict(row->role);

	hopper_apply_settings(row->search_path, MyBgworkerEntry ? row->settings : NULL);
	return before;
}

void
hopper_driver_execute(const char *statement)
{
	int			rc;

	hopper_taker_of_fits = &hopper_driven->taker;
	rc = SPI_execute(statement, false, 0);
	hopper_taker_of_fits = NULL;
	hopper_request_context = NULL;
	if (rc < 0)
		elog(ERROR, "the statement of a run failed: %s", SPI_result_code_string(rc));
	if (hopper_driven->creates ? hopper_driven->run == 0 : hopper_driven->fit == NULL)
		hopper_wrong(errmsg("the statement trains nothing"),
					 errhint("It has to call hopper.fit(), hopper.fit_multiple_model() or "
							 "hopper.automl()."));
}

/* hopper_fit.earlier */
static int32
earlier_of(const hopper_fit *fit, int32 trial)
{
	hopper_earlier wanted = {.trial = trial};
	const hopper_earlier *found = bsearch(&wanted, hopper_driven->earlier,
										  hopper_driven->n_earlier, sizeof(wanted),
										  hopper_compare_key);

	return found ? found->iterations : 0;
}

int32
hopper_driver_target(const hopper_fit *fit, int32 trial)
{
	int32		wanted = hopper_steering_target(&hopper_driven->steering, trial,
												fit->options.num_iterations);
	int32		earlier = earlier_of(fit, trial);

	return wanted == 0 ? 0 : wanted > PG_INT32_MAX - earlier ? PG_INT32_MAX : wanted + earlier;
}

static void
require_same_data(const hopper_fit *fit)
{
	if (strcmp(hopper_driven->row.data, psprintf("%s %s", fit->train.checksum, fit->has_validation
										  ? fit->valid.checksum : "")) == 0)
		return;
	hopper_unmet(errmsg("the data of run " INT64_FORMAT " have changed since it was created",
						hopper_driven->run),
				 errdetail("\"%s\"%s%s has another checksum.", fit->source.shown,
						   fit->has_validation ? " or its validation table " : "",
						   fit->has_validation ? fit->validation.shown : ""),
				 errhint("Create another run."));
}

/* Of a call with mst_keys, those that are trials of the run by now. */
static void
choose_trials(hopper_fit *fit)
{
	int32	   *keys = palloc(Max(hopper_driven->n_earlier, 1) * sizeof(int32));

	for (int i = 0; i < hopper_driven->n_earlier; i++)
		keys[i] = hopper_driven->earlier[i].trial;
	hopper_fit_choose(fit, keys, hopper_driven->n_earlier);
}

/* The training of fit(), from its tables. */
static void
resume_fit(hopper_fit *fit)
{
	hopper_name own = hopper_parse_name(cstring_to_text(hopper_driven->row.tables), "tables");

	fit->durable = true;
	fit->target = hopper_driver_target;
	fit->earlier = earlier_of;
	fit->compared_by = hopper_driven->row.compared_by;
	fit->continues = hopper_driven->row.continues;
	hopper_driven->n_earlier = hopper_store_earlier(hopper_driven->run, &hopper_driven->earlier);
	if (fit->keeps_others)
		choose_trials(fit);
	hopper_steering_read(hopper_driven->run, &hopper_driven->steering);
	fit->staging = hopper_outputs_named(&own);
	hopper_store_require_same(hopper_driven->run, fit);
	hopper_show_as(&fit->staging.model, &fit->output);
	fit->training.number = hopper_driven->run;
	hopper_fit_resume(fit);
	hopper_driven->fit = fit;
}

/* What a search has under way, from its journal and its tables. */
static void
resume_search(hopper_automl *search, hopper_search_assignment **work, int *n)
{
	search->number = hopper_driven->run;
	hopper_search_use_tables(&search->tables, search->replace, hopper_driven->run);
	hopper_driven->pool = hopper_pool_resume(search, work, n);
	hopper_driven->fit = &hopper_driven->pool->fit;
}

static void
take_opened(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit,
			hopper_automl *search)
{
	hopper_training *training;
	hopper_search_assignment *work;
	int			n;

	if (hopper_driven->fit)
		elog(ERROR, "the statement of a run trains more than once");
	if (CurrentMemoryContext != hopper_driven->context)
		elog(ERROR, "a request of a run is in %s", CurrentMemoryContext->name);
	if (search)
		resume_search(search, &work, &n);
	else
		resume_fit(fit);
	fit = hopper_driven->fit;
	require_same_data(fit);
	training = &fit->training;
	training->number = hopper_driven->run;
	training->commits = true;
	training->halted = hopper_driver_note_halted;
	training->ended = hopper_driver_note_ended;
	training->write = hopper_driver_write;
	training->halts_each = hopper_driven->halts;
	hopper_progress_begin(&hopper_driven->progress);
	if (fit->n_configs == 0)
	{
		/* The last session has written all models, and ended before the run did. */
		hopper_training_allocate(training);
		training->timeline = hopper_timeline_new(training);
		hopper_driven->finished = true;
	}
	else if (search)
		hopper_pool_start(hopper_driven->pool, work, n);
	else
		hopper_fit_start(fit, &hopper_driven->progress);
	AtEOXact_GUC(true, fit->level);
}

void
hopper_driver_require_role(const hopper_run_row *row)
{
	hopper_store_require_role(row);
	if (row->role != GetUserId())
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("run " INT64_FORMAT " belongs to role \"%s\"", row->run,
							hopper_role_name(row->role)),
					 errdetail("A run reads its data with the rights of its role."),
					 errhint("SET ROLE %s; or let hopper.resume() train it in the background.",
							 hopper_identifier(hopper_role_name(row->role))));
	if (row->outcome == NULL)
		return;
	if (strcmp(row->outcome, "failed") != 0)
		hopper_unmet(errmsg("run " INT64_FORMAT " is %s", row->run, row->outcome));
	/* A loop that steps it until it is done would never end. */
	if (HOPPER_DATA_ON_SEGMENTS)
		hopper_unmet(errmsg("run " INT64_FORMAT " has failed", row->run),
					 errdetail("%s", row->error),
					 errhint("hopper.resume(" INT64_FORMAT ") has it tried again.", row->run));
}

/* What a table that is not found was looked for by. */
static void
opening_context(void *arg)
{
	const hopper_run_row *row = arg;

	errcontext("run " INT64_FORMAT ", which finds tables by the names in its call, with "
			   "search_path %s", row->run, row->search_path);
}

/* Whether nobody has driven or ended the run since this session has stepped it: it goes on. */
static bool
wake(int64 run, bool halts)
{
	bool		is_open;

	if (!hopper_driver_has(run))
		return false;
	if (hopper_driven->leased)
		hopper_driver_leave();
	hopper_lease_take(run);
	hopper_driven->leased = true;
	is_open = hopper_store_is_open(run, hopper_driven->opening);
	if (is_open)
		hopper_driver_go_on(halts);
	else
		hopper_driver_abandon();
	return is_open;
}

static void
open_run(int64 run, bool halts)
{
	ErrorContextCallback callback = {error_context_stack, opening_context, NULL};
	MemoryContext caller;
	hopper_restricted before;

	hopper_store_read(run, false, &(hopper_run_row) {0});
	/* Before others see that it is running: what they wish then is newer. */
	if (MyBgworkerEntry == NULL && hopper_store_wish(run) != HOPPER_WISH_RUN)
		hopper_store_event(run, "resumed", 0, NULL);
	hopper_driver_new(run);
	hopper_lease_take(run);
	hopper_driven->leased = true;
	hopper_driven->creates = false;
	hopper_driven->halts = halts;
	caller = CurrentMemoryContext;
	hopper_request_context = hopper_driven->context;
	hopper_store_read(run, true, &hopper_driven->row);
	hopper_request_context = NULL;
	MemoryContextSwitchTo(caller);
	hopper_driver_require_role(&hopper_driven->row);
	if (hopper_driven->row.settings == NULL)
		hopper_unmet(errmsg("run " INT64_FORMAT " was trained in the foreground", run));
	hopper_run_require_tables(&hopper_driven->row, true);
	if (!HOPPER_DATA_ON_SEGMENTS)
		hopper_store_started(run, MyBgworkerEntry != NULL, hopper_driven->opening);
	hopper_driven->scope = MemoryContextAllocZero(hopper_driven->context,
												  sizeof(hopper_guard_scope));
	hopper_driven->taker.take = take_opened;
	hopper_driven->taker.resumes = true;
	before = hopper_driver_begin_as_run(&hopper_driven->row);
	callback.arg = &hopper_driven->row;
	error_context_stack = &callback;
	hopper_guard_enter(hopper_driven->scope);
	hopper_driver_execute(hopper_driven->row.statement);
	hopper_guard_leave();
	error_context_stack = callback.previous;
	hopper_driven->looked = hopper_driven->last_checkpoint = GetCurrentTimestamp();
	hopper_driven->has_grown = hopper_driver_has_grown();
	hopper_unrestrict(&before);
}

void
hopper_driver_open(int64 run, bool halts)
{
	hopper_connect();
	if (!wake(run, halts))
		open_run(run, halts);
	hopper_finish();
}
