/*
 * together.c
 *		fit_together(): what several calls of fit_multiple_model() ask for, trained at the same
 *		time; record_means(): what a cross-validation comes to.
 *
 * Each has tables and a training of its own, so that its results are those of the call alone.
 * Their workers take turns.
 */
#include "pg/run/driver.h"
#include "pg/train/fit.h"

typedef struct listener
{
	hopper_fit_taker taker;
	hopper_fit *fit;
} listener;

static void
take(hopper_fit_taker *taker, FunctionCallInfo fcinfo, hopper_fit *fit,
	 struct hopper_automl *search)
{
	listener   *listening = (listener *) taker;

	if (search || listening->fit)
		hopper_wrong(errmsg("each statement has to call hopper.fit_multiple_model() once"));
	listening->fit = fit;
}

static void
stop_listening(void *nothing)
{
	hopper_taker_of_fits = NULL;
	hopper_request_context = NULL;
}

/* What the statement asks for. */
static hopper_fit *
fit_of(const char *statement)
{
	listener	listening = {.taker = {.context = CurrentMemoryContext,.take = take}};
	hopper_fit_taker *waiting = hopper_taker_of_fits;
	hopper_guard *guard;

	hopper_require_one_select(statement);
	guard = hopper_guard_add(&listening, stop_listening);
	hopper_taker_of_fits = &listening.taker;
	(void) SPI_execute(statement, false, 0);
	SPI_freetuptable(SPI_tuptable);
	hopper_guard_release(guard);
	hopper_taker_of_fits = waiting;
	MemoryContextSwitchTo(listening.taker.context);
	if (listening.fit == NULL)
		hopper_wrong(errmsg("the statement trains nothing"));
	return listening.fit;
}

static hopper_fit **
fits_of(FunctionCallInfo fcinfo, int *n)
{
	char	  **statements;
	hopper_fit **fits;

	hopper_require_argument(fcinfo, 0, "statements");
	if (hopper_taker_of_fits && !hopper_taker_of_fits->waits)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED, errmsg("a run trains once"));
	statements = hopper_texts(PG_GETARG_DATUM(0), n);
	fits = palloc(Max(*n, 1) * sizeof(hopper_fit *));
	for (int i = 0; i < *n; i++)
	{
		if (statements[i] == NULL)
			hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED, errmsg("statements must not be NULL"));
		fits[i] = fit_of(statements[i]);
		CHECK_FOR_INTERRUPTS();
	}
	return fits;
}

/* Models of a thread: with so many its last ones do not make others wait for long. */
#define ENOUGH_MODELS 4
/* Of the memory: other fits may be larger. */
#define FILLED 0.9

/* fits_at_once(statement) */
HOPPER_SPI_FUNCTION(hopper_sql_fits_at_once)
{
	int			n;
	hopper_fit **fits = fits_of(fcinfo, &n);
	int			configs = Max(n > 0 ? fits[0]->n_configs : 0, 1);
	int64		enough;

	if (n != 1)
		hopper_wrong(errmsg("one statement is looked at"));
	enough = ((int64) ENOUGH_MODELS * fits[0]->options.threads + configs - 1) / configs;
	PG_RETURN_INT32((int) Max(Min(hopper_fits_at_once(fits, n) * FILLED, enough), 1));
}

static void
train(hopper_fit *const *fits, int n)
{
	for (int i = 0; i < n; i++)
		hopper_fit_prepare(fits[i]);
	hopper_train(fits, n);
	for (int i = 0; i < n; i++)
		hopper_fit_finish(fits[i]);
	/* The first one has what the others use, and its settings lie below theirs. */
	for (int i = n - 1; i >= 0; i--)
		hopper_fit_end(fits[i]);
}

/*
 * fit_together(statements, recorded): all at the same time where they fit into memory, else in
 * their order. The record of runs has the last of them, or none: on segments who has written to it
 * keeps others waiting to the end of the transaction.
 */
HOPPER_SPI_FUNCTION(hopper_sql_fit_together)
{
	int			n;
	hopper_fit **fits = fits_of(fcinfo, &n);
	int			at_once = n > 1 && hopper_fits_at_once(fits, n) >= n ? n : 1;
	bool		recorded = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);

	hopper_backend.require_segments();
	for (int i = 0; i < n; i++)
		fits[i]->passing = !recorded || i < n - 1;
	for (int i = 0; i < n; i += at_once)
		train(fits + i, at_once);
	PG_RETURN_VOID();
}

/*
 * record_means(model_table, output_table, began, metric, trials, means): the run that has trained
 * these models, of the last fold, is the cross-validation's. The metric may be NULL: configurations
 * that cannot be compared.
 */
HOPPER_SPI_FUNCTION(hopper_sql_record_means)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_means means;
	hopper_run_row row;

	hopper_require_argument(fcinfo, 1, "output_table");
	hopper_require_argument(fcinfo, 2, "began");
	hopper_store_read(hopper_store_run_of(hopper_relation_oid(&models, false)), false, &row);
	row.function = "cross_validate";
	row.model_table = hopper_string_argument(fcinfo, 1);
	means.began = PG_GETARG_TIMESTAMPTZ(2);
	means.metric = hopper_string_argument(fcinfo, 3);
	means.trials = HOPPER_IF(!PG_ARGISNULL(4), HOPPER_PARAM(INT4ARRAYOID, PG_GETARG_DATUM(4)));
	means.values = HOPPER_IF(!PG_ARGISNULL(5), HOPPER_PARAM(FLOAT8ARRAYOID, PG_GETARG_DATUM(5)));
	hopper_store_means(&row, &means);
	PG_RETURN_VOID();
}
