#include "model/layers/layer_normalization/layer_normalization.h"

#include <algorithm>

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

double AxesNormalization::ReadEpsilon(LayerConfig& config, double fallback) {
  return config.Number("epsilon", fallback, kPositive);
}

AxesNormalization::AxesNormalization(LayerConfig& config)
    : Layer(config), axes(config.Ints("axis", 0, {-1})) {
  // Keras sorts them as they are written, so that mixed signs change the weights' order.
  std::sort(axes.begin(), axes.end());
  const bool repeated = std::adjacent_find(axes.begin(), axes.end()) != axes.end();
  if (axes.empty() || repeated || (axes.front() < 0 && axes.back() >= 0)) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"axis\" must be one axis, or several that are all counted from the same "
                "end");
    axes = {-1};
  }
}

std::vector<int64_t> AxesNormalization::AxesOf(const Shape& input) const {
  const auto rank = static_cast<int64_t>(input.size());
  std::vector<int64_t> found;
  for (const int64_t axis : axes) {
    found.push_back(axis < 0 ? rank + axis : axis - 1);  // the batch is axis 0
    if (found.back() >= 0 && found.back() < rank) continue;
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class " + class_name() + ": axis " +
                    std::to_string(axis) + " does not exist in an input of shape " +
                    ShapeText(input),
                "Axis 0 is the batch.");
  }
  return found;
}

Shape AxesNormalization::WeightShape(const Shape& input) const {
  Shape shape;
  for (const int64_t axis : AxesOf(input)) shape.push_back(input[static_cast<size_t>(axis)]);
  return shape;
}

Shape AxesNormalization::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  AxesOf(inputs[0]);
  return inputs[0];
}

int64_t AxesNormalization::Flops(const std::vector<Shape>&, const Shape& output) const {
  return ElementCount({8, ElementCount(output)});
}

LayerNormalization::LayerNormalization(LayerConfig& config)
    : AxesNormalization(config),
      epsilon(ReadEpsilon(config, 1e-3)),
      center(config.Bool("center", true)),
      scale(config.Bool("scale", true)),
      beta_rules(config.GetRules("beta", "zeros")),
      gamma_rules(config.GetRules("gamma", "ones")) {
  config.RequireUnset("rms_scaling");
}

std::vector<WeightSpec> LayerNormalization::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights;
  const auto add = [&](const char* name, const WeightRules& rules) {
    weights.emplace_back();
    weights.back().name = name;
    weights.back().shape = WeightShape(inputs[0]);
    weights.back().Follow(rules);
  };
  if (scale) add("gamma", gamma_rules);
  if (center) add("beta", beta_rules);
  return weights;
}

std::vector<WeightSpec> RMSNormalization::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "scale";
  weights[0].shape = WeightShape(inputs[0]);
  weights[0].initializer.kind = InitializerKind::kOnes;
  return weights;
}

}  // namespace layers
}  // namespace hopper
