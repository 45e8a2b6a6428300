#include "model/exported/export_layer.h"
#include "model/layers/flatten/flatten.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Flatten& /*layer*/, const ExportCall& call) {
  const Shape& sizes = call.x().sizes();
  return reshape(call.x(), {-1, ElementCount(Shape(sizes.begin() + 1, sizes.end()))});
}

}  // namespace layers
}  // namespace hopper
