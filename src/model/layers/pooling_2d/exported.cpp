#include <algorithm>

#include "model/exported/export_layer.h"
#include "model/layers/pooling_2d/pooling_2d.h"

namespace hopper {
namespace layers {

using ops::Value;

// Also of series, where the window is the width of an image's.
Value Export(const Pooling2D& layer, const ExportCall& call) {
  Value x = ChannelsFirst(call.x());
  const int64_t rank = x.dim();
  Shape kernel, strides, pads_after;
  Shape pads;
  Shape cut_before(static_cast<size_t>(rank), 0);
  Shape cut_after = cut_before;
  Shape shape{x.size(0), x.size(1)};
  for (int64_t axis = 2; axis < rank; ++axis) {
    const int of_window = static_cast<int>(axis - rank + 2);
    const auto place = static_cast<size_t>(of_window);
    const WindowAxis window = layer.Slide(x.size(axis), of_window);
    kernel.push_back(layer.pool[place] - 2 * window.unreached);
    strides.push_back(layer.strides[place]);
    cut_before[static_cast<size_t>(axis)] = std::min<int64_t>(window.before, 0);
    cut_after[static_cast<size_t>(axis)] = std::min<int64_t>(window.after, 0);
    pads.push_back(std::max<int64_t>(window.before, 0));
    pads_after.push_back(std::max<int64_t>(window.after, 0));
    shape.push_back(window.output);
  }
  pads.insert(pads.end(), pads_after.begin(), pads_after.end());
  x = pad(x, cut_before, cut_after);
  // The average counts no padding unless told to.
  return ChannelsLast(
      x.graph()->Emit(layer.maximum ? "MaxPool" : "AveragePool", {x},
                      {{"kernel_shape", kernel}, {"strides", strides}, {"pads", pads}}, shape));
}

}  // namespace layers
}  // namespace hopper
