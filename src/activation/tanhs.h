// tanh and its kin.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Tanh : AnyActivation {
  static ActivationType Type() { return Named({"tanh"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Tanh(x);
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * (1.0F - y * y);
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return tanh(x);
  }
  static constexpr bool kInPlace = true;
  template <typename T>
  static T InPlace(const ActivationSpec& /*spec*/, T x) {
    return tanh_(x);
  }
};

struct HardTanh : AnyActivation {
  static ActivationType Type() { return Named({"hard_tanh"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Min(M::Set(1.0F), M::Max(M::Set(-1.0F), x));
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return M::Abs(y) < 1.0F ? d : V{};
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardtanh(x);
  }
};

// x - tanh(x)
struct TanhShrink : AnyActivation {
  static ActivationType Type() { return Named({"tanh_shrink"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      const V t = M::Tanh(x);
      *derivative = t * t;
      return x - t;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return sub(x, tanh(x));
  }
};

}  // namespace activations
}  // namespace hopper
