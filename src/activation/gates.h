// x times a gate that depends on x.
#pragma once

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Swish : AnyActivation {
  static ActivationType Type() { return Named({"swish", "silu"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      const V gate = M::Sigmoid(x);
      const V result = x * gate;
      *derivative = gate + result * (1.0F - gate);
      return result;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return silu(x);
  }
};

// Exact.
struct Gelu : AnyActivation {
  static ActivationType Type() { return Named({"gelu"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      const V p = M::NormalCdf(x);
      *derivative = p + x * M::Exp(-(x * x) * 0.5F) * 0.39894228040143268F;
      return x * p;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return gelu(x);
  }
};

// gelu(approximate=True), under the name that Keras' extensions give it
struct GeluByTanh : AnyActivation {
  static ActivationType Type() { return Named({"gelu_approximate"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      constexpr float kFactor = 0.79788456080286536F;  // sqrt(2 / pi)
      constexpr float kCube = 0.044715F;
      const V square = x * x;
      // (1 + tanh(z)) / 2, which does not cancel
      const V gate = M::Sigmoid(x * (square * kCube + 1.0F) * (2.0F * kFactor));
      *derivative =
          gate + x * gate * (1.0F - gate) * (square * (3.0F * kCube) + 1.0F) * (2.0F * kFactor);
      return x * gate;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return gelu(x, "tanh");
  }
};

// gelu by a sigmoid, as CLIP has it (Hendrycks and Gimpel, arXiv:1606.08415)
struct QuickGelu : AnyActivation {
  static ActivationType Type() { return Named({"quick_gelu"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      const V gate = M::Sigmoid(x * 1.702F);
      const V result = x * gate;
      *derivative = gate + result * (1.0F - gate) * 1.702F;
      return result;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return mul(x, sigmoid(mul(x, 1.702)));
  }
};

struct Mish : AnyActivation {
  static ActivationType Type() { return Named({"mish"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      // tanh(log(1 + exp(x))) by exp of a negative number only
      const V w = M::Exp(-M::Abs(x));
      const V over = x < 0.0F ? w * (w + 2.0F) : w * 2.0F + 1.0F;
      const V under = x < 0.0F ? over + 2.0F : over + w * w * 2.0F;
      const V t = over / under;
      const V gate = (x < 0.0F ? w : M::Set(1.0F)) / (w + 1.0F);
      *derivative = t + x * gate * (1.0F - t * t);
      return x * t;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return mish(x);
  }
};

// x times Keras 3's hard_sigmoid
struct HardSilu : AnyActivation {
  static ActivationType Type() { return Named({"hard_silu", "hard_swish"}); }
  struct Form : FormOfArgument {
    template <typename M, typename V>
    HOPPER_FORM V Value(const ActivationNumbers& /*numbers*/, V x, V* derivative) {
      const V gate = M::Min(M::Set(6.0F), M::Max(V{}, x + 3.0F)) / 6.0F;
      *derivative = M::Abs(x) < 3.0F ? gate + x / 6.0F : gate;
      return x * gate;
    }
  };
  using Forms = FormList<Form>;
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return mul(x, hardsigmoid(x));
  }
};

}  // namespace activations
}  // namespace hopper
