#include "model/exported/export_layer.h"
#include "model/layers/conv_transpose/conv_transpose.h"

namespace hopper {
namespace layers {

using ops::Value;

// Also over series, where the window is the width of an image's.
Value Export(const Conv2DTranspose& layer, const ExportCall& call) {
  const Value x = ChannelsFirst(call.x());
  const int64_t axes = x.dim() - 2;
  const Shape order = axes == 1 ? Shape{2, 1, 0} : Shape{3, 2, 0, 1};
  Shape strides, dilations, cut_before{0, 0}, after{0, 0};
  Shape shape{x.size(0), layer.filters};
  for (int64_t i = 0; i < axes; ++i) {
    const auto place = static_cast<size_t>(i + 2 - axes);
    const Conv2DTranspose::Axis axis = layer.Spread(x.size(2 + i), static_cast<int>(place));
    strides.push_back(layer.strides[place]);
    dilations.push_back(layer.dilation[place]);
    shape.push_back(axis.whole);
    cut_before.push_back(-axis.before);
    after.push_back(axis.output - (axis.whole - axis.before));
  }
  const Value whole = call.graph->Emit("ConvTranspose", {x, permute(call.weights[0], order)},
                                       {{"strides", strides}, {"dilations", dilations}}, shape);
  Value y = ChannelsLast(pad(whole, cut_before, after));
  if (layer.use_bias) y = add(y, call.weights[1]);
  return Activate(y, layer.activation);
}

Value Export(const Conv1DTranspose& layer, const ExportCall& call) {
  return Export(static_cast<const Conv2DTranspose&>(layer), call);
}

}  // namespace layers
}  // namespace hopper
