/*
 * predict.h
 *		Prediction: one model, forward only.
 */
#ifndef MODEL_HOPPER_PREDICT_H
#define MODEL_HOPPER_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/data.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_predictor hopper_predictor;

/* How a predictor keeps within its memory. */
typedef struct hopper_prediction_plan
{
	int32_t		rows;			/* examples in a batch */
	int32_t		batches;		/* that are submitted and not taken yet */
	int64_t		bytes;			/* what it all takes, weights included */
} hopper_prediction_plan;

/*
 * create, add_weights*, plan, submit* and take*, free: batches go in in order and come out in order
 */
typedef struct hopper_predictor_api
{
	/*
	 * `data` gives type and shape of the features and the normalizing constant; labels are not
	 * looked at. Outputs are the model's last layer's, one float32 a unit; a single sigmoid unit
	 * stays one value; of several outputs they lie one behind the other. `layer` (NULL: none): the
	 * output of this one's first call instead. Weights, batches and tensors together take at most
	 * memory_limit bytes.
	 */
	int			(*create) (const char *model_arch, size_t model_arch_size, int64_t n_weights,
						   const hopper_data_desc *data, const char *layer, int32_t threads,
						   int64_t memory_limit, int32_t event_fd, hopper_predictor **predictor,
						   int32_t *n_outputs, hopper_error *error);
	/* The weights in Keras' get_weights() order, in pieces of any size: n_weights floats in all. */
	int			(*add_weights) (hopper_predictor *predictor, const float *weights, int64_t n,
								hopper_error *error);
	/*
	 * `plan` comes with how many rows and batches are wanted and says how many there may be: as
	 * many or fewer, and at least one; HOPPER_OUT_OF_MEMORY where memory_limit has no room for
	 * that. Starts the threads, fewer where memory asks for it. What keeps to this plan does not
	 * fail for memory_limit, however fast it is computed.
	 */
	int			(*plan) (hopper_predictor *predictor, hopper_prediction_plan *plan,
						 hopper_error *error);
	/*
	 * From now on a predictor that is not used for so many seconds (0: never) frees its memory and
	 * ends its threads by itself; only free is left to do. It then takes `bytes` off
	 * *counter (NULL: of none), atomically, and does so when it is freed before.
	 */
	int			(*expire) (hopper_predictor *predictor, double seconds, int64_t *counter,
						   int64_t bytes, hopper_error *error);
	/* 1: it is there, and starts to wait anew; 0: it has expired. */
	int			(*touch) (hopper_predictor *predictor);
	/*
	 * *x: memory for the examples of the next batch, as many as were planned, until it is
	 * submitted.
	 */
	int			(*room) (hopper_predictor *predictor, void **x, hopper_error *error);
	/*
	 * Takes `n` examples: what lies in that memory, of others a copy. Computed by a worker, or at
	 * once by the caller where one example at a time was planned and that is quicker.
	 */
	int			(*submit) (hopper_predictor *predictor, const void *x, size_t x_size, int32_t n,
						   hopper_error *error);
	/*
	 * 1: *outputs points at *n x n_outputs floats of the oldest batch, valid until the next take;
	 * 0: not ready (or nothing was submitted); -1: *error.
	 */
	int			(*take) (hopper_predictor *predictor, const float **outputs, int32_t *n,
						 hopper_error *error);
	void		(*free) (void *predictor);
} hopper_predictor_api;

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_PREDICT_H */
