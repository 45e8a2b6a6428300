#include "model/exported/windows.h"

#include <algorithm>

namespace hopper {

using ops::Value;

Value Convolve(const layers::ConvWindow& window, const Value& input, const Value& weight,
               const Value& bias, int64_t groups) {
  Value x = input;
  Value kernel = weight;
  const int64_t rank = x.dim();
  Shape strides, dilations;
  Shape before(static_cast<size_t>(rank), 0);
  Shape after = before;
  bool cut = false;
  for (int64_t axis = 2; axis < rank; ++axis) {
    const int of_window = static_cast<int>(axis - rank + 2);
    const int64_t dilation = window.dilation[static_cast<size_t>(of_window)];
    const int64_t stride = window.strides[static_cast<size_t>(of_window)];
    const int64_t size = x.size(axis);
    const WindowAxis whole = window.Slide(size, of_window);
    WindowAxis own = WithoutUnreached(whole, dilation);
    int64_t cells = kernel.size(axis) - 2 * whole.unreached;
    if (cells == 0) {  // no input is ever under the window: one cell of it over zeros
      cells = 1;
      own.before = 0;
      own.after = (own.output - 1) * stride + 1 - size;
      x = mul(x, 0.0);
    }
    if (cells != kernel.size(axis)) kernel = narrow(kernel, axis, whole.unreached, cells);
    before[static_cast<size_t>(axis)] = own.before;
    after[static_cast<size_t>(axis)] = own.after;
    cut = cut || own.before < 0 || own.after < 0;
    strides.push_back(stride);
    dilations.push_back(cells == 1 ? 1 : dilation);
  }
  Shape cut_before(before.size(), 0);
  Shape cut_after = cut_before;
  for (size_t i = 2; cut && i < before.size(); ++i) {
    cut_before[i] = std::min<int64_t>(before[i], 0);
    cut_after[i] = std::min<int64_t>(after[i], 0);
    before[i] -= cut_before[i];
    after[i] -= cut_after[i];
  }
  x = pad(x, cut_before, cut_after);
  Shape pads(before.begin() + 2, before.end());
  pads.insert(pads.end(), after.begin() + 2, after.end());
  Shape shape{x.size(0), kernel.size(0)};
  for (int64_t axis = 2; axis < rank; ++axis) {
    shape.push_back(window.Slide(input.size(axis), static_cast<int>(axis - rank + 2)).output);
  }
  std::vector<Value> inputs{x, kernel};
  if (bias.defined()) inputs.push_back(bias);
  return x.graph()->Emit(
      "Conv", inputs,
      {{"strides", strides}, {"pads", pads}, {"dilations", dilations}, {"group", groups}}, shape);
}

Value ConvolveDepthwise(const layers::ConvWindow& window, const Value& x, const Value& kernel,
                        const Value& bias) {
  const int64_t axes = kernel.dim() - 2;
  Shape order{axes, axes + 1};
  Shape shape{kernel.size(axes) * kernel.size(axes + 1), 1};
  for (int64_t i = 0; i < axes; ++i) {
    order.push_back(i);
    shape.push_back(kernel.size(i));
  }
  return Convolve(window, x, reshape(permute(kernel, order), shape), bias, kernel.size(axes));
}

}  // namespace hopper
