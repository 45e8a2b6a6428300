#include "model/exported/export_layer.h"
#include "model/layers/permute/permute.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Reordered& layer, const ExportCall& call) {
  const Shape& sizes = call.x().sizes();
  return permute(call.x(), layer.OrderOf(Shape(sizes.begin() + 1, sizes.end())));
}

}  // namespace layers
}  // namespace hopper
