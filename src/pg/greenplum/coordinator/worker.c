/*
 * worker.c
 *		A cluster trains in the foreground.
 */
#include "pg/run/worker.h"

void
hopper_worker_start(const hopper_run_row *row)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a cluster does not train in the background yet"),
			 errhint("Call the function that trains in the foreground.")));
}

void
hopper_supervisor_register(void)
{
}
