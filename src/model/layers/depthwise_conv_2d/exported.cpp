#include "model/exported/export_layer.h"
#include "model/exported/windows.h"
#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const DepthwiseConv2D& layer, const ExportCall& call) {
  const Value y = ConvolveDepthwise(layer.depthwise, ChannelsFirst(call.x()), call.weights[0],
                                    layer.use_bias ? call.weights[1] : Value());
  return Activate(ChannelsLast(y), layer.activation);
}

}  // namespace layers
}  // namespace hopper
