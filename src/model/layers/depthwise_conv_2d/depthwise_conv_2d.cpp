#include "model/layers/depthwise_conv_2d/depthwise_conv_2d.h"

namespace hopper {
namespace layers {

DepthwiseKernel::DepthwiseKernel(LayerConfig& config, size_t axes)
    : ConvWindow(config, axes),
      multiplier(config.Int("depth_multiplier", 1)),
      rules(config.GetRules("depthwise", "glorot_uniform")) {
  config.RequireCount("depth_multiplier", &multiplier);
  // Keras 2 writes them for all convolutions; these do not look at them.
  for (const char* key :
       {"groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"}) {
    config.Ignore(key);
  }
}

Shape DepthwiseKernel::OutputShape(const Layer& layer, const std::vector<Shape>& inputs) const {
  RequireImage(layer, inputs);
  const Shape& image = inputs[0];
  const WindowAxis height = Slide(image[0], 0);
  const WindowAxis width = Slide(image[1], 1);
  RequireFits(layer, image, kernel, height, width);
  return {height.output, width.output, ElementCount({image[2], multiplier})};
}

WeightSpec DepthwiseKernel::Weight(const std::vector<Shape>& inputs, const char* name) const {
  WeightSpec weight;
  weight.name = name;
  weight.shape = {kernel[0], kernel[1], inputs[0][2], multiplier};
  weight.Follow(rules);
  return weight;
}

int64_t DepthwiseKernel::Flops(const Shape& output) const {
  return ElementCount({ElementCount(output), 2, kernel[0], kernel[1]});
}

DepthwiseConv2D::DepthwiseConv2D(LayerConfig& config, size_t axes)
    : Layer(config),
      depthwise(config, axes),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      bias_rules(config.GetRules("bias", "zeros")) {}

std::vector<WeightSpec> DepthwiseConv2D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights{depthwise.Weight(inputs, "kernel")};
  if (use_bias) {
    WeightSpec bias;
    bias.name = "bias";
    bias.shape = {ElementCount({inputs[0][2], depthwise.multiplier})};
    bias.Follow(bias_rules);
    weights.push_back(std::move(bias));
  }
  return weights;
}

int64_t DepthwiseConv2D::Flops(const std::vector<Shape>&, const Shape& output) const {
  return depthwise.Flops(output);
}

}  // namespace layers
}  // namespace hopper
