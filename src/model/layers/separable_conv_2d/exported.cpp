#include "model/exported/export_layer.h"
#include "model/exported/windows.h"
#include "model/layers/separable_conv_2d/separable_conv_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const SeparableConv2D& layer, const ExportCall& call) {
  const Value between =
      ConvolveDepthwise(layer.depthwise, ChannelsFirst(call.x()), call.weights[0], Value());
  std::vector<Value> inputs{between, permute(call.weights[1], {3, 2, 0, 1})};
  if (layer.use_bias) inputs.push_back(call.weights[2]);
  Shape shape = between.sizes();
  shape[1] = layer.filters;
  const Value y = call.graph->Emit("Conv", inputs,
                                   {{"strides", Shape{1, 1}},
                                    {"pads", Shape{0, 0, 0, 0}},
                                    {"dilations", Shape{1, 1}},
                                    {"group", int64_t{1}}},
                                   shape);
  return Activate(ChannelsLast(y), layer.activation);
}

}  // namespace layers
}  // namespace hopper
