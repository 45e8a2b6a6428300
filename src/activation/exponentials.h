// The exponential function, and units that are exponential below 0.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Exponential : AnyActivation {
  static ActivationType Type() { return Named({"exponential"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Exp(x);
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * y;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return exp(x);
  }
};

struct EluForm : FormOfResult {
  template <typename M, typename V>
  HOPPER_FORM V Value(const ActivationNumbers& numbers, V x) {
    return x < 0.0F ? M::Expm1(x) * numbers.alpha : x;
  }
  template <typename M, typename V>
  HOPPER_FORM V Gradient(const ActivationNumbers& numbers, V y, V d) {
    return y > 0.0F ? d : d * (y + numbers.alpha);
  }
};

struct Elu : AnyActivation {
  static ActivationType Type() { return Named({"elu"}, /*alpha=*/1.0); }
  using Forms = FormList<EluForm>;
  static int Choose(const ActivationSpec& spec) { return spec.alpha >= 0.0 ? 0 : -1; }
  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    return elu(x, spec.alpha);
  }
};

// Of alpha 1, which is elu.
struct Celu : AnyActivation {
  static ActivationType Type() { return Named({"celu"}, /*alpha=*/1.0); }
  using Forms = FormList<EluForm>;
  static int Choose(const ActivationSpec& spec) { return spec.alpha == 1.0 ? 0 : -1; }
  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    return celu(x, spec.alpha);
  }
};

struct Selu : AnyActivation {
  static ActivationType Type() { return Named({"selu"}); }
  struct Form : FormOfResult {
    static constexpr float kScale = 1.0507009873554805F;
    static constexpr float kAlpha = 1.6732632423543772F;
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return x < 0.0F ? M::Expm1(x) * (kScale * kAlpha) : x * kScale;
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return y >= 0.0F ? d * kScale : d * (y + kScale * kAlpha);
    }
  };
  using Forms = FormList<Form>;
  // The derivative at 0 is that of what is above.
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return selu(x);
  }
};

}  // namespace activations
}  // namespace hopper
