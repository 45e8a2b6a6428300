#include "model/network/convolve.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/zeros_like.h>

namespace hopper {

at::Tensor Convolve(const layers::ConvWindow& window, at::Tensor x, at::Tensor kernel,
                    const std::optional<at::Tensor>& bias, int64_t groups) {
  WindowAxis axes[2];
  int64_t dilation[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t size = x.size(2 + i);
    const WindowAxis whole = window.Slide(size, i);
    axes[i] = WithoutUnreached(whole, window.dilation[i]);
    int64_t cells = window.kernel[i] - 2 * whole.unreached;
    if (cells == 0) {  // no input is ever under the window: one cell of it over zeros
      cells = 1;
      axes[i].before = 0;
      axes[i].after = (axes[i].output - 1) * window.strides[i] + 1 - size;
      x = at::zeros_like(x);
    }
    if (cells != window.kernel[i]) kernel = kernel.narrow(2 + i, whole.unreached, cells);
    dilation[i] = cells == 1 ? 1 : window.dilation[i];
  }
  const WindowAxis& height = axes[0];
  const WindowAxis& width = axes[1];
  int64_t padding[2] = {height.before, width.before};
  if (height.before != height.after || width.before != width.after || height.before < 0 ||
      width.before < 0) {
    x = at::constant_pad_nd(x, {width.before, width.after, height.before, height.after});
    padding[0] = padding[1] = 0;
  }
  return at::convolution(x, kernel, bias, window.strides, padding, dilation, /*transposed=*/false,
                         /*output_padding=*/{0, 0}, groups);
}

}  // namespace hopper
