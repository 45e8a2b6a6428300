/*
 * create.c
 *		How a run is made: its statement is executed, and what that asks for becomes tables and
 *		rows in the place of a training. The closing statement of a run may have it train more.
 */
#include "pg/run/driver_state.h"

#include "tcop/tcopprot.h"

/* --- the statement, and the settings that it depends on --- */

void
hopper_require_one_select(const char *statement)
{
	List	   *parsed = pg_parse_query(statement);

	if (list_length(parsed) == 1 && IsA(hopper_raw_statement(linitial(parsed)), SelectStmt))
		return;
	hopper_wrong(errmsg("a run is made of one SELECT that calls a function that trains"),
				 errhint("For example: SELECT hopper.submit($$SELECT "
						 "hopper.fit_multiple_model('packed', 'models', 'configs', 10)$$);"));
}

char *
hopper_settings_text(void)
{
	static const char *const names[] = {"hopper.memory_limit", "hopper.mix_numerics",
	"hopper.notice_interval", "hopper.threads"};
	StringInfo	text = makeStringInfo();

	for (int i = 0; i < lengthof(names); i++)
		appendStringInfo(text, "%s=%s\n", names[i], hopper_setting(names[i]));
	return text->data;
}

void
hopper_apply_settings(const char *search_path, const char *settings)
{
	char	   *rest = pstrdup(settings ? settings : "");
	char	   *line;

	if (search_path)
		hopper_set_for_now("search_path", search_path);
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		char	   *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		hopper_set_for_now(line, value);
	}
}

/* --- a new run --- */

/* The tables of a new run, and all that can be wrong; what is trained in them. */
static hopper_fit *
prepare_fit(hopper_fit *fit)
{
	hopper_name own = hopper_name_of_run(&fit->output, hopper_driven->run, "");

	fit->durable = true;
	fit->staging = hopper_outputs_named(&own);
	hopper_show_as(&fit->staging.model, &fit->output);
	hopper_fit_prepare(fit);
	return fit;
}

static hopper_fit *
prepare_search(hopper_automl *search)
{
	hopper_search_assignment *work;
	hopper_pool *pool;
	int			n;

	hopper_search_create_tables(&search->tables, &search->models, search->replace,
								hopper_driven->run);
	hopper_search_rehearse(search);
	pool = hopper_pool_prepare(search, &work, &n);
	if (n == 0)
		hopper_search_refuse_without_best(search);
	return &pool->fit;
}

/* Of two runs that are to make tables of a name the first to end does. */
static void
tell_of_another(const hopper_name *output)
{
	int64		other = hopper_store_making(output, hopper_driven->run);

	if (other != 0)
		ereport(NOTICE, errmsg("run " INT64_FORMAT " is to make \"%s\", too", other,
							   output->shown),
				errdetail("The first of the two to end gives its models this name, unless replace "
						  "is true; those of the other stay in hopper_run_NUMBER."),
				errhint("hopper.cancel(" INT64_FORMAT ") ends the other one.", other));
}

/* Makes the tables of what the run is to train, and describes it in its row. */
static hopper_fit *
prepare(FunctionCallInfo fcinfo, hopper_fit *fit, hopper_automl *search)
{
	hopper_run_row *row = &hopper_driven->row;

	row->statement = hopper_call_text(fcinfo);
	fit = search ? prepare_search(search) : prepare_fit(fit);
	fit->record.ended = fit->record.started;
	hopper_outputs_write_summary(&fit->staging, &fit->training, &fit->record);
	AtEOXact_GUC(true, fit->level);
	row->tables = fit->staging.model.quoted;
	row->selection = search ? search->tables.selection.quoted
		: fit->has_selection ? fit->selection.quoted : NULL;
	return fit;
}

static void
store_first_trials(hopper_fit *fit)
{
	int		   *all = palloc(Max(fit->n_configs, 1) * sizeof(int));

	for (int i = 0; i < fit->n_configs; i++)
		all[i] = i;
	fit->training.results = NULL;
	hopper_store_trials(hopper_driven->run, &fit->training, all, fit->n_configs, true);
}

static void
take_new(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit, hopper_automl *search)
{
	hopper_run_row *row = &hopper_driven->row;

	if (hopper_driven->run > 0)
		hopper_wrong(errmsg("the statement trains more than once"),
					 errhint("Create a run of each call."));
	hopper_driven->run = row->run = hopper_run_new_number();
	row->search_path = (char *) hopper_setting("search_path");
	row->settings = hopper_settings_text();
	fit = prepare(fcinfo, fit, search);
	if (row->function == NULL)
	{
		row->function = (char *) fit->function;
		row->model_table = search ? search->tables.final_output.shown : fit->output.shown;
	}
	hopper_store_create(row, fit);
	tell_of_another(search ? &search->tables.final_output : &fit->output);
	store_first_trials(fit);
}

/* What it trains next, once it has trained the last of it. */
static void
take_next(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit, hopper_automl *search)
{
	if (hopper_driven->goes_on || search)
		elog(ERROR, "a run goes on with one call of fit_multiple_model()");
	hopper_driven->goes_on = true;
	fit = prepare(fcinfo, fit, search);
	hopper_store_next_training(&hopper_driven->row, fit);
	store_first_trials(fit);
}

int64
hopper_driver_create(const char *statement)
{
	int64		run;

	hopper_require_one_select(statement);
	hopper_driver_new(0);
	hopper_driven->taker.take = take_new;
	hopper_driven->taker.several = true;
	hopper_driver_execute(statement);
	run = hopper_driven->run;
	hopper_driver_abandon();
	return run;
}

/* --- what a run closes with --- */

/*
 * run_closing(statement, function, model_table) -> whether a run is made of what is trained next,
 * which executes the statement at its end; NULL: only asks.
 */
HOPPER_SPI_FUNCTION(hopper_sql_run_closing)
{
	bool		waits = hopper_driven != NULL && hopper_taker_of_fits == &hopper_driven->taker &&
		hopper_driven->taker.waits;
	MemoryContext caller;

	if (!waits || PG_ARGISNULL(0))
		PG_RETURN_BOOL(waits);
	hopper_driven->taker.waits = false;
	caller = MemoryContextSwitchTo(hopper_driven->context);
	hopper_driven->row.closing = hopper_string_argument(fcinfo, 0);
	if (!PG_ARGISNULL(1))
	{
		hopper_driven->row.function = hopper_string_argument(fcinfo, 1);
		hopper_driven->row.model_table = hopper_string_argument(fcinfo, 2);
	}
	MemoryContextSwitchTo(caller);
	PG_RETURN_BOOL(true);
}

typedef struct closing
{
	const hopper_run_row *row;
	const char *models;
} closing;

static void
execute_closing(void *state)
{
	const closing *asked = state;
	hopper_param param = hopper_text_param(asked->models);
	char		isnull = asked->models ? ' ' : 'n';
	hopper_restricted before = hopper_driver_begin_as_run(asked->row);

	if (SPI_execute_with_args(asked->row->closing, 1, &param.type, &param.value, &isnull, false,
							  0) < 0)
		elog(ERROR, "the closing statement of run " INT64_FORMAT " failed", asked->row->run);
	hopper_unrestrict(&before);
}

void
hopper_run_close(const hopper_run_row *row, const char *models)
{
	closing		asked = {row, models};
	ErrorData  *error;

	if (row->closing == NULL)
		return;
	/* Its role may have written what is executed. */
	if (row->role != GetUserId())
	{
		ereport(NOTICE, errmsg("what was made before run " INT64_FORMAT " began is not dropped",
							   row->run),
				errdetail("Its names begin with \"%s_\", and it is role \"%s\"'s.",
						  row->model_table, hopper_role_name(row->role)));
		return;
	}
	if (models)
	{
		execute_closing(&asked);
		return;
	}
	/* Whatever stays, the run ends, unless who ends it has thought better of it. */
	error = hopper_attempt(execute_closing, &asked);
	if (error && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error)
		ereport(WARNING, errmsg("not all that run " INT64_FORMAT " had made is dropped", row->run),
				errdetail("%s.", error->message));
}

void
hopper_driver_close_models(const char *models)
{
	hopper_driven->taker = (hopper_fit_taker)
	{
		.context = hopper_driven->context,.several = true,.waits = true,.take = take_next
	};
	hopper_taker_of_fits = &hopper_driven->taker;
	hopper_run_close(&hopper_driven->row, models);
	hopper_taker_of_fits = NULL;
}
