// Shapes of tensors: sizes of the axes in Keras' order (channels last), without the batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hopper {

using Shape = std::vector<int64_t>;

// 1 for a scalar; the largest int64_t where the product does not fit.
int64_t ElementCount(const Shape& shape);
std::string ShapeText(const Shape& shape);  // "28x28x1"; "scalar" for rank 0

}  // namespace hopper
