// What an activation is to the layers that end in one. Its tensors: model/network/activate.h; its
// planned forms: model/planned/planned_activation.h.
#pragma once

#include "model/layer_config.h"

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

// False where the activation is to be left out because the loss wants logits (`linear`).
inline bool AppliesActivation(const ActivationSpec& activation, bool linear) {
  if (activation.kind == Activation::kLinear) return false;
  return !(linear && LogitActivation(activation) != Activation::kLinear);
}

// True where each output element depends on its own input element only.
inline bool ActsByElement(const ActivationSpec& activation) {
  return TypeOf(activation.kind).by_element;
}

}  // namespace hopper
