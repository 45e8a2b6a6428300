#include "capi/predictor_api.h"

#include <string_view>

#include "capi/boundary.h"
#include "capi/structs.h"
#include "predict/predictor.h"

struct hopper_predictor : hopper::Predictor {
  using Predictor::Predictor;
};

namespace hopper {
namespace {

int PredictorAddWeights(hopper_predictor* predictor, const float* weights, int64_t n,
                        hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(predictor, weights);
    predictor->AddWeights(weights, n);
  });
}

int PredictorPlan(hopper_predictor* predictor, hopper_prediction_plan* plan, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(predictor, plan);
    PredictionPlan made{plan->rows, plan->batches, plan->bytes};
    predictor->Plan(&made);
    *plan = {made.rows, made.batches, made.bytes};
  });
}

int PredictorExpire(hopper_predictor* predictor, double seconds, int64_t* counter, int64_t bytes,
                    hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(predictor);
    predictor->ExpireAfter(seconds, counter, bytes);
  });
}

int PredictorTouch(hopper_predictor* predictor) { return static_cast<int>(predictor->Touch()); }

int PredictorRoom(hopper_predictor* predictor, void** x, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(predictor, x);
    *x = predictor->Room();
  });
}

int PredictorSubmit(hopper_predictor* predictor, const void* x, size_t x_size, int32_t n,
                    hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(predictor);
    predictor->Submit(x, x_size, n);
  });
}

int PredictorTake(hopper_predictor* predictor, const float** outputs, int32_t* n,
                  hopper_error* error) {
  return Ask(error, [&] {
    RequireAll(predictor, outputs, n);
    return predictor->Take(outputs, n);
  });
}

void PredictorFree(void* predictor) {
  Guard(nullptr, [&] { delete static_cast<hopper_predictor*>(predictor); });
}

}  // namespace

void SetPredictorFunctions(hopper_predictor_api* api) {
  api->add_weights = PredictorAddWeights;
  api->plan = PredictorPlan;
  api->expire = PredictorExpire;
  api->touch = PredictorTouch;
  api->room = PredictorRoom;
  api->submit = PredictorSubmit;
  api->take = PredictorTake;
  api->free = PredictorFree;
}

int CreatePredictor(const PredictionBackend& backend, const char* model_arch,
                    size_t model_arch_size, int64_t n_weights, const hopper_data_desc* data,
                    const char* layer, int32_t threads, int64_t memory_limit, int32_t event_fd,
                    hopper_predictor** predictor, int32_t* n_outputs, hopper_error* error) {
  return Guard(error, [&] {
    RequireAll(model_arch, data, predictor);
    DataDesc desc = FromC(*data);
    desc.Check();
    *predictor = new hopper_predictor(backend, std::string_view(model_arch, model_arch_size),
                                      n_weights, desc, threads, memory_limit, event_fd, layer);
    if (n_outputs != nullptr) *n_outputs = (*predictor)->n_outputs();
  });
}

}  // namespace hopper
