// Activations on tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/activation.h"

namespace hopper {

// Applies an activation (keras.activations.*).
at::Tensor Activate(const at::Tensor& x, const ActivationSpec& activation);

// Activate() for a tensor that nobody else uses: works in place where autograd needs only the
// result. `x` must not be a view, for which autograd's bookkeeping is expensive.
at::Tensor ActivateOwned(at::Tensor x, const ActivationSpec& activation);

}  // namespace hopper
