#include "model/exported/export_layer.h"
#include "model/layers/global_pooling_1d/global_pooling_1d.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const GlobalPooling1D& layer, const ExportCall& call) {
  const Value& x = call.x();
  if (layer.maximum) return amax(x, {1}, layer.keepdims);
  const Value mask = call.MaskOf();
  if (!mask.defined()) return mean(x, {1}, layer.keepdims);
  const Value counts = reshape(mask, {-1, x.size(1), 1});
  return div(sum(where(counts, x, 0.0), {1}, layer.keepdims), sum(counts, {1}, layer.keepdims));
}

}  // namespace layers
}  // namespace hopper
