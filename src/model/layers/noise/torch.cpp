#include <ATen/TensorOperators.h>

#include <cmath>

#include "model/layers/noise/noise.h"
#include "model/network/function_operator.h"
#include "model/network/random_mask.h"

namespace hopper {
namespace layers {
namespace {

// keras.activations.selu: what it has at minus infinity.
constexpr double kSeluFloor = -1.6732632423543772 * 1.0507009873554805;

}  // namespace

std::unique_ptr<Operator> MakeOperator(const GaussianNoise& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext& context) -> at::Tensor {
    const at::Tensor& x = inputs[0];
    if (!context.training || layer.stddev == 0.0) return x;
    return x + (RandomNormal(context, x.sizes(), x) * layer.stddev).to(x.scalar_type());
  });
}

std::unique_ptr<Operator> MakeOperator(const GaussianDropout& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext& context) -> at::Tensor {
    const at::Tensor& x = inputs[0];
    if (!context.training || layer.rate == 0.0) return x;
    const double deviation = std::sqrt(layer.rate / (1.0 - layer.rate));
    return x * (RandomNormal(context, x.sizes(), x) * deviation + 1.0).to(x.scalar_type());
  });
}

std::unique_ptr<Operator> MakeOperator(const AlphaDropout& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext& context) -> at::Tensor {
    const at::Tensor& x = inputs[0];
    const double rate = layer.rate;
    if (!context.training || rate == 0.0) return x;
    std::vector<int64_t> sizes = x.sizes().vec();
    const Shape noise = layer.Noise();
    for (size_t i = 0; i < noise.size(); ++i) {
      if (noise[i] == 1) sizes[i] = 1;
    }
    // 1 where an element is kept.
    const at::Tensor kept = RandomUniform(context, sizes, x).ge(rate).to(x.scalar_type());
    const double scale = 1.0 / std::sqrt((1.0 - rate) * (1.0 + rate * kSeluFloor * kSeluFloor));
    return (x * kept + (1.0 - kept) * kSeluFloor) * scale - scale * kSeluFloor * rate;
  });
}

}  // namespace layers
}  // namespace hopper
