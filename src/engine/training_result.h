// What became of a model of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/model_status.h"
#include "engine/spent.h"
#include "state/state.h"
#include "train/trainer.h"

namespace hopper {

struct EndedStopping {
  bool stopped = false;  // early stopping ended it
  // By what early stopping watches; 0: nothing is watched.
  int32_t best_iteration = 0;
  int32_t kept_iteration = 0;  // whose weights are delivered: the last one's, or the best one's
  double learning_rate = 0.0;  // the base rate of its next iteration
  bool mixed = false;          // a warm start went on from another numerics class
};
EndedStopping StoppingOf(const Trainer& trainer, const ModelState& state);

struct TrainingResult {
  ModelStatus status = ModelStatus::kTraining;
  int32_t iterations = 0;  // finished, over warm starts
  Spent spent;
  int64_t n_parameters = 0;
  std::string loss_type;
  std::vector<std::string> metrics_type;
  Problem failure;  // kFailed
  // kDone:
  int64_t n_weights = 0;
  size_t state_size = 0;
  std::string digest;  // of the state image, once all of it was taken
  EndedStopping stopping;
};

// The iteration of this run whose weights the model delivers; below 1 one of an earlier run.
// `Model`: Run's, or a group's traveller.
template <typename Model>
int32_t DeliveredHere(const Model& model) {
  return static_cast<int32_t>(model.trainer->DeliveredIteration(model.state) -
                              model.total_iterations + model.course.iterations);
}

// What is known of any model, also of one that trains on or has failed; the rest is zero.
template <typename Model>
TrainingResult ResultOf(const Model& model) {
  TrainingResult result;
  result.status = model.status;
  result.iterations = static_cast<int32_t>(model.total_iterations);
  result.spent = model.spent;
  if (model.trainer != nullptr) {
    const CompileParams& compile = model.trainer->compile();
    result.n_parameters = model.trainer->network().spec().parameters;
    result.loss_type = compile.loss_name;
    for (const MetricParams& metric : compile.metrics) result.metrics_type.push_back(metric.name);
  }
  if (model.status == ModelStatus::kFailed) result.failure = model.failure;
  return result;
}

}  // namespace hopper
