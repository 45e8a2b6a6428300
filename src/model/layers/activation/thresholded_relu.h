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
    config.Require("theta", activation.threshold, kNotNegative);
  }
};

}  // namespace layers
}  // namespace hopper
