// The arguments that all convolutions of images have, and those of series, which are images of
// height 1.
#pragma once

#include "model/layers/window.h"

namespace hopper {
namespace layers {

struct ConvWindow {
  // "causal" is a padding of series only.
  explicit ConvWindow(LayerConfig& config, size_t axes = 2);

  // Of the window along an axis (0: height, 1: width) of so many pixels.
  WindowAxis Slide(int64_t size, int axis) const {
    if (causal && axis == 1) return SlideCausal(size, kernel[1], strides[1], dilation[1]);
    return SlideWindow(size, kernel[axis], strides[axis], dilation[axis], same);
  }

  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  bool causal = false;  // along the width: no output sees what comes after it
  bool same;
};

}  // namespace layers
}  // namespace hopper
