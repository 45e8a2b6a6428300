#pragma once

#include <ATen/core/Tensor.h>

namespace hopper {

// The mean over all axes but the batch, of numbers or of true and false. (loss.cpp)
at::Tensor MeanPerExample(const at::Tensor& x);

}  // namespace hopper
