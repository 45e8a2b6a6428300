/*
 * run.h
 *		Training in one process.
 */
#ifndef MODEL_HOPPER_RUN_H
#define MODEL_HOPPER_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "model_hopper/events.h"
#include "model_hopper/training.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* One fit_multiple_model(). */
typedef struct hopper_run hopper_run;

/* What a configuration of an open run is to train now. */
typedef struct hopper_stint
{
	int32_t		mst_key;
	int32_t		iterations;		/* more than it has */
	int32_t		restart;			/* 1: from its initial weights: what it has is dropped */
	/*
	 * Of a run that is resumed: how many of its iterations the model's stored state has behind it
	 * already. What is reported and evaluated is counted from the beginning of the run.
	 */
	int32_t		done;
} hopper_stint;

/*
 * create, add_config*, plan_data, wanted_state* and add_state*, add_buffer*, start, next_event*,
 * result and take_*, free
 */
typedef struct hopper_run_api
{
	int			(*create) (const hopper_run_options *options, const hopper_data_desc *train,
						   const hopper_data_desc *valid /* or NULL */ , hopper_run **run,
						   hopper_error *error);
	/*
	 * A configuration that cannot be trained (memory, a state that does not fit) is recorded as
	 * failed, which is not an error of the call.
	 */
	int			(*add_config) (hopper_run *run, const hopper_config *config, hopper_error *error);
	/* Copies one packed buffer in; verifies its checksum and lengths. */
	int			(*add_buffer) (hopper_run *run, const hopper_buffer *buffer, hopper_error *error);
	/* Starts the workers (all signals blocked in them) and returns. */
	int			(*start) (hopper_run *run, hopper_error *error);
	/* 1 and the next event, or 0 where none waits. */
	int			(*next_event) (hopper_run *run, hopper_event *event);
	/*
	 * Takes up to `n` visits that ended, in the order of their ends; returns how many. The event
	 * descriptor is written to when many wait, not for each.
	 */
	int32_t		(*next_visits) (hopper_run *run, hopper_visit *visits, int32_t n);
	/* Asks the workers to stop at the next batch; returns at once. */
	void		(*cancel) (hopper_run *run);
	int			(*result) (hopper_run *run, int32_t mst_key, hopper_model_result *result,
						   hopper_error *error);
	void		(*get_info) (hopper_run *run, hopper_run_info *info);
	/* Cancels, joins the workers, releases all memory. NULL is allowed. */
	void		(*free) (void *run);

	/*
	 * Data above the memory limit. plan_data comes after the last add_config and before the first
	 * buffer; a run without it is resident. Where the plan is not resident, nothing is pushed
	 * before the start: each HOPPER_EVENT_LOAD asks for one partition, whose buffers are then
	 * pushed in their order, and end_load tells that these were all (HOPPER_CORRUPT where rows are
	 * missing, HOPPER_NOT_READY where they are not those of an earlier reading).
	 * HOPPER_OUT_OF_MEMORY where not even the largest partition fits beside the smallest
	 * configuration.
	 */
	int			(*plan_data) (hopper_run *run, hopper_data_plan *plan, hopper_error *error);
	int			(*end_load) (hopper_run *run, int32_t split, int32_t partition,
							 hopper_error *error);

	/*
	 * States and results, piece by piece.
	 *
	 * 1: the stored state of *mst_key is to come next, by add_state in pieces of any size; 0: of
	 * nobody. To be asked after plan_data and before the data, until it says 0: each state
	 * comes once then, to be checked (HOPPER_CORRUPT, HOPPER_NOT_READY: another numerics class),
	 * and again after a HOPPER_EVENT_STATE where the configuration had to wait.
	 */
	int			(*wanted_state) (hopper_run *run, int32_t *mst_key);
	int			(*add_state) (hopper_run *run, int32_t mst_key, const uint8_t *bytes, size_t size,
							  hopper_error *error);
	/*
	 * The next bytes of the state image of a model that is done, `size` at most; *taken: how many,
	 * 0 behind the last. Then its weights in Keras' order, all n of them. Each can be had once: the
	 * run frees what was taken.
	 */
	int			(*take_state) (hopper_run *run, int32_t mst_key, uint8_t *bytes, size_t size,
							   size_t *taken, hopper_error *error);
	int			(*take_weights) (hopper_run *run, int32_t mst_key, float *weights, int64_t n,
								 hopper_error *error);

	/*
	 * A run that configurations enter and leave while it runs: stay_open after create, start,
	 * go_on*, close; or go_on* and close before plan_data, which then plans for those who train.
	 * add_config is allowed also after the start (HOPPER_LIMIT_EXCEEDED: it fits into memory_limit,
	 * but not beside what this run has planned); its strings may go afterwards, its weights not.
	 */
	int			(*stay_open) (hopper_run *run, hopper_error *error);
	/*
	 * The configuration, which was added or is done, trains on as if it had never paused, and is
	 * done again then (HOPPER_EVENT_MODEL_DONE, or _FAILED: again where it has failed). *must_take:
	 * 1: nothing has happened, for lack of room: the result of *take (which may be its own) is to
	 * be taken, and then this is to be called again. What was taken comes back by add_state.
	 */
	int			(*go_on) (hopper_run *run, const hopper_stint *stint, int32_t *must_take,
						  int32_t *take, hopper_error *error);
	/* Nothing more comes: the run ends when all are done. */
	int			(*close) (hopper_run *run, hopper_error *error);

	/*
	 * Checkpoints, of an open run. Every model that trains halts once, at the end of an iteration
	 * whose values have all been reported: HOPPER_EVENT_CHECKPOINT. The others train on meanwhile.
	 * Models that end before that do not halt; another call asks those again that have gone on.
	 * `all` 1: those too that have trained nothing since their last one, at once.
	 */
	int			(*halt_for_checkpoints) (hopper_run *run, int32_t all, hopper_error *error);
	/*
	 * `each` 1: from now on every model halts so after each of its iterations, those too that go on
	 * later; 0: no longer, but for those that are asked by now.
	 */
	int			(*halt_each) (hopper_run *run, int32_t each, hopper_error *error);
	/*
	 * From now on models that watch a metric, to stop early or to keep their best weights, are done
	 * with the iteration that they are in.
	 */
	int			(*end_iterations) (hopper_run *run, hopper_error *error);
	/*
	 * Of a model that has halted, or is done: the next bytes of its state image, `size` at most;
	 * *taken: how many, 0 behind the last, after which result() has its digest. The model keeps it.
	 */
	int			(*copy_state) (hopper_run *run, int32_t mst_key, uint8_t *bytes, size_t size,
							   size_t *taken, hopper_error *error);
	/*
	 * Of a model that has halted: the weights that it would deliver now, in Keras' order, all n of
	 * them.
	 */
	int			(*copy_weights) (hopper_run *run, int32_t mst_key, float *weights, int64_t n,
								 hopper_error *error);
	/* The model that has halted is done after `more` iterations, at least one. */
	int			(*set_iterations) (hopper_run *run, int32_t mst_key, int32_t more,
								   hopper_error *error);
	/* The model that has halted goes on. */
	int			(*release) (hopper_run *run, int32_t mst_key, hopper_error *error);

	/*
	 * Of a run that is not yet started, of threads: its workers and those of `with` work in turns,
	 * at most as many at once as `with` has.
	 */
	int			(*take_turns) (hopper_run *run, const hopper_run *with, hopper_error *error);
} hopper_run_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_RUN_H */
