// How Keras' axes of a weight lie over its floats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/layer.h"

namespace hopper {

// Strides of the axes of weight.shape.
inline std::vector<int64_t> WeightStrides(const WeightSpec& weight) {
  const int rank = static_cast<int>(weight.shape.size());
  std::vector<int64_t> strides(rank);
  std::vector<int> order(rank);  // axes from the outermost in memory to the innermost
  for (int i = 0; i < rank; ++i) order[i] = i;
  if (weight.storage == WeightStorage::kConv) {
    // [k..., in, out] lies as [out, k..., in]
    std::rotate(order.begin(), order.end() - 1, order.end());
  }
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    strides[order[i]] = stride;
    stride *= weight.shape[order[i]];
  }
  return strides;
}

}  // namespace hopper
