#include "model/exported/export_layer.h"
#include "model/layers/split/split.h"

namespace hopper {
namespace layers {

ops::Value Export(const Split& layer, const ExportCall& call) {
  const ops::Value& x = call.x();
  const Split::Range range = layer.Of(Shape(x.sizes().begin() + 1, x.sizes().end()));
  return narrow(x, range.axis, range.first, range.size);
}

}  // namespace layers
}  // namespace hopper
