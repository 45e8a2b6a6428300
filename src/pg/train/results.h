/*
 * results.h
 *		What trained models leave behind, piece by piece: nothing of it lies in memory as a whole.
 */
#ifndef HOPPER_RESULTS_H
#define HOPPER_RESULTS_H

#include "pg/train/run.h"

/*
 * Writes the result of configuration `at` to a temporary file, so that its memory is free for one
 * that waits.
 */
extern void hopper_results_put_aside(hopper_training *training, int at);
/*
 * The next bytes of its state image, `size` at most; 0 behind the last. `take`: the core then frees
 * them, and training->results[at] has their digest; else it has halted or ended, and keeps them.
 */
extern size_t hopper_results_state(hopper_training *training, int at, bool take, void *bytes,
								   size_t size);
/*
 * And then its weights, results[at].n_weights floats; else those that it would deliver now,
 * results[at].n_parameters floats.
 */
extern void hopper_results_weights(hopper_training *training, int at, bool take, float *weights);
/* --- of a training that is open --- */

/* Room for another configuration. */
extern void hopper_results_grow(hopper_training *training);
/*
 * A state that was put aside goes back to the core, which has the configuration's newest one then:
 * hopper_training.push_state.
 */
extern void hopper_results_push_state(const hopper_training *training, int at);
/* Of a configuration that is put aside: another one goes on from its state, too. */
extern void hopper_results_share(hopper_training *training, int at, int with);
extern bool hopper_results_are_aside(const hopper_training *training, int at);
/* The size of its state there. */
extern size_t hopper_results_aside_size(const hopper_training *training, int at);
/* What is aside is of no use any more. */
extern void hopper_results_forget(hopper_training *training, int at);

extern void hopper_results_end(hopper_training *training);

#endif							/* HOPPER_RESULTS_H */
