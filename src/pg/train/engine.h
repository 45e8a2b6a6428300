/*
 * engine.h
 *		What trains: local/ or greenplum/ gives all of these, each in its open_run.c, and every run
 *		and search is driven by them.
 *
 * A training is open: begin, then start; from the beginning on go_on and, after the start, enter
 * as the caller likes, and step again and again; close when nothing more comes, and step until it
 * has finished. One that is closed before it starts is planned for what has been told to go on.
 * Within a step the caller is told by training->halted and training->ended, and then by
 * training->write. SPI must be connected.
 */
#ifndef HOPPER_TRAIN_ENGINE_H
#define HOPPER_TRAIN_ENGINE_H

#include "pg/train/outputs.h"

/* Its configurations rest. */
extern void hopper_training_begin(hopper_training *training);
extern void hopper_training_start(hopper_training *training);
/*
 * One more configuration, which is copied, with its history; returns its place. -1: it does not
 * fit beside what the run has planned, but would in a run of its own.
 */
extern int	hopper_training_enter(hopper_training *training, const hopper_config *config,
								  hopper_history *history);
/*
 * Enters one with the state and the history of the configuration at `parent`, which is done.
 */
extern int	hopper_training_enter_child(hopper_training *training, const hopper_config *config,
										hopper_history *history, int parent);
/*
 * It trains so many iterations more, or anew from its initial weights. `done`: the iterations of
 * the same stint that an earlier session of a durable run has behind it; 0 otherwise.
 */
extern void hopper_training_go_on(hopper_training *training, int at, int32 iterations,
								  int32 done, bool restart);
/* The state of a configuration that is done goes; its weights stay. */
extern void hopper_training_drop_state(hopper_training *training, int at);
/* Sleeps until a step has something to do, `timeout` ms at most; needs no SPI and no snapshot. */
extern void hopper_training_wait(const hopper_training *training, long timeout);
/*
 * Goes on: until something has happened or `timeout` ms (-1: forever) are over; on segments by a
 * hop, which may be longer. True once the run has finished.
 */
extern bool hopper_training_step(hopper_training *training, long timeout);
extern void hopper_training_close(hopper_training *training);

/* --- of a durable run --- */

/*
 * Configurations halt, each at the end of an iteration, for training->halted. `all`: also those
 * that have trained nothing since their last one. Otherwise it is for the checkpoint alone, which
 * is not taken where nothing is committed before the statement ends.
 */
extern void hopper_training_halt(hopper_training *training, bool all);
/*
 * States and weights of configurations that have halted or ended go into `outputs`, on segments.
 * False: they are the caller's to read (train/results.h).
 */
extern bool hopper_training_store(hopper_training *training, const int *which, int n,
								  const hopper_outputs *outputs);
/* One that has halted trains so many iterations more, at least one. */
extern void hopper_training_set_iterations(hopper_training *training, int at, int32 more);
/* One that has halted goes on. */
extern void hopper_training_release(hopper_training *training, int at);
/*
 * What it has beside the outputs is given back, where it cannot go on in another transaction: on
 * segments.
 */
extern void hopper_training_leave(hopper_training *training);

#endif							/* HOPPER_TRAIN_ENGINE_H */
