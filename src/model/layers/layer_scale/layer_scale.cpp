#include "model/layers/layer_scale/layer_scale.h"

namespace hopper {
namespace layers {

LayerScale::LayerScale(LayerConfig& config)
    : SameShape(config),
      channels(config.Int("projection_dim", 1)),
      initial(config.Number("init_values", 0.0)) {
  for (const char* key : {"projection_dim", "init_values"}) {
    if (!config.Has(key)) config.Missing(key);
  }
}

Shape LayerScale::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].empty() || inputs[0].back() != channels) {
    ThrowUnfit(*this, "projection_dim " + std::to_string(channels) +
                          " does not fit an input of shape " + ShapeText(inputs[0]));
  }
  return inputs[0];
}

std::vector<WeightSpec> LayerScale::Weights(const std::vector<Shape>& /*inputs*/) const {
  std::vector<WeightSpec> weights(1);
  weights[0].name = "gamma";
  weights[0].shape = {channels};
  weights[0].initializer.kind = InitializerKind::kConstant;
  weights[0].initializer.a = initial;
  return weights;
}

}  // namespace layers
}  // namespace hopper
