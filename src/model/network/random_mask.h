// Random numbers of a forward pass.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/network/operator.h"

namespace hopper {

// 0 with probability `rate`, otherwise 1 / (1 - rate): float32 of these sizes, on the device of
// `like`, drawn from the call's own stream. `before`: how many numbers of the stream other masks of
// the call take.
at::Tensor RandomMask(const ForwardContext& context, at::IntArrayRef sizes, double rate,
                      const at::Tensor& like, int64_t before = 0);

// Numbers in [0, 1) of these sizes, alike, on the device of `like`.
at::Tensor RandomUniform(const ForwardContext& context, at::IntArrayRef sizes,
                         const at::Tensor& like);

// Of the normal distribution, alike; takes two numbers of the stream for each.
at::Tensor RandomNormal(const ForwardContext& context, at::IntArrayRef sizes,
                        const at::Tensor& like);

}  // namespace hopper
