// Activation: one of keras.activations by its name.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct ActivationByName : ActivationLayer {
  static constexpr const char* kName = "Activation";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "an activation function by name";

  static constexpr bool kActivates = false;  // its name can

  explicit ActivationByName(LayerConfig& config) : ActivationLayer(config) {
    if (!config.Has("activation")) {
      config.Missing("activation");
    }
    activation = config.GetActivation("activation");
  }
};

}  // namespace layers
}  // namespace hopper
