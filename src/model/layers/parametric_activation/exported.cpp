#include "model/exported/export_layer.h"
#include "model/layers/parametric_activation/parametric_activation.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const ParametricActivation& layer, const ExportCall& call) {
  const Value& x = call.x();
  return add(x, mul(sub(Activate(x, layer.activation), x), call.weights[0]));
}

}  // namespace layers
}  // namespace hopper
