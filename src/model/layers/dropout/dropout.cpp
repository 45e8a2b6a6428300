#include "model/layers/dropout/dropout.h"

#include "model/layers/window.h"

namespace hopper {
namespace layers {

DropoutLayer::DropoutLayer(LayerConfig& config)
    : SameShape(config), rate(config.Number("rate", 0.5)) {
  config.Require("rate", rate, kShare);
  config.Ignore("seed");  // the configuration's seed decides
}

Dropout::Dropout(LayerConfig& config)
    : DropoutLayer(config), noise_shape(config.OpenInts("noise_shape")) {
  if (!noise_shape.empty() && noise_shape[0] > 1) {
    config.Fail(ErrorCode::kNotSupported,
                "argument \"noise_shape\" starts with " + std::to_string(noise_shape[0]),
                "The first is the batch, whose size may change: write null, or 1.");
  }
}

Shape Dropout::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (noise_shape.empty()) return inputs[0];
  bool fits = noise_shape.size() == inputs[0].size() + 1;
  for (size_t i = 1; fits && i < noise_shape.size(); ++i) {
    fits = noise_shape[i] == -1 || noise_shape[i] == 1 || noise_shape[i] == inputs[0][i - 1];
  }
  if (!fits) {
    ThrowUnfit(*this,
               "argument \"noise_shape\" does not fit an input of shape " + ShapeText(inputs[0]));
  }
  return inputs[0];
}

Shape Dropout::Noise() const {
  Shape noise = noise_shape;
  bool shared = false;
  for (int64_t& size : noise) {
    if (size != 1) size = -1;
    shared |= size == 1;
  }
  return shared ? noise : Shape();
}

SpatialDropout2D::SpatialDropout2D(LayerConfig& config) : DropoutLayer(config) {
  ReadDataFormat(config);
}

Shape SpatialDropout2D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
