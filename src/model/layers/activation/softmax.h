// Softmax: probabilities along an axis.
#pragma once

#include "model/layers/activation/activation_layer.h"

namespace hopper {
namespace layers {

struct Softmax : ActivationLayer {
  static constexpr const char* kName = "Softmax";
  static constexpr const char* kWeights = "";
  static constexpr const char* kDescription = "probabilities along an axis";
  static constexpr const char* kSince = "2.1";

  explicit Softmax(LayerConfig& config) : ActivationLayer(config) {
    activation.kind = Activation::kSoftmax;
    activation.axis = static_cast<int>(config.Ints("axis", 1, {-1})[0]);
  }
  Masking masking() const override { return Masking::kCannot; }
};

}  // namespace layers
}  // namespace hopper
