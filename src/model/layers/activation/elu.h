// ELU: exponential linear unit.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct ELU : ActivationLayer {
  static constexpr const char* kName = "ELU";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "exponential linear unit";

  explicit ELU(LayerConfig& config) : ActivationLayer(config) {
    activation.kind = Activation::kElu;
    activation.alpha = config.Number("alpha", 1.0);
  }
};

}  // namespace layers
}  // namespace hopper
