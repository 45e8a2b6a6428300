#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>

#include <algorithm>
#include <optional>

#include "model/layers/conv_transpose/conv_transpose.h"
#include "model/network/activate.h"
#include "model/network/function_operator.h"
#include "model/network/over_time.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Conv2DTranspose& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& weights,
                                       const ForwardContext& context) {
    at::Tensor y = at::convolution(inputs[0].permute({0, 3, 1, 2}),
                                   weights[0].permute({3, 2, 0, 1}), std::nullopt, layer.strides,
                                   /*padding=*/{0, 0}, layer.dilation, /*transposed=*/true,
                                   /*output_padding=*/{0, 0}, /*groups=*/1);
    for (int i = 0; i < 2; ++i) {
      const Conv2DTranspose::Axis axis = layer.Spread(inputs[0].size(1 + i), i);
      const int64_t kept = std::min(axis.output, axis.whole - axis.before);
      y = y.narrow(2 + i, axis.before, kept);
      if (kept < axis.output) {
        const int64_t zeros = axis.output - kept;
        y = i == 0 ? at::constant_pad_nd(y, {0, 0, 0, zeros}) : at::constant_pad_nd(y, {0, zeros});
      }
    }
    y = y.permute({0, 2, 3, 1});
    if (layer.use_bias) y = y + weights[1];
    if (AppliesActivation(layer.activation, context.linear)) y = Activate(y, layer.activation);
    return y;
  });
}

std::unique_ptr<Operator> MakeOperator(const Conv1DTranspose& layer) {
  return OverTime(MakeOperator(static_cast<const Conv2DTranspose&>(layer)), /*kernels=*/1);
}

}  // namespace layers
}  // namespace hopper
