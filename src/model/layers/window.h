// Windows that slide over the two spatial axes of an image: what convolution and pooling share.
#pragma once

#include "model/layer.h"

namespace hopper {

// The output's size along an axis and what padding "same" adds there. Formula: TensorFlow's,
// total = max((out - 1) * stride + (kernel - 1) * dilation + 1 - in, 0), of which the larger half
// goes to the end.
struct WindowAxis {
  int64_t output = 0;
  int64_t before = 0;
  int64_t after = 0;
};

// `output` is 0 or less where the window does not fit.
inline WindowAxis SlideWindow(int64_t input, int64_t kernel, int64_t stride, int64_t dilation,
                              bool same) {
  const int64_t extent = (kernel - 1) * dilation + 1;
  WindowAxis axis;
  if (!same) {
    axis.output = input < extent ? 0 : (input - extent) / stride + 1;
    return axis;
  }
  axis.output = (input + stride - 1) / stride;
  const int64_t total = (axis.output - 1) * stride + extent - input;
  if (total > 0) {
    axis.before = total / 2;
    axis.after = total - axis.before;
  }
  return axis;
}

// "padding": true for "same".
bool ReadPadding(LayerConfig& config);
// "data_format": records a problem for channels_first.
void ReadDataFormat(LayerConfig& config);
// A list of sizes that must all be positive.
std::vector<int64_t> ReadSizes(LayerConfig& config, const std::string& key, size_t count,
                               const std::vector<int64_t>& fallback);
// Throws unless there is one input of rank 3 (height, width, channels).
void RequireImage(const Layer& layer, const std::vector<Shape>& inputs);
// Throws for a window that does not fit into the image.
void RequireFits(const Layer& layer, const Shape& image, const std::vector<int64_t>& window,
                 const WindowAxis& height, const WindowAxis& width);

}  // namespace hopper
