#include "model/layers/conv_2d/conv_2d.h"

namespace hopper {
namespace layers {

Conv2D::Conv2D(LayerConfig& config, size_t axes)
    : Layer(config),
      ConvWindow(config, axes),
      filters(config.Int("filters", 0)),
      groups(config.Int("groups", 1)),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")) {
  config.RequireCount("groups", &groups);
  if (!config.Has("filters")) {
    config.Missing("filters");
    filters = groups;
  } else if (filters < 1 || filters % groups != 0) {
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"filters\" must be a positive multiple of groups (" +
                    std::to_string(groups) + "), not " + std::to_string(filters));
    filters = groups;
  }
  config.RequireUnset("lora_rank");
  config.Ignore("lora_alpha");
}

Shape Conv2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  const Shape& image = inputs[0];
  if (image[2] % groups != 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Conv2D: " + std::to_string(image[2]) +
                    " channels cannot be divided into " + std::to_string(groups) + " groups");
  }
  const WindowAxis height = Slide(image[0], 0);
  const WindowAxis width = Slide(image[1], 1);
  RequireFits(*this, image, kernel, height, width);
  return {height.output, width.output, filters};
}

std::vector<WeightSpec> Conv2D::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(use_bias ? 2 : 1);
  weights[0].name = "kernel";
  weights[0].shape = {kernel[0], kernel[1], inputs[0][2] / groups, filters};
  weights[0].storage = WeightStorage::kConv;
  weights[0].Follow(kernel_rules);
  if (use_bias) {
    weights[1].name = "bias";
    weights[1].shape = {filters};
    weights[1].Follow(bias_rules);
  }
  return weights;
}

int64_t Conv2D::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  // ElementCount() does not overflow.
  const int64_t taps = ElementCount({kernel[0], kernel[1], inputs[0][2] / groups});
  return use_bias && taps < INT32_MAX ? ElementCount({ElementCount(output), 2 * taps + 1})
                                      : ElementCount({ElementCount(output), 2, taps});
}

}  // namespace layers
}  // namespace hopper
