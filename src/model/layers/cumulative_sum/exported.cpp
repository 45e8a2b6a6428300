#include "model/exported/export_layer.h"
#include "model/layers/cumulative_sum/cumulative_sum.h"

namespace hopper {
namespace layers {

ops::Value Export(const CumulativeSum& layer, const ExportCall& call) {
  const ops::Value& x = call.x();
  return cumsum(x, layer.AxisOf({x.sizes().begin() + 1, x.sizes().end()}));
}

}  // namespace layers
}  // namespace hopper
