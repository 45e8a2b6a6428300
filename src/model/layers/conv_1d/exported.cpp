#include "model/exported/export_layer.h"
#include "model/exported/windows.h"
#include "model/layers/conv_1d/conv_1d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Conv1D& layer, const ExportCall& call) {
  const Value y = Convolve(layer, ChannelsFirst(call.x()), permute(call.weights[0], {2, 1, 0}),
                           layer.use_bias ? call.weights[1] : Value(), layer.groups);
  return Activate(ChannelsLast(y), layer.activation);
}

}  // namespace layers
}  // namespace hopper
