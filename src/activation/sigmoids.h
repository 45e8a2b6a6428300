// Sigmoids: smooth, in straight lines, and the logarithm of one.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Sigmoid : AnyActivation {
  static ActivationType Type() { return Named({"sigmoid"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Sigmoid(x);
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * (y * (1.0F - y));
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return sigmoid(x);
  }
  static constexpr bool kInPlace = true;
  template <typename T>
  static T InPlace(const ActivationSpec& /*spec*/, T x) {
    return sigmoid_(x);
  }
};

// Keras 3: relu6(x + 3) / 6
struct HardSigmoid : AnyActivation {
  static ActivationType Type() { return Named({"hard_sigmoid"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Min(M::Set(6.0F), M::Max(V{}, x + 3.0F)) / 6.0F;
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return y > 0.0F ? (y < 1.0F ? d / 6.0F : V{}) : V{};
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardsigmoid(x);
  }
};

// Keras 2: clip(0.2 x + 0.5, 0, 1)
struct HardSigmoid2 : AnyActivation {
  static ActivationType Type() {
    ActivationType type = Named({"hard_sigmoid"});
    type.keras_2 = true;
    return type;
  }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Min(M::Set(1.0F), M::Max(V{}, x * 0.2F + 0.5F));
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return y > 0.0F ? (y < 1.0F ? d * 0.2F : V{}) : V{};
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardtanh(add(mul(x, 0.2), 0.5), 0.0, 1.0);
  }
};

struct LogSigmoid : AnyActivation {
  static ActivationType Type() { return Named({"log_sigmoid"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Min(V{}, x) - M::Log1p(M::Exp(-M::Abs(x)));
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return d * -M::Expm1(y);
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return log_sigmoid(x);
  }
};

// clip((x + 1) / 2, 0, 1)
struct SparseSigmoid : AnyActivation {
  static ActivationType Type() { return Named({"sparse_sigmoid"}); }
  struct Form : FormOfResult {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x) {
      return M::Min(M::Set(1.0F), M::Max(V{}, (x + 1.0F) * 0.5F));
    }
    template <typename M, typename V>
    HOPPER_FORM V Gradient(const ActivationNumbers& /*numbers*/, V y, V d) {
      return y > 0.0F ? (y < 1.0F ? d * 0.5F : V{}) : V{};
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return hardtanh(mul(add(x, 1.0), 0.5), 0.0, 1.0);
  }
};

}  // namespace activations
}  // namespace hopper
