#include "model/exported/export_layer.h"
#include "model/layers/input_layer/input_layer.h"

namespace hopper {
namespace layers {

using ops::Value;

// Each of several inputs has a name of its own there.
Value Export(const InputLayer& layer, const ExportCall& call) {
  Shape shape = layer.shape;
  shape.insert(shape.begin(), -1);
  return call.graph->Input(layer.name(), shape);
}

}  // namespace layers
}  // namespace hopper
