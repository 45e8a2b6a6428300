#include "model/layers/separable_conv_2d/separable_conv_2d.h"

#include <algorithm>

namespace hopper {
namespace layers {

SeparableConv2D::SeparableConv2D(LayerConfig& config, size_t axes)
    : Layer(config),
      depthwise(config, axes),
      filters(config.Int("filters", 1)),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      pointwise_rules(config.GetRules("pointwise", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")) {
  config.RequireGivenCount("filters", &filters);
}

Shape SeparableConv2D::OutputShape(const std::vector<Shape>& inputs) const {
  Shape output = depthwise.OutputShape(*this, inputs);
  output[2] = filters;
  return output;
}

std::vector<WeightSpec> SeparableConv2D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights{depthwise.Weight(inputs, "depthwise_kernel")};
  WeightSpec pointwise;
  pointwise.name = "pointwise_kernel";
  pointwise.shape = {1, 1, ElementCount({inputs[0][2], depthwise.multiplier}), filters};
  pointwise.storage = WeightStorage::kConv;
  pointwise.Follow(pointwise_rules);
  weights.push_back(std::move(pointwise));
  if (use_bias) {
    WeightSpec bias;
    bias.name = "bias";
    bias.shape = {filters};
    bias.Follow(bias_rules);
    weights.push_back(std::move(bias));
  }
  return weights;
}

int64_t SeparableConv2D::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t between = ElementCount({inputs[0][2], depthwise.multiplier});
  const int64_t first = depthwise.Flops({output[0], output[1], between});
  const int64_t second = ElementCount({ElementCount(output), 2, between});
  return first > INT64_MAX - second ? INT64_MAX : first + second;
}

// What is between the two convolutions.
int64_t SeparableConv2D::AutogradFloats(const std::vector<Shape>& inputs,
                                        const Shape& output) const {
  return ElementCount({2, output[0], output[1], inputs[0][2], depthwise.multiplier});
}

}  // namespace layers
}  // namespace hopper
