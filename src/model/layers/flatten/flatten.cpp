#include "model/layers/flatten/flatten.h"

#include "model/layers/inputs.h"
#include "model/layers/window.h"

namespace hopper {
namespace layers {

Flatten::Flatten(LayerConfig& config) : Layer(config) { ReadDataFormat(config); }

Shape Flatten::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return {ElementCount(inputs[0])};
}

}  // namespace layers
}  // namespace hopper
