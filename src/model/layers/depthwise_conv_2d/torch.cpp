#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"
#include "model/network/activate.h"
#include "model/network/convolve.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const DepthwiseConv2D& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext& context) {
    at::Tensor y =
        ConvolveDepthwise(layer.depthwise, inputs[0].permute({0, 3, 1, 2}), weights[0],
                          layer.use_bias ? std::optional<at::Tensor>(weights[1]) : std::nullopt)
            .permute({0, 2, 3, 1});
    if (AppliesActivation(layer.activation, context.linear)) y = Activate(y, layer.activation);
    return y;
  });
}

}  // namespace layers
}  // namespace hopper
