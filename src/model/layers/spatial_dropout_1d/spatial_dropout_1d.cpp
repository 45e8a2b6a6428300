#include "model/layers/spatial_dropout_1d/spatial_dropout_1d.h"

#include "model/layers/window.h"

namespace hopper {
namespace layers {

SpatialDropout1D::SpatialDropout1D(LayerConfig& config)
    : Layer(config), rate(config.Number("rate", 0.5)) {
  config.Require("rate", rate, kShare);
  config.Ignore("seed");         // the configuration's seed decides
  config.Ignore("noise_shape");  // which the class says itself
}

Shape SpatialDropout1D::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
