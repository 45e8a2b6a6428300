#include "model/exported/export_layer.h"
#include "model/layers/take/take.h"

namespace hopper {
namespace layers {

ops::Value Export(const Take& layer, const ExportCall& call) {
  const ops::Value& x = call.x();
  const Take::Taken taken = layer.Of(Shape(x.sizes().begin() + 1, x.sizes().end()));
  std::vector<ops::Value> parts;
  for (const Take::Run& run : taken.runs) {
    parts.push_back(narrow(x, taken.axis, run.first, run.count));
  }
  return cat(parts, taken.axis);
}

}  // namespace layers
}  // namespace hopper
