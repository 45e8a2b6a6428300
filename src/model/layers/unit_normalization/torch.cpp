#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>

#include "model/layers/unit_normalization/unit_normalization.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {
namespace {

constexpr double kLargestFactor = 1e12;  // keras.ops.normalize(epsilon=1e-12)

}  // namespace

std::unique_ptr<Operator> MakeOperator(const UnitNormalization& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];
    std::vector<int64_t> axes = layer.AxesOf({x.sizes().begin() + 1, x.sizes().end()});
    for (int64_t& axis : axes) ++axis;
    const at::Tensor squares = at::sum(x * x, axes, /*keepdim=*/true);
    return x * at::clamp_max(at::rsqrt(squares), kLargestFactor);
  });
}

}  // namespace layers
}  // namespace hopper
