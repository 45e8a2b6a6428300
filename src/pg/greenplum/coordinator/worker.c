/*
 * worker.c
 *		A cluster trains a run in the sessions that step it.
 */
#include "pg/run/worker.h"

void
hopper_worker_start(const hopper_run_row *row)
{
	hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("a cluster does not train in the background"),
				 errhint("Make a run with hopper.create_run(), and call hopper.step(run, "
						 "seconds) again and again until it says done."));
}

void
hopper_supervisor_register(void)
{
}
