#include "model/layers/group_normalization/group_normalization.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

GroupNormalization::GroupNormalization(LayerConfig& config)
    : Layer(config),
      groups(config.Int("groups", 32)),
      axis(config.Int("axis", -1)),
      epsilon(config.Number("epsilon", 1e-3)),
      center(config.Bool("center", true)),
      scale(config.Bool("scale", true)),
      beta_rules(config.GetRules("beta", "zeros")),
      gamma_rules(config.GetRules("gamma", "ones")) {
  if (groups < 1 && groups != -1) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"groups\" must be at least 1, or -1, not " + std::to_string(groups));
    groups = 1;
  }
  config.Require("epsilon", epsilon, kPositive);
}

size_t GroupNormalization::AxisOf(const Shape& input) const {
  const auto rank = static_cast<int64_t>(input.size());
  const int64_t found = axis < 0 ? rank + axis : axis - 1;
  if (found < 0 || found >= rank) {
    ThrowUnfit(
        *this,
        "axis " + std::to_string(axis) + " does not exist in an input of shape " + ShapeText(input),
        "Axis 0 is the batch.");
  }
  return static_cast<size_t>(found);
}

Shape GroupNormalization::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const int64_t size = inputs[0][AxisOf(inputs[0])];
  if (size % GroupsOf(size) != 0) {
    ThrowUnfit(*this, std::to_string(size) + " channels cannot be divided into " +
                          std::to_string(groups) + " groups");
  }
  return inputs[0];
}

std::vector<WeightSpec> GroupNormalization::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  const auto add = [&](const char* name, const WeightRules& rules) {
    weights.emplace_back();
    weights.back().name = name;
    weights.back().shape = {inputs[0][AxisOf(inputs[0])]};
    weights.back().Follow(rules);
  };
  if (scale) add("gamma", gamma_rules);
  if (center) add("beta", beta_rules);
  return weights;
}

int64_t GroupNormalization::Flops(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({8, ElementCount(output)});
}

int64_t GroupNormalization::AutogradFloats(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({4, ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
