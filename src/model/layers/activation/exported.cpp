#include "model/exported/export_layer.h"
#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const ActivationLayer& layer, const ExportCall& call) {
  return Activate(call.x(), layer.activation);
}

}  // namespace layers
}  // namespace hopper
