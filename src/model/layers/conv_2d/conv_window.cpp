#include "model/layers/conv_2d/conv_window.h"

namespace hopper {
namespace layers {

ConvWindow::ConvWindow(LayerConfig& config, size_t axes)
    : kernel(ReadImageSizes(config, "kernel_size", axes, {1, 1})),
      strides(ReadImageSizes(config, "strides", axes, {1, 1})),
      dilation(ReadImageSizes(config, "dilation_rate", axes, {1, 1})),
      same(ReadPadding(config, axes == 1 ? &causal : nullptr)) {
  ReadDataFormat(config);
  if (!config.Has("kernel_size")) config.Missing("kernel_size");
}

}  // namespace layers
}  // namespace hopper
