#include "model/network/activate.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
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
#include <ATen/ops/lt.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
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

#include <utility>

#include "activation/table.h"

namespace hopper {
namespace {

template <typename A>
at::Tensor Apply(const ActivationSpec& spec, const at::Tensor& x) {
  return A::Tensors(spec, x);
}
// libtorch's selu() has at 0 the derivative of what is below.
template <>
at::Tensor Apply<activations::Selu>(const ActivationSpec& /*spec*/, const at::Tensor& x) {
  return at::where(at::lt(x, 0.0), at::selu(x), at::mul(x, activations::Selu::Form::kScale));
}
template <typename A>
at::Tensor ApplyOwned(const ActivationSpec& spec, at::Tensor x) {
  if constexpr (A::kInPlace) return A::InPlace(spec, std::move(x));
  return Apply<A>(spec, x);
}

template <typename... A>
at::Tensor ApplyRow(ActivationList<A...> /*rows*/, const ActivationSpec& spec,
                    const at::Tensor& x) {
  static constexpr at::Tensor (*kApply[])(const ActivationSpec&, const at::Tensor&) = {Apply<A>...};
  return kApply[static_cast<size_t>(spec.kind)](spec, x);
}
template <typename... A>
at::Tensor ApplyRowOwned(ActivationList<A...> /*rows*/, const ActivationSpec& spec, at::Tensor x) {
  static constexpr at::Tensor (*kApply[])(const ActivationSpec&, at::Tensor) = {ApplyOwned<A>...};
  return kApply[static_cast<size_t>(spec.kind)](spec, std::move(x));
}

}  // namespace

at::Tensor Activate(const at::Tensor& x, const ActivationSpec& activation) {
  return ApplyRow(Activations(), activation, x);
}

at::Tensor ActivateOwned(at::Tensor x, const ActivationSpec& activation) {
  return ApplyRowOwned(Activations(), activation, std::move(x));
}

}  // namespace hopper
