// The identity.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Linear : AnyActivation {
  static ActivationType Type() { return Named({"linear"}); }
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return x;
  }
};

}  // namespace activations
}  // namespace hopper
