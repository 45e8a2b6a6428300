#pragma once

#include <ATen/core/Tensor.h>

namespace hopper {

// [lanes, batch, ...] as one batch of all lanes, [lanes * batch, ...]. (lanes.cpp)
at::Tensor FoldLanes(const at::Tensor& x);

}  // namespace hopper
