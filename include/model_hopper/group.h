/*
 * group.h
 *		Training in several processes, each with some of the partitions.
 */
#ifndef MODEL_HOPPER_GROUP_H
#define MODEL_HOPPER_GROUP_H

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

/* A process' share of a run whose models hop between processes. */
typedef struct hopper_group hopper_group;

/* What an envelope that was not made by next_part() begins with: one byte. */
#define HOPPER_ENVELOPE_NEW 'N' /* initial weights by the seed; nothing follows */
#define HOPPER_ENVELOPE_WEIGHTS 'W' /* floats in Keras' order follow */
#define HOPPER_ENVELOPE_STATE 'S'	/* a state image follows */

/* One outgoing part of a model. Memory is valid until the next call of next_part. */
typedef struct hopper_group_part
{
	int32_t		mst_key;
	int32_t		next_key;		/* the segment that it has to visit next */
	int32_t		part;			/* from 0; -1: the weights of a finished model */
	int32_t		n_parts;		/* without the weights */
	int32_t		done;			/* 1: its iteration is complete, or it has failed */
	const uint8_t *bytes;
	size_t		size;
	/* with part 0 only */
	int32_t		n_events;
	const hopper_event *events;
	const hopper_model_result *result;	/* after its end, else NULL; its pointers are NULL */
	int32_t		n_visits;
	const hopper_visit *visits; /* of this iteration so far, and of those of this start */
} hopper_group_part;

/*
 * create, enter*, plan_data, add_buffer*, check_data, then again and again add_part*, start, poll*,
 * next_part*; later keep, enter*, plan_data again, while it rests. A model is an envelope of one or
 * several parts that visits the processes in the order of its ring.
 *
 * Models for which there is no room beside the others wait outside. While poll says 0 next_part
 * gives back those that are through, where others wait for their room, and next_arrival asks for
 * the next one. A model that fits alone is trained, whoever else is there.
 */
typedef struct hopper_group_api
{
	/*
	 * `key` names this process, train_keys and valid_keys (NULL without validation) the process of
	 * each partition.
	 */
	int			(*create) (const hopper_run_options *options, const hopper_data_desc *train,
						   const hopper_data_desc *valid, const int32_t *train_keys,
						   const int32_t *valid_keys, int32_t key, hopper_group **group,
						   hopper_error *error);
	/* Before plan_data: others enter later, and may meet those that are there on any process. */
	int			(*stay_open) (hopper_group *group, hopper_error *error);
	/*
	 * What comes of the configuration trains so many iterations more and goes out as a result
	 * then; `done`: how many of the same stint the state that comes has behind it.
	 * Weights and state are not looked at: they come in envelopes.
	 */
	int			(*enter) (hopper_group *group, const hopper_config *config, int32_t iterations,
						  int32_t done, hopper_error *error);
	/* Forgets all configurations but these. */
	int			(*keep) (hopper_group *group, const int32_t *mst_keys, int32_t n,
						 hopper_error *error);
	int			(*add_buffer) (hopper_group *group, const hopper_buffer *buffer,
							   hopper_error *error);
	/* Fails where partitions of this process lack rows or do not fit into memory. */
	int			(*check_data) (hopper_group *group, hopper_error *error);
	/*
	 * Copies a part in, in any order; an envelope is complete with its n_parts. *later: 1: there
	 * is no room for the model now; the part was not copied, and is to be brought by this function
	 * when next_arrival asks for it.
	 */
	int			(*add_part) (hopper_group *group, int32_t mst_key, int32_t part, int32_t n_parts,
							 const uint8_t *bytes, size_t size, int32_t *later,
							 hopper_error *error);
	/*
	 * Trains what came, each model as far as this process' partitions allow, until its iteration
	 * is complete with its evaluations. Where all data are here and stay, and nobody waits for
	 * room, it begins others until so many milliseconds are over. `halts`: who is between two
	 * iterations, or gets there, goes out as a result whose status is HOPPER_MODEL_TRAINING.
	 */
	int			(*start) (hopper_group *group, int32_t halts, int32_t milliseconds,
						  hopper_error *error);
	/* 1: done; 0: not yet; -1: *error */
	int			(*poll) (hopper_group *group, hopper_error *error);
	/*
	 * After start, until poll says 1: 1: all parts of *mst_key are to be brought now; 0: none, look
	 * again when the eventfd wakes or a part went out.
	 */
	int			(*next_arrival) (hopper_group *group, int32_t *mst_key);
	/* 1 and the next part; 0: none is left, or none for now where poll says 0; -1: *error */
	int			(*next_part) (hopper_group *group, hopper_group_part *part, hopper_error *error);
	/* Cancels, joins the workers, releases all memory. NULL is allowed. */
	void		(*free) (hopper_group *group);
	/* bytes_data, numerics_class, what was read, and bytes_models, the most at a time; else zero */
	void		(*get_info) (const hopper_group *group, hopper_run_info *info);

	/*
	 * As hopper_run_api's, but the plan is about the partitions of this process. Again: it fails
	 * with HOPPER_LIMIT_EXCEEDED where those that have entered do not fit beside the data as these
	 * lie.
	 */
	int			(*plan_data) (hopper_group *group, hopper_data_plan *plan, hopper_error *error);
	/* 1: *partition of *split has to be read; 0: none, look again when the eventfd wakes */
	int			(*next_load) (hopper_group *group, int32_t *split, int32_t *partition);
	int			(*end_load) (hopper_group *group, int32_t split, int32_t partition,
							 hopper_error *error);
} hopper_group_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_GROUP_H */
