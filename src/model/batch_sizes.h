// Sizes of tensors of several examples.
#pragma once

#include <cstdint>
#include <vector>

#include "model/shape.h"

namespace hopper {

// The sizes of a batch of so many tensors of this shape.
inline std::vector<int64_t> WithBatch(int64_t batch, const Shape& shape) {
  std::vector<int64_t> sizes{batch};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

}  // namespace hopper
