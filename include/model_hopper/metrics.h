/*
 * metrics.h
 *		Metrics: their direction, and when they are taken of training data.
 */
#ifndef MODEL_HOPPER_METRICS_H
#define MODEL_HOPPER_METRICS_H

#include "model_hopper/limits.h"

/* Which values of a metric are the better ones. */
typedef enum hopper_direction
{
	HOPPER_SMALLER_IS_BETTER = -1,
	HOPPER_NO_DIRECTION = 0,	/* nobody can say: counts */
	HOPPER_LARGER_IS_BETTER = 1
} hopper_direction;

typedef enum hopper_training_metrics
{
	HOPPER_METRICS_RUNNING = 1, /* sums taken while the weights move, as Keras does */
	HOPPER_METRICS_FINAL = 2,	/* running, and one evaluation pass after the last iteration */
	HOPPER_METRICS_EVERY = 3	/* an evaluation pass at each metrics iteration, as MADlib does */
} hopper_training_metrics;

#endif							/* MODEL_HOPPER_METRICS_H */
