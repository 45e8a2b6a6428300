/*
 * ensemble.h
 *		Which trained models predict best together.
 */
#ifndef MODEL_HOPPER_ENSEMBLE_H
#define MODEL_HOPPER_ENSEMBLE_H

#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/config.h"
#include "model_hopper/data.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_ensemble hopper_ensemble;

/* A step of greedy selection: the model that it adds, and the value of all steps so far. */
typedef struct hopper_ensemble_step
{
	int32_t		model;			/* in the order of add_model() */
	double		value;
} hopper_ensemble_step;

/* create, add_buffer*, add_model*, select, free: on the thread that calls; cancel is looked at */
typedef struct hopper_ensemble_api
{
	/*
	 * `judge`: compile parameters, and an architecture with the models' outputs. `metric`: the
	 * place of one of its metrics, or -1: the loss. The models' outputs take memory_limit bytes at
	 * most.
	 */
	int			(*create) (const hopper_config *judge, const hopper_data_desc *data,
						   int32_t metric, int64_t memory_limit, hopper_ensemble **ensemble,
						   hopper_error *error);
	/* Validation data, all of them before the first model. */
	int			(*add_buffer) (hopper_ensemble *ensemble, const hopper_buffer *buffer,
							   hopper_error *error);
	/* Computes the outputs of a model, whose weights `config` has. */
	int			(*add_model) (hopper_ensemble *ensemble, const hopper_config *config,
							  hopper_error *error);
	/*
	 * Up to `steps` steps, of which the last one is the best; *n: how many. The first `initial`
	 * add the best models.
	 */
	int			(*select) (hopper_ensemble *ensemble, int32_t steps, int32_t initial,
						   hopper_ensemble_step *chosen, int32_t *n, hopper_error *error);
	void		(*free) (void *ensemble);
	/*
	 * A row with the Keras JSON of a model that adds up the members' outputs times their shares;
	 * its weights are the members', one behind the other.
	 */
	int			(*architecture) (const hopper_config *members, const double *shares, int32_t n,
								 const hopper_data_desc *data, hopper_rows **rows,
								 hopper_error *error);
} hopper_ensemble_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_ENSEMBLE_H */
