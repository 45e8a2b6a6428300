// Rectifiers: relu and its kin.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct LeakyForm : FormOfResult {
  template <typename M, typename V>
  HOPPER_FORM V Value(const ActivationNumbers& numbers, V x) {
    return x < 0.0F ? x * numbers.alpha : x;
  }
  template <typename M, typename V>
  HOPPER_FORM V Gradient(const ActivationNumbers& numbers, V y, V d) {
    return y > 0.0F ? d : d * numbers.alpha;
  }
};

struct SixForm : FormOfResult {
  template <typename M, typename V>
  HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
    return M::Min(M::Set(6.0F), M::Max(V{}, x));
  }
  template <typename M, typename V>
  HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
    return y > 0.0F ? (y < 6.0F ? d : V{}) : V{};
  }
};

// x above the threshold, at most max_value; alpha * (x - threshold) below it. A max_value of 6 by
// itself is relu6, also in Keras.
struct Relu : AnyActivation {
  static ActivationType Type() { return Named({"relu"}); }

  struct Plain : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Max(V{}, x);
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return y > 0.0F ? d : V{};
    }
  };
  struct General : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& numbers, V x, V* derivative) {
      const V below = x - numbers.threshold;
      *derivative = below > 0.0F ? (x <= numbers.most ? M::Set(1.0F) : V{})
                                 : (below < 0.0F ? M::Set(numbers.alpha) : V{});
      const V part = below < 0.0F ? below * numbers.alpha : V{};
      return below <= 0.0F ? part : M::Min(M::Set(numbers.most), x);
    }
  };
  using Forms = FormList<Plain, LeakyForm, General, SixForm>;
  static bool IsSix(const ActivationSpec& spec) {
    return spec.threshold == 0.0 && spec.alpha == 0.0 && spec.max_value == 6.0;
  }
  static bool IsGeneral(const ActivationSpec& spec) {
    return spec.threshold != 0.0 || spec.max_value >= 0.0;
  }
  static int Choose(const ActivationSpec& spec) {
    if (IsSix(spec)) return 3;
    if (IsGeneral(spec)) return 2;
    if (spec.alpha < 0.0) return -1;
    return spec.alpha == 0.0 ? 0 : 1;
  }

  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    if (IsSix(spec)) return hardtanh(x, 0.0, 6.0);
    if (!IsGeneral(spec)) return spec.alpha == 0.0 ? relu(x) : leaky_relu(x, spec.alpha);
    T y = spec.threshold == 0.0 ? relu(x) : where(gt(x, spec.threshold), x, 0.0F);
    if (spec.max_value >= 0.0) y = clamp_max(y, spec.max_value);
    if (spec.alpha != 0.0) y = sub(y, relu(rsub(x, spec.threshold)), spec.alpha);
    return y;
  }
  static constexpr bool kInPlace = true;
  template <typename T>
  static T InPlace(const ActivationSpec& spec, T x) {
    return IsGeneral(spec) || spec.alpha != 0.0 ? Tensors(spec, x) : relu_(x);
  }
};

struct Relu6 : AnyActivation {
  static ActivationType Type() { return Named({"relu6"}); }
  using Forms = FormList<SixForm>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardtanh(x, 0.0, 6.0);
  }
};

struct LeakyRelu : AnyActivation {
  static ActivationType Type() { return Named({"leaky_relu"}, /*alpha=*/0.2); }
  using Forms = FormList<LeakyForm>;
  static int Choose(const ActivationSpec& spec) { return spec.alpha >= 0.0 ? 0 : -1; }
  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    return leaky_relu(x, spec.alpha);
  }
};

}  // namespace activations
}  // namespace hopper
