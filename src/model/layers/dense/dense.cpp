#include "model/layers/dense/dense.h"

namespace hopper {
namespace layers {

Dense::Dense(LayerConfig& config)
    : Layer(config),
      units(config.Int("units", 0)),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")) {
  config.RequireGivenCount("units", &units);
  for (const char* key : {"lora_rank", "quantization_config"}) {
    config.RequireUnset(key);
  }
  config.Ignore("lora_alpha");
}

Shape Dense::OutputShape(const std::vector<Shape>& inputs) const {
  if (inputs.size() != 1 || inputs[0].empty()) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Dense needs one input of rank 1 or more");
  }
  Shape output = inputs[0];
  output.back() = units;
  return output;
}

std::vector<WeightSpec> Dense::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(use_bias ? 2 : 1);
  weights[0].name = "kernel";
  weights[0].shape = {inputs[0].back(), units};
  weights[0].Follow(kernel_rules);
  if (use_bias) {
    weights[1].name = "bias";
    weights[1].shape = {units};
    weights[1].Follow(bias_rules);
  }
  return weights;
}

int64_t Dense::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return ElementCount({ElementCount(output), 2 * inputs[0].back() + (use_bias ? 1 : 0)});
}

}  // namespace layers
}  // namespace hopper
