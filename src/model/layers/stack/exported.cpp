#include "model/exported/export_layer.h"
#include "model/layers/stack/stack.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const Stack& layer, const ExportCall& call) {
  Shape sizes = call.x().sizes();
  const int64_t axis = layer.AxisOf(Shape(sizes.begin() + 1, sizes.end()));
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  std::vector<Value> rows;
  for (const Value& input : call.inputs) rows.push_back(reshape(input, sizes));
  return rows.size() == 1 ? rows[0] : cat(rows, axis);
}

}  // namespace layers
}  // namespace hopper
