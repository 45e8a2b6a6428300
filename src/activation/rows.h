// Activations that look at a whole axis. Kernels of softmax and log_softmax over the last one are
// called by name (model/planned/planned_activation.cpp), glu has a planned op.
#pragma once

#include <tuple>

#include "activation/activation_type.h"

namespace hopper {
namespace activations {

struct Softmax : AnyActivation {
  static ActivationType Type() { return OfRows({"softmax"}); }
  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    return softmax(x, spec.axis);
  }
};

struct LogSoftmax : AnyActivation {
  static ActivationType Type() { return OfRows({"log_softmax"}); }
  template <typename T>
  static T Tensors(const ActivationSpec& spec, const T& x) {
    return log_softmax(x, spec.axis);
  }
};

// Of the last axis: the nearest point of the simplex.
struct Sparsemax : AnyActivation {
  static ActivationType Type() { return OfRows({"sparsemax"}); }
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    const T sorted = std::get<0>(sort(x, -1, /*descending=*/true));
    const T sums = cumsum(sorted, -1);
    const T counts = cumsum(ones_like(x.detach()), -1);  // 1, 2, ...
    const T support = gt(sub(sorted, div(sub(sums, 1.0), counts)), 0.0);
    // Keras adds up the cumulative sums of the support.
    const T inside = where(support, sums, 0.0F);
    const T k = sum(support, {-1}, true).to(x.scalar_type());
    const T tau = div(sub(sum(inside, {-1}, true), 1.0), k);
    return relu(sub(x, tau));
  }
};

// The first half of the last axis times the sigmoid of the second.
struct Glu : AnyActivation {
  static ActivationType Type() { return OfRows({"glu"}); }
  template <typename T>
  static T Tensors(const ActivationSpec& /*spec*/, const T& x) {
    return glu(x, -1);
  }
};

}  // namespace activations
}  // namespace hopper
