#include "model/layers/dropout/dropout.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Dropout::Dropout(LayerConfig& config) : Layer(config), rate(config.Number("rate", 0.5)) {
  if (!(rate >= 0.0 && rate <= 1.0)) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"rate\" must lie between 0 and 1");
  }
  config.RequireUnset("noise_shape");
  config.Ignore("seed");  // the configuration's seed decides
}

Shape Dropout::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
