// Parts of libhopper_torch.so's table, one for each kind of handle.
#pragma once

#include "model_hopper/torch.h"

namespace hopper {

void SetRunFunctions(hopper_run_api* api);
void SetGroupFunctions(hopper_group_api* api);
void SetEvaluationFunctions(hopper_evaluation_api* api);
void SetEnsembleFunctions(hopper_ensemble_api* api);
void SetCalibrationFunctions(hopper_calibration_api* api);
void SetExplainFunctions(hopper_explain_api* api);

}  // namespace hopper
