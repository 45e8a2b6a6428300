// Windows over images and series, channels first, in operations of other tools.
#pragma once

#include "model/exported/export_layer.h"
#include "model/layers/conv_2d/conv_window.h"

namespace hopper {

// Kernel [out, in, sizes...], bias or not defined. What slides over a series is the width of an
// image.
ops::Value Convolve(const layers::ConvWindow& window, const ops::Value& x, const ops::Value& kernel,
                    const ops::Value& bias, int64_t groups);
// `kernel` has Keras' shape [sizes..., channels, multiplier].
ops::Value ConvolveDepthwise(const layers::ConvWindow& window, const ops::Value& x,
                             const ops::Value& kernel, const ops::Value& bias);

}  // namespace hopper
