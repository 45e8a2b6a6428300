#include "model/exported/export_layer.h"
#include "model/layers/one_hot/one_hot.h"

namespace hopper {
namespace layers {

using ops::Value;

Value Export(const OneHot& layer, const ExportCall& call) {
  const Value ids = call.x().to(ops::Type::kInt64).to(ops::Type::kFloat);
  Shape sizes = ids.sizes();
  const int64_t axis = layer.AxisOf(Shape(sizes.begin() + 1, sizes.end()));
  Shape classes(sizes.size() + 1, 1);
  classes[static_cast<size_t>(axis)] = layer.classes;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  std::vector<float> all;
  for (int64_t i = 0; i < layer.classes; ++i) all.push_back(static_cast<float>(i));
  return eq(reshape(ids, sizes), call.graph->Constant(all, classes)).to(ops::Type::kFloat);
}

}  // namespace layers
}  // namespace hopper
