#include <ATen/ops/convolution.h>

#include "model/layers/separable_conv_2d/separable_conv_2d.h"
#include "model/network/activate.h"
#include "model/network/convolve.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const SeparableConv2D& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext& context) {
    const at::Tensor between = ConvolveDepthwise(layer.depthwise, inputs[0].permute({0, 3, 1, 2}),
                                                 weights[0], std::nullopt);
    at::Tensor y =
        at::convolution(between, weights[1].permute({3, 2, 0, 1}),
                        layer.use_bias ? std::optional<at::Tensor>(weights[2]) : std::nullopt,
                        /*stride=*/{1, 1}, /*padding=*/{0, 0}, /*dilation=*/{1, 1},
                        /*transposed=*/false, /*output_padding=*/{0, 0}, /*groups=*/1)
            .permute({0, 2, 3, 1});
    if (AppliesActivation(layer.activation, context.linear)) y = Activate(y, layer.activation);
    return y;
  });
}

}  // namespace layers
}  // namespace hopper
