#include "model/layers/rescaling/rescaling.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Rescaling::Rescaling(LayerConfig& config)
    : Layer(config), scale(config.Number("scale", 1.0)), offset(config.Number("offset", 0.0)) {
  if (!config.Has("scale")) {
    config.Missing("scale");
  }
}

Shape Rescaling::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return inputs[0];
}

int64_t Rescaling::Flops(const std::vector<Shape>&, const Shape& output) const {
  return 2 * ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
