#include <ATen/ops/_upsample_nearest_exact2d.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include "model/layers/resizing/resizing.h"
#include "model/network/function_operator.h"

namespace hopper {
namespace layers {

std::unique_ptr<Operator> MakeOperator(const Resized& layer) {
  return MakeFunctionOperator([&layer](const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>&, const ForwardContext&) {
    const at::Tensor& x = inputs[0];  // [batch, height, width, channels]
    const Resized::Crop crop = layer.CropOf(x.size(1), x.size(2));
    at::Tensor part = x.narrow(1, crop.top, crop.height).narrow(2, crop.left, crop.width);
    if (crop.height == layer.height && crop.width == layer.width) return part;
    part = part.permute({0, 3, 1, 2});
    const std::vector<int64_t> sizes{layer.height, layer.width};
    part = layer.bilinear ? at::upsample_bilinear2d(part, sizes, /*align_corners=*/false)
                          : at::_upsample_nearest_exact2d(part, sizes);
    return part.permute({0, 2, 3, 1});
  });
}

}  // namespace layers
}  // namespace hopper
