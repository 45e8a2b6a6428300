/*
 * engine.h
 *		What trains, evaluates and predicts. Both libraries have one: libhopper_core.so's computes
 *		by planned steps and loops alone, libhopper_torch.so's also what only libtorch computes.
 */
#ifndef MODEL_HOPPER_ENGINE_H
#define MODEL_HOPPER_ENGINE_H

#include "model_hopper/calibration.h"
#include "model_hopper/ensemble.h"
#include "model_hopper/evaluate.h"
#include "model_hopper/forecast.h"
#include "model_hopper/group.h"
#include "model_hopper/predict.h"
#include "model_hopper/run.h"

/* A table for each kind of handle. A handle is that engine's which made it. */
typedef struct hopper_engine_api
{
	hopper_run_api run;
	hopper_group_api group;
	hopper_evaluation_api evaluation;
	hopper_predictor_api predictor;
	hopper_explain_api explain;
	hopper_ensemble_api ensemble;
	hopper_calibration_api calibration;
	/*
	 * Whether a run on this machine can have that precision: HOPPER_INVALID_PARAMETER for an
	 * unknown name, HOPPER_NOT_SUPPORTED for one that the device does not have. *emulated: 1 where
	 * the device has no instructions for it. *gain: how many times as fast as in fp32 this
	 * processor makes a matrix product, as measured once a process; 1 on GPUs.
	 */
	int			(*check_precision) (const char *precision, int32_t on_gpu, int32_t *emulated,
									double *gain, hopper_error *error);
} hopper_engine_api;

#endif							/* MODEL_HOPPER_ENGINE_H */
