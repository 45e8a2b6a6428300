#include "model/exported/export_layer.h"
#include "model/exported/windows.h"
#include "model/layers/conv_2d/conv_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Conv2D& layer, const ExportCall& call) {
  const Value y = Convolve(layer, ChannelsFirst(call.x()), permute(call.weights[0], {3, 2, 0, 1}),
                           layer.use_bias ? call.weights[1] : Value(), layer.groups);
  return Activate(ChannelsLast(y), layer.activation);
}

}  // namespace layers
}  // namespace hopper
