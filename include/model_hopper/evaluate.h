/*
 * evaluate.h
 *		Evaluation of one model over a packed table, in one process or in several.
 */
#ifndef MODEL_HOPPER_EVALUATE_H
#define MODEL_HOPPER_EVALUATE_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"
#include "model_hopper/events.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_evaluation hopper_evaluation;

/* create, add_weights*, add_buffer*, start, poll*, confusion, free */
typedef struct hopper_evaluation_api
{
	int			(*create) (const hopper_config *config, const hopper_data_desc *data,
						   int32_t threads, int32_t event_fd, hopper_evaluation **evaluation,
						   hopper_error *error);
	/* Where `config` has n_weights without weights: in pieces of any size, before the start. */
	int			(*add_weights) (hopper_evaluation *evaluation, const float *weights, int64_t n,
								hopper_error *error);
	int			(*add_buffer) (hopper_evaluation *evaluation, const hopper_buffer *buffer,
							   hopper_error *error);
	int			(*start) (hopper_evaluation *evaluation, hopper_error *error);
	/* 1: done, *event holds loss and metrics in their order; 0: not yet; -1: *error */
	int			(*poll) (hopper_evaluation *evaluation, hopper_event *event, hopper_error *error);
	void		(*free) (void *evaluation);

	/*
	 * Limits an evaluation before its start (HOPPER_OUT_OF_MEMORY where the model and one partition
	 * do not fit). It is then started first; buffers follow in the order of their partitions, each
	 * partition once room has answered 1 for it (0: wait for the eventfd; -1: *error). Partitions
	 * are dropped when they are evaluated.
	 */
	int			(*limit) (hopper_evaluation *evaluation, int64_t memory_limit, hopper_error *error);
	int			(*room) (hopper_evaluation *evaluation, int32_t partition, hopper_error *error);
	/*
	 * After poll has returned 1, with hopper_config.confusion: *counts points at *n_classes x
	 * *n_classes numbers of examples, a row a label and a column a prediction, valid until free.
	 */
	int			(*confusion) (hopper_evaluation *evaluation, const int64_t **counts,
							  int32_t *n_classes, hopper_error *error);

	/*
	 * In several processes, each with some of the partitions: choose comes before limit and the
	 * first buffer: only these partitions, ascending, come to this process. sums takes the place
	 * of poll: 1 and what total wants of this process, valid until the evaluation is freed; 0: not
	 * yet; -1: *error. total gives loss and metrics (and the confusion) of the sums of all
	 * processes, one behind another in any order; it needs neither data nor start (HOPPER_CORRUPT
	 * where a partition is missing).
	 */
	int			(*choose) (hopper_evaluation *evaluation, const int32_t *partitions, int32_t n,
						   hopper_error *error);
	int			(*sums) (hopper_evaluation *evaluation, const uint8_t **bytes, size_t *size,
						 hopper_error *error);
	int			(*total) (hopper_evaluation *evaluation, const uint8_t *bytes, size_t size,
						  hopper_event *event, hopper_error *error);
} hopper_evaluation_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_EVALUATE_H */
