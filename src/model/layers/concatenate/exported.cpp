#include "model/exported/export_layer.h"
#include "model/layers/concatenate/concatenate.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Concatenate& layer, const ExportCall& call) {
  return call.inputs.size() == 1 ? call.x() : cat(call.inputs, layer.axis);
}

}  // namespace layers
}  // namespace hopper
