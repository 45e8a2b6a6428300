// Masks of sequences on tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/network/operator.h"

namespace hopper {

// Which steps of data input `input` count: bool [batch, time]; undefined where all do.
at::Tensor MaskOf(const ForwardContext& context, const std::vector<at::Tensor>& inputs,
                  size_t input = 0);

}  // namespace hopper
