/*
 * train_run.c
 *		The driver's loop, with a transaction for each checkpoint: of a background worker, and of
 *		CALL hopper.train(run). A procedure commits, which a function cannot.
 */
#include "pg/local/local.h"

#include "nodes/parsenodes.h"

/* Steps look for wishes more often. */
#define MOST_SECONDS_OF_A_WAIT 2.0

hopper_driver_state
hopper_run_train(int64 run, void (*commit) (void))
{
	hopper_driver_state state = HOPPER_DRIVER_TRAINS;

	hopper_driver_open(run, false);
	commit();
	while (state == HOPPER_DRIVER_TRAINS)
	{
		hopper_driver_wait(MOST_SECONDS_OF_A_WAIT);
		state = hopper_driver_step();
		if (state == HOPPER_DRIVER_TRAINS && !hopper_driver_has(run))
			hopper_driver_open(run, false);
		commit();
		if (hopper_driver_compact())
			commit();
	}
	return state;
}

static void
connect_nonatomic(FunctionCallInfo fcinfo)
{
	CallContext *context = (CallContext *) fcinfo->context;

	if (context == NULL || !IsA(context, CallContext) || context->atomic)
		hopper_raise(ERRCODE_INVALID_TRANSACTION_TERMINATION,
					 errmsg("hopper.train() commits, and cannot be called within a transaction "
							"block"),
					 errhint("Call it alone, or let hopper.submit() train in the background."));
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

static void
commit_and_go_on(void)
{
	SPI_commit();
	SPI_start_transaction();
}

/* CALL train(run): to its end. */
HOPPER_FUNCTION(hopper_sql_train)
{
	int64		run = hopper_run_argument(fcinfo);
	hopper_driver_state state;

	connect_nonatomic(fcinfo);
	state = hopper_run_train(run, commit_and_go_on);
	SPI_finish();
	if (state != HOPPER_DRIVER_DONE)
		ereport(NOTICE,
				errmsg("run " INT64_FORMAT " is %s", run, hopper_driver_state_words(state)));
	PG_RETURN_VOID();
}
