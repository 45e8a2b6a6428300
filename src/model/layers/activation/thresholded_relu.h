// ThresholdedReLU of Keras 2: x above theta, otherwise 0.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct ThresholdedReLU : ActivationLayer {
  static constexpr const char* kName = "ThresholdedReLU";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "rectifier that is 0 up to a threshold";

  explicit ThresholdedReLU(LayerConfig& config) : ActivationLayer(config) {
    activation.kind = Activation::kRelu;
    activation.threshold = config.Number("theta", 1.0);
    if (activation.threshold < 0.0) {
      config.Fail(ErrorCode::kInvalidParameter, "argument \"theta\" must not be negative");
    }
  }
};

}  // namespace layers
}  // namespace hopper
