// Prediction: a model's outputs for examples that come as packed bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "base/worker_memory.h"
#include "data/dataset.h"
#include "model/planned/step_plan.h"

namespace hopper {

// One a thread; `flat` (spec().flat_size floats) and `data` outlive it.
class ForwardPass {
 public:
  // For `rows` examples at a time at most. `linear` as PlanOptions::linear.
  ForwardPass(std::shared_ptr<const PlannedNetwork> network, const DataDesc& data,
              const float* flat, int64_t rows, uint64_t linear = 0);

  // Bytes that one takes.
  static int64_t Bytes(const PlannedNetwork& network, const DataDesc& data, int64_t rows);

  // Outputs of `n` examples in batches of one fixed size, n * output elements floats.
  void Run(const void* x, int64_t n, float* outputs);

 private:
  std::shared_ptr<const PlannedNetwork> network_;
  const DataDesc& data_;
  int64_t batch_;
  uint64_t linear_;
  WorkerArray input_;
  float* flat_;  // only read
  std::unique_ptr<StepPlan> full_;
  std::unique_ptr<StepPlan> last_;  // of the latest batch that was not full
  int64_t last_size_ = 0;
};

}  // namespace hopper
