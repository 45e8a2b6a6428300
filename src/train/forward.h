// Prediction: a model's outputs for examples that come as packed bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "data/dataset.h"
#include "model/network/network.h"
#include "model/network/step_plan.h"

namespace hopper {

// One a thread; `flat` (spec().flat_size floats) and `data` outlive it.
class ForwardPass {
 public:
  // For `rows` examples at a time at most. `linear` as ForwardContext::linear.
  ForwardPass(std::shared_ptr<const Network> network, const DataDesc& data, const float* flat,
              int64_t rows, uint64_t linear = 0);

  // Bytes that one takes.
  static int64_t Bytes(const Network& network, const DataDesc& data, int64_t rows);

  // Outputs of `n` examples in batches of one fixed size, n * output elements floats.
  void Run(const void* x, int64_t n, float* outputs);

 private:
  std::shared_ptr<const Network> network_;
  const DataDesc& data_;
  int64_t batch_;
  uint64_t linear_;
  std::vector<at::Tensor> weights_;
  at::Tensor input_;
  float* flat_;  // only read
  bool planned_;
  std::unique_ptr<StepPlan> full_;
  std::unique_ptr<StepPlan> last_;  // of the latest batch that was not full
  int64_t last_size_ = 0;
};

}  // namespace hopper
