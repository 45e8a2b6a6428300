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

/* One output of a model. */
typedef struct hopper_output_link
{
	int32_t		link;			/* hopper_link */
	int64_t		width;			/* so many neighbours belong together */
	int64_t		first;			/* in a row of all outputs */
	int64_t		count;			/* values there */
	int32_t		of_classes;		/* 1: by its loss its values are of classes */
} hopper_output_link;

typedef struct hopper_model_info
{
	int64_t		n_parameters;	/* floats in get_weights(): trainable or not */
	int64_t		flops;			/* forward, one example; a multiply-add is two */
} hopper_model_info;

#endif							/* MODEL_HOPPER_MODEL_H */
