#include "model/layers/prelu/prelu.h"

namespace hopper {
namespace layers {

PReLU::PReLU(LayerConfig& config)
    : SameShape(config),
      shared_axes(config.Ints("shared_axes", 0, {})),
      alpha_rules(config.GetRules("alpha", "zeros")) {}

Shape PReLU::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  for (const int64_t axis : shared_axes) {
    if (axis >= 1 && axis <= static_cast<int64_t>(inputs[0].size())) continue;
    ThrowUnfit(*this,
               "shared axis " + std::to_string(axis) + " does not exist in an input of shape " +
                   ShapeText(inputs[0]),
               "Axis 0 is the batch.");
  }
  return inputs[0];
}

std::vector<WeightSpec> PReLU::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "alpha";
  weights[0].shape = inputs[0];
  for (const int64_t axis : shared_axes) weights[0].shape[static_cast<size_t>(axis - 1)] = 1;
  weights[0].Follow(alpha_rules);
  return weights;
}

}  // namespace layers
}  // namespace hopper
