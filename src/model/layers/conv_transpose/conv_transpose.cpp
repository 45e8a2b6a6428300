#include "model/layers/conv_transpose/conv_transpose.h"

#include <algorithm>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

// Cells beyond the output that a kernel may reach along an axis: memory for each example, whatever
// a file says.
constexpr int64_t kFarthest = 1 << 16;

std::vector<int64_t> ReadOutputPadding(LayerConfig& config, size_t axes,
                                       const std::vector<int64_t>& strides) {
  if (!config.Has("output_padding")) return {-1, -1};
  std::vector<int64_t> padding = config.Ints("output_padding", axes, {});
  if (padding.size() != axes) return {-1, -1};
  if (axes == 1) padding.insert(padding.begin(), -1);
  for (size_t i = 2 - axes; i < 2; ++i) {
    if (padding[i] >= 0 && padding[i] < strides[i]) continue;
    config.Fail(ErrorCode::kInvalidParameter,
                "argument \"output_padding\" must be at least 0 and less than strides (" +
                    std::to_string(strides[i]) + "), not " + std::to_string(padding[i]));
    return {-1, -1};
  }
  return padding;
}

}  // namespace

Conv2DTranspose::Conv2DTranspose(LayerConfig& config, size_t axes)
    : Layer(config),
      kernel(ReadImageSizes(config, "kernel_size", axes, {1, 1})),
      strides(ReadImageSizes(config, "strides", axes, {1, 1})),
      dilation(ReadImageSizes(config, "dilation_rate", axes, {1, 1})),
      output_padding(ReadOutputPadding(config, axes, strides)),
      same(ReadPadding(config)),
      filters(config.Int("filters", 0)),
      use_bias(config.Bool("use_bias", true)),
      activation(config.GetActivation("activation")),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      bias_rules(config.GetRules("bias", "zeros")) {
  ReadDataFormat(config);
  if (!config.Has("kernel_size")) config.Missing("kernel_size");
  config.RequireGivenCount("filters", &filters);
  if (*std::max_element(strides.begin(), strides.end()) > 1 &&
      *std::max_element(dilation.begin(), dilation.end()) > 1) {
    config.Fail(ErrorCode::kInvalidParameter,
                "strides and dilation_rate cannot both be greater than 1");
  }
  if (config.Int("groups", 1) != 1) {
    config.Fail(ErrorCode::kNotSupported, "groups are not supported");
  }
}

// Keras' rule: keras.src.backend.common.backend_utils._get_output_shape_given_tf_padding(); what
// TensorFlow cuts off is half of what is too much, the smaller half at the start.
Conv2DTranspose::Axis Conv2DTranspose::Spread(int64_t size, int axis) const {
  const int64_t extent = (kernel[axis] - 1) * dilation[axis] + 1;
  const int64_t added = output_padding[axis];
  const int64_t reach = Product({size - 1, strides[axis]});
  Axis spread;
  spread.whole = SaturatingAdd(reach, extent);
  if (!same) {
    spread.output = SaturatingAdd(
        spread.whole, added >= 0 ? added : std::max(strides[axis] - extent, int64_t{0}));
    return spread;
  }
  spread.output =
      added >= 0 ? SaturatingAdd(reach, extent % 2 + added) : Product({size, strides[axis]});
  spread.before = std::max(spread.whole - spread.output, int64_t{0}) / 2;
  return spread;
}

Shape Conv2DTranspose::OutputShape(const std::vector<Shape>& inputs) const {
  RequireImage(*this, inputs);
  Shape output{0, 0, filters};
  for (int i = 0; i < 2; ++i) {
    const int64_t size = inputs[0][static_cast<size_t>(i)];
    const Axis spread = Spread(size, i);
    // TensorFlow takes a size only where a convolution leads back from it.
    if (same && spread.output <= (size - 1) * strides[i]) {
      ThrowUnfit(*this, "padding \"same\" with output_padding 0 needs windows of odd sizes");
    }
    if (spread.whole - spread.output > kFarthest) {
      throw Error(ErrorCode::kLimitExceeded, "layer \"" + name() + "\" of class " + class_name() +
                                                 ": a window of " + std::to_string(kernel[i]) +
                                                 " with dilation " + std::to_string(dilation[i]) +
                                                 " reaches too far beyond its output");
    }
    output[static_cast<size_t>(i)] = spread.output;
  }
  return output;
}

std::vector<WeightSpec> Conv2DTranspose::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights(use_bias ? 2 : 1);
  weights[0].name = "kernel";
  weights[0].shape = {kernel[0], kernel[1], filters, inputs[0][2]};
  weights[0].Follow(kernel_rules);
  if (use_bias) {
    weights[1].name = "bias";
    weights[1].shape = {filters};
    weights[1].Follow(bias_rules);
  }
  return weights;
}

int64_t Conv2DTranspose::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  const int64_t products = Product({2, ElementCount(inputs[0]), kernel[0], kernel[1], filters});
  return use_bias ? SaturatingAdd(products, ElementCount(output)) : products;
}

int64_t Conv2DTranspose::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  return Product({2, Spread(inputs[0][0], 0).whole, Spread(inputs[0][1], 1).whole, filters});
}

Shape Conv1DTranspose::OutputShape(const std::vector<Shape>& inputs) const {
  RequireSeries(*this, inputs);
  const Shape image = Conv2DTranspose::OutputShape({AsImage(inputs[0])});
  return {image[1], image[2]};
}

std::vector<WeightSpec> Conv1DTranspose::Weights(const std::vector<Shape>& inputs) const {
  std::vector<WeightSpec> weights = Conv2DTranspose::Weights({AsImage(inputs[0])});
  weights[0].shape.erase(weights[0].shape.begin());
  return weights;
}

int64_t Conv1DTranspose::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return Conv2DTranspose::Flops({AsImage(inputs[0])}, AsImage(output));
}

int64_t Conv1DTranspose::AutogradFloats(const std::vector<Shape>& inputs,
                                        const Shape& output) const {
  return Conv2DTranspose::AutogradFloats({AsImage(inputs[0])}, AsImage(output));
}

}  // namespace layers
}  // namespace hopper
