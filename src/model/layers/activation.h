// What the layers that apply an activation share.
#pragma once

#include "model/layer.h"

#ifdef HOPPER_TORCH
#include "model/network.h"
#endif

namespace hopper {

// kSigmoid or kSoftmax (over the last axis) where the activation is one of these, whose inputs a
// crossentropy can use as logits; otherwise kLinear.
inline Activation LogitActivation(const ActivationSpec& activation) {
  if (activation.kind == Activation::kSigmoid) return Activation::kSigmoid;
  if (activation.kind == Activation::kSoftmax && activation.axis == -1) {
    return Activation::kSoftmax;
  }
  return Activation::kLinear;
}

#ifdef HOPPER_TORCH
// False where the activation is to be left out because the loss wants logits.
inline bool AppliesActivation(const ActivationSpec& activation, bool linear) {
  if (activation.kind == Activation::kLinear) return false;
  return !(linear && LogitActivation(activation) != Activation::kLinear);
}
inline bool AppliesActivation(const ActivationSpec& activation, const ForwardContext& context) {
  return AppliesActivation(activation, context.linear);
}

// True where each output element depends on its own input element only.
inline bool ActsByElement(const ActivationSpec& activation) {
  return activation.kind != Activation::kSoftmax && activation.kind != Activation::kLogSoftmax &&
         activation.kind != Activation::kSparsemax && activation.kind != Activation::kGlu;
}

// Activate() for a tensor that nobody else uses: works in place where autograd needs only the
// result. `x` must not be a view, for which autograd's bookkeeping is expensive.
at::Tensor ActivateOwned(at::Tensor x, const ActivationSpec& activation);
#endif

}  // namespace hopper
