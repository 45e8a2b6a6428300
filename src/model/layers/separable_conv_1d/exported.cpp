#include "model/exported/export_layer.h"
#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"
#include "model/layers/separable_conv_1d/separable_conv_1d.h"
#include "model/layers/separable_conv_2d/separable_conv_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

namespace {

// Of a layer over images of height 1; the first `kernels` weights get a height, too.
template <typename Image>
Value OverTime(const Image& layer, const ExportCall& call, size_t kernels) {
  const auto with_height = [](const Value& value, size_t at) {
    Shape sizes = value.sizes();
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
    if (at > 0) sizes[0] = -1;
    return reshape(value, sizes);
  };
  ExportCall image = call.With({with_height(call.x(), 1)});
  for (size_t i = 0; i < kernels; ++i) image.weights[i] = with_height(call.weights[i], 0);
  const Value y = Export(layer, image);
  return reshape(y, {-1, y.size(2), y.size(3)});
}

}  // namespace

Value Export(const DepthwiseConv1D& layer, const ExportCall& call) {
  return OverTime(static_cast<const DepthwiseConv2D&>(layer), call, 1);
}

Value Export(const SeparableConv1D& layer, const ExportCall& call) {
  return OverTime(static_cast<const SeparableConv2D&>(layer), call, 2);
}

}  // namespace layers
}  // namespace hopper
