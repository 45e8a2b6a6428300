// Predictors at the C boundary, which both libraries make.
#pragma once

#include "model_hopper/predict.h"
#include "predict/backend.h"

namespace hopper {

// All but `create`.
void SetPredictorFunctions(hopper_predictor_api* api);
// hopper_predictor_api::create by this backend, which is there for ever.
int CreatePredictor(const PredictionBackend& backend, const char* model_arch,
                    size_t model_arch_size, int64_t n_weights, const hopper_data_desc* data,
                    const char* layer, int32_t threads, int64_t memory_limit, int32_t event_fd,
                    hopper_predictor** predictor, int32_t* n_outputs, hopper_error* error);

// The library's backend of this class.
template <typename Backend>
const Backend& The() {
  static const Backend backend;
  return backend;
}

}  // namespace hopper
