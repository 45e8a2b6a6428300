// ReLU: rectifier, with maximum, slope and threshold.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct ReLU : ActivationLayer {
  static constexpr const char* kName = "ReLU";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "rectifier, with maximum, slope and threshold";
  static constexpr const char* kSince = "2.2";

  explicit ReLU(LayerConfig& config) : ActivationLayer(config) {
    activation.kind = Activation::kRelu;
    if (config.Has("max_value")) {
      activation.max_value = config.Number("max_value", 0.0);
      config.Require("max_value", activation.max_value, kNotNegative);
    }
    activation.alpha = config.Number("negative_slope", 0.0);
    activation.threshold = config.Number("threshold", 0.0);
  }
};

}  // namespace layers
}  // namespace hopper
