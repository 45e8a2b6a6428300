// 0 within a threshold, which is 0.5.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

constexpr float kShrinkThreshold = 0.5F;

struct ShrinkForm : FormOfResult {
  template <typename M, typename V>
  HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
    return y == 0.0F ? V{} : d;
  }
};

struct HardShrink : AnyActivation {
  static ActivationType Type() { return Named({"hard_shrink"}); }
  struct Form : ShrinkForm {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Abs(x) <= kShrinkThreshold ? V{} : x;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardshrink(x, kShrinkThreshold);
  }
};

struct SoftShrink : AnyActivation {
  static ActivationType Type() { return Named({"soft_shrink"}); }
  struct Form : ShrinkForm {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Abs(x) <= kShrinkThreshold
                 ? V{}
                 : (x < 0.0F ? x + kShrinkThreshold : x - kShrinkThreshold);
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return softshrink(x, kShrinkThreshold);
  }
};

}  // namespace activations
}  // namespace hopper
