#include "model/exported/export_layer.h"
#include "model/layers/unit_normalization/unit_normalization.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const UnitNormalization& layer, const ExportCall& call) {
  const Value& x = call.x();
  Shape axes = layer.AxesOf({x.sizes().begin() + 1, x.sizes().end()});
  for (int64_t& axis : axes) ++axis;
  return div(x, clamp_min(sqrt(sum(mul(x, x), axes, /*keepdim=*/true)), 1e-12));
}

}  // namespace layers
}  // namespace hopper
