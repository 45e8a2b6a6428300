/*
 * worker.h
 *		Runs in the background: one worker process of the server a run.
 */
#ifndef HOPPER_RUN_WORKER_H
#define HOPPER_RUN_WORKER_H

#include "pg/train/store.h"

/*
 * Has a background worker train the run, as its role, once this transaction has committed. The
 * commit fails (53000) where max_worker_processes leaves none.
 */
extern void hopper_worker_start(const hopper_run_row *row);

#endif							/* HOPPER_RUN_WORKER_H */
