#include "model/exported/export_layer.h"
#include "model/layers/activation/softmax.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const ActivationLayer& layer, const ExportCall& call) {
  return Activate(call.x(), layer.activation);
}

Value Export(const Softmax& layer, const ExportCall& call) {
  const Value& x = call.x();
  if (layer.axes.empty()) return Activate(x, layer.activation);
  const Shape axes = layer.AxesOf(Shape(x.sizes().begin() + 1, x.sizes().end()));
  const Value y = exp(sub(x, amax(x, axes, /*keepdim=*/true)));
  return div(y, sum(y, axes, /*keepdim=*/true));
}

}  // namespace layers
}  // namespace hopper
