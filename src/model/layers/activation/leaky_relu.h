// LeakyReLU: rectifier with a slope below zero.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct LeakyReLU : ActivationLayer {
  static constexpr const char* kName = "LeakyReLU";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "rectifier with a slope below zero";

  explicit LeakyReLU(LayerConfig& config) : ActivationLayer(config) {
    activation.kind = Activation::kLeakyRelu;
    activation.alpha = config.Has("alpha") ? config.Number("alpha", 0.3)  // Keras 2's name
                                           : config.Number("negative_slope", 0.3);
    config.Rename("alpha", "negative_slope");
  }
};

}  // namespace layers
}  // namespace hopper
