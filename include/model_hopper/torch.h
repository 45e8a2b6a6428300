/*
 * torch.h
 *		libhopper_torch.so: training, evaluation, prediction, with libtorch.
 */
#ifndef MODEL_HOPPER_TORCH_H
#define MODEL_HOPPER_TORCH_H

#include <stdint.h>

#include "model_hopper/basics.h"
#include "model_hopper/calibration.h"
#include "model_hopper/ensemble.h"
#include "model_hopper/evaluate.h"
#include "model_hopper/forecast.h"
#include "model_hopper/group.h"
#include "model_hopper/predict.h"
#include "model_hopper/readings.h"
#include "model_hopper/run.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct hopper_torch_api
{
	int32_t		version;		/* HOPPER_API_VERSION */
	int32_t		size;			/* sizeof(hopper_torch_api) */

	void		(*rows_free) (void *rows);

	/* As libhopper_core.so's; for the thread that calls it. Its own threads have flags. */
	void		(*ask_for_cancel) (int (*question) (void));

	/* What this library reads configurations into: its own store, or the one that it was given. */
	int			(*readings) (hopper_readings *readings, hopper_error *error);
	/*
	 * From now on what libhopper_core.so has read is not read again, and the other way round. Once
	 * a process, before anything else; 0 where that library is of another build: then each reads
	 * for itself.
	 */
	int			(*share_readings) (const hopper_readings *readings);

	/* name, value: libtorch, CPU capability, threads, CUDA ... */
	int			(*build_info) (hopper_rows **rows, hopper_error *error);
	/* gpu_configuration(): host, name, index, memory_mb, capability; no rows without a GPU */
	int			(*gpus) (hopper_rows **rows, hopper_error *error);

	/*
	 * Whether a run on this machine can have that precision: HOPPER_INVALID_PARAMETER for an
	 * unknown name, HOPPER_NOT_SUPPORTED for one that the device does not have. *emulated: 1 where
	 * the device has no instructions for it. *gain: how many times as fast as in fp32 this
	 * processor makes a matrix product, as measured once a process; 1 on GPUs.
	 */
	int			(*check_precision) (const char *precision, int32_t on_gpu, int32_t *emulated,
									double *gain, hopper_error *error);

	/* one table for each kind of handle */
	hopper_run_api run;
	hopper_group_api group;
	hopper_evaluation_api evaluation;
	hopper_predictor_api predictor;
	hopper_explain_api explain;
	hopper_ensemble_api ensemble;
	hopper_calibration_api calibration;
} hopper_torch_api;

/* hopper_torch_api_get(); NULL where the caller's version is another one. */
typedef const hopper_torch_api *(*hopper_torch_api_get_fn) (int32_t version);

#ifdef __cplusplus
}
#endif

#endif							/* MODEL_HOPPER_TORCH_H */
