// Convolutions by libtorch with Keras' padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "model/layers/conv_2d/conv_window.h"

namespace hopper {

// libtorch's order: images [batch][channels][height][width], kernel [out][in][height][width].
at::Tensor Convolve(const layers::ConvWindow& window, at::Tensor x, at::Tensor kernel,
                    const std::optional<at::Tensor>& bias, int64_t groups);

// Each channel by itself: `kernel` has Keras' shape [height][width][channels][multiplier]. Outputs
// of one channel are neighbours, as Keras has them.
inline at::Tensor ConvolveDepthwise(const layers::ConvWindow& window, const at::Tensor& x,
                                    const at::Tensor& kernel,
                                    const std::optional<at::Tensor>& bias) {
  const int64_t channels = kernel.size(2);
  return Convolve(window, x,
                  kernel.permute({2, 3, 0, 1})
                      .reshape({channels * kernel.size(3), 1, kernel.size(0), kernel.size(1)}),
                  bias, channels);
}

}  // namespace hopper
