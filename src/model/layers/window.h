// Windows that slide over the two spatial axes of an image: what convolution and pooling share.
#pragma once

#include <algorithm>

#include "model/layer.h"

namespace hopper {

// The output's size along an axis and what padding "same" adds there. Formula: TensorFlow's,
// total = max((out - 1) * stride + (kernel - 1) * dilation + 1 - in, 0), of which the larger half
// goes to the end.
struct WindowAxis {
  int64_t output = 0;
  int64_t before = 0;
  int64_t after = 0;
  // Cells at each end of the window that lie in the padding wherever the window is. They can be
  // many more than the image has, up to all of a window whose middle is between two cells.
  int64_t unreached = 0;
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
    const int64_t reach = (axis.output - 1) * stride;  // how far the window slides
    if (axis.before > reach) {
      axis.unreached = std::min((axis.before - reach + dilation - 1) / dilation, kernel / 2);
    }
  }
  return axis;
}

// Padding "causal": the window ends at its output's place. Formula: Keras', (kernel - 1) * dilation
// at the start.
inline WindowAxis SlideCausal(int64_t input, int64_t kernel, int64_t stride, int64_t dilation) {
  WindowAxis axis;
  axis.before = (kernel - 1) * dilation;
  axis.output = (input - 1) / stride + 1;
  return axis;
}

// A window with equal outputs and without unreached cells, which is at most about twice as large
// as the image, whatever numbers a model file has. Padding below 0 cuts cells off the image.
inline WindowAxis WithoutUnreached(WindowAxis axis, int64_t dilation) {
  axis.before -= axis.unreached * dilation;
  axis.after -= axis.unreached * dilation;
  return axis;
}

// "padding": true for "same". `causal` (null where the layer has no such padding) is set for
// "causal".
bool ReadPadding(LayerConfig& config, bool* causal = nullptr);
// "data_format": records a problem for channels_first.
void ReadDataFormat(LayerConfig& config);
// A list of sizes that must all be positive.
std::vector<int64_t> ReadSizes(LayerConfig& config, const std::string& key, size_t count,
                               const std::vector<int64_t>& fallback);
// Height and width of what slides over `axes` axes: over a series it is an image's of height 1.
std::vector<int64_t> ReadImageSizes(LayerConfig& config, const std::string& key, size_t axes,
                                    const std::vector<int64_t>& fallback);
// Throws unless there is one input of rank 2 (steps, features).
void RequireSeries(const Layer& layer, const std::vector<Shape>& inputs);
// A series as an image of height 1.
inline Shape AsImage(const Shape& series) { return {1, series[0], series[1]}; }
// Throws unless there is one input of rank 3 (height, width, channels).
void RequireImage(const Layer& layer, const std::vector<Shape>& inputs);
// Throws for a window that does not fit into the image.
void RequireFits(const Layer& layer, const Shape& image, const std::vector<int64_t>& window,
                 const WindowAxis& height, const WindowAxis& width);

}  // namespace hopper
