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
 * The next bytes of its state image, `size` at most; 0 behind the last. training->results[at] has
 * its digest then.
 */
extern size_t hopper_results_state(hopper_training *training, int at, void *bytes, size_t size);
/* And then its weights, results[at].n_weights floats. */
extern void hopper_results_weights(hopper_training *training, int at, float *weights);
extern void hopper_results_end(hopper_training *training);

#endif							/* HOPPER_RESULTS_H */
