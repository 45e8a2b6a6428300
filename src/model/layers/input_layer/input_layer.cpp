#include "model/layers/input_layer/input_layer.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

InputLayer::InputLayer(LayerConfig& config)
    : Layer(config), shape(config.Ints("shape", 0, {})), first(config.Int("first", 0)) {}

Shape InputLayer::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (first < 0 || first > ElementCount(inputs[0]) - ElementCount(shape)) {
    ThrowDoNotFit(*this, inputs[0], shape);
  }
  return shape;
}

}  // namespace layers
}  // namespace hopper
