#include "model/layers/temperature/temperature.h"

namespace hopper {
namespace layers {

Temperature::Temperature(LayerConfig& config)
    : SameShape(config), temperature(config.Number("temperature", 1.0, kPositive)) {}

int64_t Temperature::AutogradFloats(const std::vector<Shape>& inputs,
                                    const Shape& /*output*/) const {
  return 4 * ElementCount(inputs[0]);
}

}  // namespace layers
}  // namespace hopper
