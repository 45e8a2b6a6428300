// Activations with keras.activations' formulas.
#include "model/network/activate.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/celu.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/div.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/glu.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/hardshrink.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/selu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/softshrink.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <tuple>

namespace hopper {
namespace {

// x above the threshold, at most max_value; slope * (x - threshold) below it.
at::Tensor GeneralRelu(const at::Tensor& x, const ActivationSpec& activation) {
  if (activation.threshold == 0.0 && activation.max_value < 0.0) {
    return activation.alpha == 0.0 ? at::relu(x) : at::leaky_relu(x, activation.alpha);
  }
  at::Tensor y = activation.threshold == 0.0
                     ? at::relu(x)
                     : at::where(at::gt(x, activation.threshold), x, at::Scalar(0.0F));
  if (activation.max_value >= 0.0) y = at::clamp_max(y, activation.max_value);
  if (activation.alpha != 0.0) {
    y = at::sub(y, at::relu(at::rsub(x, activation.threshold)), activation.alpha);
  }
  return y;
}

// Keras' sparsemax of the last axis: the nearest point of the simplex.
at::Tensor Sparsemax(const at::Tensor& x) {
  const at::Tensor sorted = std::get<0>(at::sort(x, -1, /*descending=*/true));
  const at::Tensor sums = at::cumsum(sorted, -1);
  const at::Tensor counts = at::arange(1, x.size(-1) + 1, x.options().requires_grad(false));
  const at::Tensor support = at::gt(at::sub(sorted, at::div(at::sub(sums, 1.0), counts)), 0.0);
  // Keras adds up the cumulative sums of the support.
  const at::Tensor inside = at::where(support, sums, at::zeros({}, x.options()));
  const at::Tensor k = at::sum(support, {-1}, true).to(x.scalar_type());
  const at::Tensor tau = at::div(at::sub(at::sum(inside, {-1}, true), 1.0), k);
  return at::relu(at::sub(x, tau));
}

}  // namespace

at::Tensor Activate(const at::Tensor& x, const ActivationSpec& activation) {
  switch (activation.kind) {
    case Activation::kLinear:
      return x;
    case Activation::kRelu:
      return GeneralRelu(x, activation);
    case Activation::kRelu6:
      return at::hardtanh(x, 0.0, 6.0);
    case Activation::kLeakyRelu:
      return at::leaky_relu(x, activation.alpha);
    case Activation::kElu:
      return at::elu(x, activation.alpha);
    case Activation::kSelu:
      return at::selu(x);
    case Activation::kSoftplus:
      return at::softplus(x);
    case Activation::kSoftsign:
      return at::div(x, at::add(at::abs(x), 1.0));
    case Activation::kTanh:
      return at::tanh(x);
    case Activation::kSigmoid:
      return at::sigmoid(x);
    case Activation::kHardSigmoid:
      return at::hardsigmoid(x);
    case Activation::kHardSigmoid2:
      return at::hardtanh(at::add(at::mul(x, 0.2), 0.5), 0.0, 1.0);
    case Activation::kExponential:
      return at::exp(x);
    case Activation::kSwish:
      return at::silu(x);
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kMish:
      return at::mish(x);
    case Activation::kSoftmax:
      return at::softmax(x, activation.axis);
    case Activation::kLogSoftmax:
      return at::log_softmax(x, activation.axis);
    case Activation::kCelu:
      return at::celu(x, activation.alpha);
    case Activation::kHardSilu:
      return at::mul(x, at::hardsigmoid(x));
    case Activation::kHardTanh:
      return at::hardtanh(x);
    case Activation::kHardShrink:
      return at::hardshrink(x, 0.5);
    case Activation::kSoftShrink:
      return at::softshrink(x, 0.5);
    case Activation::kTanhShrink:
      return at::sub(x, at::tanh(x));
    case Activation::kLogSigmoid:
      return at::log_sigmoid(x);
    case Activation::kSquareplus:
      return at::mul(at::add(x, at::sqrt(at::add(at::square(x), 4.0))), 0.5);
    case Activation::kSparsePlus:
      return at::where(at::gt(x, 1.0), x,
                       at::mul(at::square(at::relu(at::add(at::clamp_max(x, 1.0), 1.0))), 0.25));
    case Activation::kSparseSigmoid:
      return at::hardtanh(at::mul(at::add(x, 1.0), 0.5), 0.0, 1.0);
    case Activation::kSparsemax:
      return Sparsemax(x);
    case Activation::kGlu:
      return at::glu(x, -1);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
  }
  return x;
}

at::Tensor ActivateOwned(at::Tensor x, const ActivationSpec& activation) {
  switch (activation.kind) {
    case Activation::kRelu:
      if (activation.threshold != 0.0 || activation.max_value >= 0.0 || activation.alpha != 0.0) {
        return GeneralRelu(x, activation);
      }
      return at::relu_(x);
    case Activation::kTanh:
      return at::tanh_(x);
    case Activation::kSigmoid:
      return at::sigmoid_(x);
    default:
      return Activate(x, activation);
  }
}

}  // namespace hopper
