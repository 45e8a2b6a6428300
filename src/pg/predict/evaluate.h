/*
 * evaluate.h
 *		Loss and metrics of a trained model on a packed table.
 */
#ifndef HOPPER_EVALUATE_H
#define HOPPER_EVALUATE_H

#include "pg/train/outputs.h"
#include "pg/codec/packed.h"

/*
 * The core's threads evaluate what the main thread gives them, buffer by buffer, in the order of
 * the partitions (predict/evaluation.c). It ends with the statement.
 */
typedef struct hopper_evaluating
{
	const hopper_evaluation_api *api;
	hopper_evaluation *evaluation;
	hopper_guard *guard;
	int			event_fd;
	long		longest_wait;	/* ms between two looks at it; -1: any */
	int32		partition;		/* that the last buffer was of; -1: none came */
} hopper_evaluating;

/* `weights`: of `config`, which has their number alone; NULL: it has what it needs. */
extern void hopper_evaluation_open(hopper_evaluating *run, const hopper_config *config,
								   const hopper_floats *weights, const hopper_data_desc *desc,
								   int threads, long longest_wait);
/* Waits until the partition has room: the threads drop what they have evaluated. */
extern void hopper_evaluation_wait(const hopper_evaluating *run, int32 partition);
extern void hopper_evaluation_add(hopper_evaluating *run, const hopper_buffer *buffer);
extern void hopper_evaluation_close(hopper_evaluating *run);

/* --- the table that says which classes were taken for which (predict/evaluation.c) --- */

/* ERROR 22023 where the model does not tell classes apart. */
extern void hopper_require_classes(const hopper_trained *model, const hopper_name *shown);

/*
 * Fills `table` with a row a class: `counts` holds n x n numbers of examples, a row a label and a
 * column a prediction.
 */
extern void hopper_write_confusion(const hopper_name *table, const hopper_trained *model,
								   const int64_t *counts, int n);

#endif							/* HOPPER_EVALUATE_H */
