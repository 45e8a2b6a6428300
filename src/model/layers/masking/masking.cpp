#include "model/layers/masking/masking.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

MaskingLayer::MaskingLayer(LayerConfig& config)
    : Layer(config),
      mask_value(static_cast<double>(static_cast<float>(config.Number("mask_value", 0.0)))) {}

Shape MaskingLayer::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() < 2) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() +
                    "\" of class Masking needs an input of steps x features, not " +
                    ShapeText(inputs[0]));
  }
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
