// Shapes of tensors: sizes of the axes in Keras' order (channels last), without the batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hopper {

using Shape = std::vector<int64_t>;

int64_t ElementCount(const Shape& shape);   // 1 for a scalar
std::string ShapeText(const Shape& shape);  // "28x28x1"; "scalar" for rank 0

}  // namespace hopper
