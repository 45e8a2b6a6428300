/*
 * warm_start.h
 *		Going on from the models of an earlier run.
 */
#ifndef HOPPER_WARM_START_H
#define HOPPER_WARM_START_H

#include "pg/train/outputs.h"

/*
 * For each configuration that has a model in the output tables: its architecture, the size of its
 * state and its history are put into configs[i] and histories[i]; the others start anew.
 * `checks_states`: ERROR where a state is damaged, which else is found when it is read. Compile and
 * fit parameters stay those of `configs`; a history keeps no loss where its configuration has
 * another one now. `data` is the training table's. SPI must be connected.
 */
extern void hopper_warm_start(const hopper_outputs *outputs, const hopper_data_desc *data,
							  hopper_config *configs, int n, hopper_history **histories,
							  bool checks_states);
/*
 * Whether each of these configurations that has a model has a sound state, too: all of them in one
 * pass. False also where one could not be read: each tells of itself then.
 */
extern bool hopper_checkpoints_are_sound(const hopper_outputs *outputs,
										 const hopper_config *configs, int n);
/*
 * Of a run that goes on, a configuration that has a checkpoint: where its state is damaged, the one
 * before takes its place, or it begins anew, with a WARNING. Returns the iterations behind it then;
 * -1: it is sound. `continues`: it is a warm start, which cannot begin anew: ERROR instead.
 */
extern int32 hopper_mend_checkpoint(const hopper_outputs *outputs, int32 mst_key, bool continues);
/* Hands the state of configuration `at` that is in the training's tables to the core. */
extern void hopper_push_state(const hopper_training *training, int at);

#endif							/* HOPPER_WARM_START_H */
