// Tensors that are broadcast as Keras' merge layers and operations do.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

namespace hopper {

// Axes that one has less than another come after the batch, with size 1.
inline std::vector<at::Tensor> WithOneRank(const std::vector<at::Tensor>& inputs) {
  int64_t rank = 0;
  for (const at::Tensor& input : inputs) rank = std::max(rank, input.dim());
  std::vector<at::Tensor> all = inputs;
  for (at::Tensor& one : all) {
    while (one.dim() < rank) one = one.unsqueeze(1);
  }
  return all;
}

}  // namespace hopper
