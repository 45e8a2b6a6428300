#include "model/exported/export_layer.h"
#include "model/layers/reshape/reshape.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const SameValues& layer, const ExportCall& call) {
  const Shape& sizes = call.x().sizes();
  Shape shape = layer.OutputShape({Shape(sizes.begin() + 1, sizes.end())});
  shape.insert(shape.begin(), -1);
  return reshape(call.x(), shape);
}

}  // namespace layers
}  // namespace hopper
