#include "model/exported/export_layer.h"
#include "model/layers/get_item/get_item.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const GetItem& layer, const ExportCall& call) {
  Value y = call.x();
  const GetItem::Taken taken = layer.Of(Shape(y.sizes().begin() + 1, y.sizes().end()));
  for (const GetItem::Part& part : taken.parts) {
    const int64_t stride = part.step < 0 ? -part.step : part.step;
    y = slice(y, part.axis, part.low(), part.high() + 1, stride);
    if (part.step < 0) y = flip(y, part.axis);
  }
  Shape sizes = taken.shape;
  sizes.insert(sizes.begin(), -1);
  return reshape(y, sizes);
}

}  // namespace layers
}  // namespace hopper
