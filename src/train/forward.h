// Prediction: a model's outputs for examples that come as packed bytes.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/aligned.h"
#include "data/dataset.h"
#include "model/network.h"

namespace hopper {

// One a thread; `flat` (spec().flat_size floats) and `data` outlive it.
class ForwardPass {
 public:
  ForwardPass(std::shared_ptr<const Network> network, const DataDesc& data, const float* flat);

  // Outputs of `n` examples in batches of one fixed size, n * output elements floats.
  void Run(const void* x, int64_t n, float* outputs);

 private:
  std::shared_ptr<const Network> network_;
  const DataDesc& data_;
  int64_t batch_;
  std::vector<at::Tensor> weights_;
  at::Tensor input_;
};

}  // namespace hopper
