#include "model/exported/export_layer.h"
#include "model/layers/power/power.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Power& layer, const ExportCall& call) {
  if (call.inputs.size() == 2) return pow(call.inputs[0], call.inputs[1]);
  const Value number = call.graph->Number(layer.number);
  return layer.of == Power::Of::kTensor ? pow(call.x(), number) : pow(number, call.x());
}

}  // namespace layers
}  // namespace hopper
