#include "model/layers/permute/permute.h"

#include <algorithm>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Permute::Permute(LayerConfig& config) : Layer(config), dims(config.Ints("dims", 0, {})) {
  if (!config.Has("dims")) {
    config.Missing("dims");
    return;
  }
  std::vector<int64_t> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int64_t>(i) + 1) continue;
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"dims\" must hold each axis once, from 1 on");
    dims.clear();
    return;
  }
}

Shape Permute::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() != dims.size()) {
    ThrowUnfit(*this, std::to_string(dims.size()) + " axes do not fit an input of shape " +
                          ShapeText(inputs[0]));
  }
  Shape output;
  for (const int64_t axis : dims) output.push_back(inputs[0][static_cast<size_t>(axis) - 1]);
  return output;
}

}  // namespace layers
}  // namespace hopper
