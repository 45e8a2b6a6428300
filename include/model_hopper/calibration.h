/*
 * calibration.h
 *		The temperature that makes a classifier's probabilities as sure as they are right.
 */
#ifndef MODEL_HOPPER_CALIBRATION_H
#define MODEL_HOPPER_CALIBRATION_H

#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_calibration hopper_calibration;

typedef struct hopper_calibrated
{
	double		temperature;
	/* the mean log-loss and the expected calibration error, with the temperature and without */
	double		loss;
	double		loss_before;
	double		error;
	double		error_before;
	/*
	 * The weights of the layer that makes the logits, in Keras' order, which are to be divided by
	 * the temperature. None: architecture() says it.
	 */
	int64_t		first_weight;
	int64_t		n_weights;
} hopper_calibrated;

/* create, add_buffer*, find, free: on the thread that calls; cancel is looked at */
typedef struct hopper_calibration_api
{
	/*
	 * `config` needs no weights; an error where such a model has no temperature. Its outputs take
	 * memory_limit bytes at most.
	 */
	int			(*create) (const hopper_config *config, const hopper_data_desc *data,
						   int64_t memory_limit, hopper_calibration **calibration,
						   hopper_error *error);
	/* Validation data, all of them before find(). */
	int			(*add_buffer) (hopper_calibration *calibration, const hopper_buffer *buffer,
							   hopper_error *error);
	/* `config` as before, with its weights. */
	int			(*find) (const hopper_calibration *calibration, const hopper_config *config,
						 hopper_calibrated *found, hopper_error *error);
	/*
	 * One cell: the architecture that gives the model a temperature where it is not in the weights,
	 * which stay as they are.
	 */
	int			(*architecture) (const hopper_calibration *calibration,
								 const hopper_config *config, double temperature,
								 hopper_rows **rows, hopper_error *error);
	void		(*free) (void *calibration);
} hopper_calibration_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_CALIBRATION_H */
