/*
 * course.h
 *		How data and models of a run on segments lie.
 */
#ifndef MODEL_HOPPER_COURSE_H
#define MODEL_HOPPER_COURSE_H

#include <stdint.h>

#include "model_hopper/training.h"

/* How data and models of a run on segments lie. */
typedef struct hopper_course_data
{
	const hopper_run_options *options;
	int32_t		n_partitions;
	const int32_t *train_keys;	/* the segment of each partition */
	int32_t		n_valid;		/* 0: no validation */
	const int32_t *valid_keys;
	int32_t		n_models;		/* that train on */
	const int32_t *mst_keys;
	const int32_t *waits;		/* see waits_for_metrics */
} hopper_course_data;

#endif							/* MODEL_HOPPER_COURSE_H */
