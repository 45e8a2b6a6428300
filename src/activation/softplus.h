// Smooth rectifiers, and softsign.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Softplus : AnyActivation {
  static ActivationType Type() { return Named({"softplus"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Max(V{}, x) + M::Log1p(M::Exp(-M::Abs(x)));
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * -M::Expm1(-y);
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return softplus(x);
  }
};

// (x + sqrt(x^2 + 4)) / 2: Keras' b is 4
struct Squareplus : AnyActivation {
  static ActivationType Type() { return Named({"squareplus"}); }
  struct Form : FormOfResult {
    // Below 0 the other root, which does not cancel.
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      const V root = M::Sqrt(x * x + 4.0F);
      return x < 0.0F ? 2.0F / (root - x) : (x + root) * 0.5F;
    }
    // x = y - 1 / y and sqrt(x^2 + 4) = y + 1 / y
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * (y / (y + 1.0F / y));
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return mul(add(x, sqrt(add(square(x), 4.0))), 0.5);
  }
};

// 0, (x + 1)^2 / 4 from -1 to 1, x
struct SparsePlus : AnyActivation {
  static ActivationType Type() { return Named({"sparse_plus"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      const V part = M::Max(V{}, x + 1.0F);
      return x > 1.0F ? x : part * part * 0.25F;
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * M::Min(M::Set(1.0F), M::Sqrt(y));
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return where(gt(x, 1.0), x, mul(square(relu(add(clamp_max(x, 1.0), 1.0))), 0.25));
  }
};

struct Softsign : AnyActivation {
  static ActivationType Type() { return Named({"softsign"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return x / (M::Abs(x) + 1.0F);
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * ((1.0F - M::Abs(y)) * (1.0F - M::Abs(y)));
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return div(x, add(abs(x), 1.0));
  }
};

}  // namespace activations
}  // namespace hopper
