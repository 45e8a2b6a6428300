/*
 * local.h
 *		What local/backend.c lists and other files of this room hold, for all of which backend.h
 *		tells what it does.
 */
#ifndef HOPPER_LOCAL_H
#define HOPPER_LOCAL_H

#include "pg/backend.h"

#include "postmaster/bgworker.h"

#include "pg/run/driver.h"

extern int	hopper_safe_path(void);
extern void hopper_callers_path(int level);
extern Portal hopper_cursor_open(const char *query, bool read_only);
extern hopper_row_cursor hopper_row_cursor_open(const char *query);
extern uint64 hopper_row_cursor_give(const hopper_row_cursor *rows, long n, hopper_row_taker take,
									 void *state);
extern bool hopper_row_versions(Oid relation, const char *key_column, int32 key,
								StringInfo versions, int64 *n);
extern void hopper_pack_move_rows(struct hopper_pack_job *job,
								  struct hopper_pack_output *training,
								  struct hopper_pack_output *validation);
extern int64 hopper_predict_source(struct hopper_prediction *run);
extern void hopper_evaluate_data(const struct hopper_trained *model,
								 const struct hopper_packed *data, hopper_event *event,
								 const struct hopper_name *confusion);
extern const struct hopper_training_backend hopper_training_here;
extern hopper_explain_costs hopper_forecast_costs(struct hopper_forecast_request *request,
												  const int32 *train_keys);
extern void hopper_worker_start(const struct hopper_run_row *row);
extern void hopper_supervisor_register(void);
/*
 * Starts what takes up a run of a database that its worker cannot train, 0: all; as far as its role
 * may (supervisor.c). False where no worker is free. `handle`: to wait for its end, or NULL.
 */
extern bool hopper_finder_start(Oid database, int64 run, BackgroundWorkerHandle **handle);
/* Trains a run to its end; `commit` ends a transaction and begins another. */
extern hopper_driver_state hopper_run_train(int64 run, void (*commit) (void));
/* A background worker that calls a function of the library, and is not started again. */
extern BackgroundWorker hopper_worker_named(const char *type, const char *function);

/* --- the core's run (local/core_run.c) --- */

/* hopper_training_backend.needs */
extern int64 hopper_core_run_needs(const struct hopper_training *training);
/* Makes it; its configurations rest. */
extern void hopper_core_run_create(struct hopper_training *training);
/* Loads the data: all, or none where they do not fit; then events ask for them. */
extern void hopper_core_run_load(struct hopper_training *training);
/* Handles the events that wait; true once the run has finished. */
extern bool hopper_core_run_drain(struct hopper_training *training);

#endif							/* HOPPER_LOCAL_H */
