#include <ATen/ops/upsample_bilinear2d.h>

#include "model/layers/up_sampling_2d/up_sampling_2d.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const UpSampling2D& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&,
                                       const ForwardContext&) -> at::Tensor {
    const at::Tensor& x = inputs[0];  // [batch, height, width, channels]
    const int64_t height = x.size(1) * layer.size[0];
    const int64_t width = x.size(2) * layer.size[1];
    if (layer.bilinear) {
      return at::upsample_bilinear2d(x.permute({0, 3, 1, 2}), {height, width},
                                     /*align_corners=*/false)
          .permute({0, 2, 3, 1});
    }
    return x.unsqueeze(3)
        .unsqueeze(2)
        .expand({x.size(0), x.size(1), layer.size[0], x.size(2), layer.size[1], x.size(3)})
        .reshape({x.size(0), height, width, x.size(3)});
  });
}

}  // namespace layers
}  // namespace hopper
