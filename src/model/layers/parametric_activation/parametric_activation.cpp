#include "model/layers/parametric_activation/parametric_activation.h"

namespace hopper {
namespace layers {

ParametricActivation::ParametricActivation(LayerConfig& config)
    : SameShape(config),
      activation(config.GetActivation("activation")),
      alpha_rules(config.GetRules("alpha", "ones")) {
  if (!config.Has("activation")) config.Missing("activation");
  if (!ActsByElement(activation)) {
    config.Fail(ErrorCode::kNotSupported,
                "argument \"activation\" must be one of single elements, not \"" +
                    TypeOf(activation.kind).names[0] + "\"");
  }
}

Shape ParametricActivation::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].empty()) ThrowUnfit(*this, "its input needs rank 1 or more");
  return inputs[0];
}

std::vector<WeightSpec> ParametricActivation::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "alpha";
  weights[0].shape = {inputs[0].back()};
  weights[0].Follow(alpha_rules);
  return weights;
}

int64_t ParametricActivation::AutogradFloats(const std::vector<Shape>& /*inputs*/,
                                             const Shape& output) const {
  return ElementCount({ElementCount(output), 3});
}

}  // namespace layers
}  // namespace hopper
