/*
 * model.h
 *		What an architecture comes to.
 */
#ifndef MODEL_HOPPER_MODEL_H
#define MODEL_HOPPER_MODEL_H

#include <stdint.h>

#include "model_hopper/data.h"

/* What makes probabilities of outputs. */
typedef enum hopper_link
{
	HOPPER_LINK_NONE = 0,		/* they are probabilities, or nothing is known */
	HOPPER_LINK_CLIP = 1,		/* the loss cuts off what is outside of 0 to 1 */
	HOPPER_LINK_SIGMOID = 2,	/* they are logits, each on its own */
	HOPPER_LINK_SOFTMAX = 3		/* they are logits of classes that exclude each other */
} hopper_link;

/* What the values of an output stand for. */
typedef enum hopper_meaning
{
	HOPPER_MEANS_VALUES = 0,	/* numbers */
	HOPPER_MEANS_CLASSES = 1,	/* classes of the example, which are ranked */
	HOPPER_MEANS_CLASS_EACH = 2 /* a class at each step or pixel, by the last axis */
} hopper_meaning;

/* One output of a model. */
typedef struct hopper_output_link
{
	int32_t		link;			/* hopper_link */
	int64_t		width;			/* so many neighbours belong together */
	int64_t		first;			/* in a row of all outputs */
	int64_t		count;			/* values there */
	int32_t		meaning;		/* hopper_meaning */
	int32_t		rank;			/* of what is predicted: values, or of a class each, classes */
	int64_t		shape[HOPPER_MAX_RANK];
} hopper_output_link;

typedef struct hopper_model_info
{
	int64_t		n_parameters;	/* floats in get_weights(): trainable or not */
	int64_t		flops;			/* forward, one example; a multiply-add is two */
} hopper_model_info;

#endif							/* MODEL_HOPPER_MODEL_H */
