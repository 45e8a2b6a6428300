#include "model/exported/export_layer.h"
#include "model/layers/layer_scale/layer_scale.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const LayerScale& /*layer*/, const ExportCall& call) {
  return mul(call.x(), call.weights[0]);
}

}  // namespace layers
}  // namespace hopper
