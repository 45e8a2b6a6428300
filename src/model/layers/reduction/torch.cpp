#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

#include "model/layers/reduction/reduction.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

at::Tensor Variance(const at::Tensor& x, const std::vector<int64_t>& axes, bool keepdims) {
  return at::mean(at::square(at::sub(x, at::mean(x, axes, /*keepdim=*/true))), axes, keepdims);
}

// One axis after the other, from the last: those before it keep their places. The gradient is right
// where factors are 0, as in TensorFlow.
at::Tensor Product(at::Tensor x, const std::vector<int64_t>& axes, bool keepdims) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) x = at::prod(x, *axis, keepdims);
  return x;
}

at::Tensor Reduced(const Reduction& layer, const at::Tensor& x, const std::vector<int64_t>& axes) {
  switch (layer.kind) {
    case Reduction::Kind::kSum:
      return at::sum(x, axes, layer.keepdims);
    // Equal values share the gradient, as they do in TensorFlow.
    case Reduction::Kind::kMax:
      return at::amax(x, axes, layer.keepdims);
    case Reduction::Kind::kMin:
      return at::amin(x, axes, layer.keepdims);
    case Reduction::Kind::kVariance:
      return Variance(x, axes, layer.keepdims);
    case Reduction::Kind::kDeviation:
      return at::sqrt(Variance(x, axes, layer.keepdims));
    case Reduction::Kind::kNorm:
      return at::linalg_vector_norm(x, 2.0, axes, layer.keepdims);
    case Reduction::Kind::kLogSumExp:
      return at::logsumexp(x, axes, layer.keepdims);
    case Reduction::Kind::kProduct:
      return Product(x, axes, layer.keepdims);
    case Reduction::Kind::kMean:
      break;
  }
  return at::mean(x, axes, layer.keepdims);
}

}  // namespace

std::unique_ptr<Operator> MakeOperator(const Reduction& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    return Reduced(layer, x, layer.AxesOf(Shape(x.sizes().begin() + 1, x.sizes().end())));
  });
}

}  // namespace layers
}  // namespace hopper
