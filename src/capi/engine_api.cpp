#include "capi/engine_api.h"

#include "capi/boundary.h"
#include "params/precision.h"
#include "train/trainer.h"

namespace hopper {
namespace {

int CheckPrecision(const char* precision, int32_t on_gpu, int32_t* emulated, double* gain,
                   hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(precision, emulated, gain);
    const Precision parsed = ParsePrecision(precision, on_gpu != 0);
    *emulated = on_gpu == 0 && IsEmulated(parsed) ? 1 : 0;
    *gain = on_gpu == 0 ? Gain(parsed) : 1.0;
  });
}

}  // namespace

hopper_engine_api EngineFunctions() {
  hopper_engine_api api = {};
  SetRunFunctions(&api.run);
  SetGroupFunctions(&api.group);
  SetEvaluationFunctions(&api.evaluation);
  SetPredictorFunctions(&api.predictor);
  SetExplainFunctions(&api.explain);
  SetEnsembleFunctions(&api.ensemble);
  SetCalibrationFunctions(&api.calibration);
  api.check_precision = CheckPrecision;
  return api;
}

}  // namespace hopper
