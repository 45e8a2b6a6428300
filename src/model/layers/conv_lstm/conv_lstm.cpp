#include "model/layers/conv_lstm/conv_lstm.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {
namespace {

constexpr int64_t kGates = 4;  // i, f, c, o

// The window of the state: of the same size, with as much padding as keeps the state's.
ConvWindow StateWindow(ConvWindow window) {
  window.strides = {1, 1};
  window.dilation = {1, 1};
  window.same = true;
  window.causal = false;
  return window;
}

}  // namespace

ConvLstm::ConvLstm(LayerConfig& config, size_t of_axes)
    : Layer(config),
      axes(of_axes),
      window(config, of_axes),
      recurrent(StateWindow(window)),
      filters(config.Int("filters", 1)),
      activation(config.GetActivation("activation", "tanh")),
      recurrent_activation(config.GetActivation(
          "recurrent_activation",
          config.family() == KerasFamily::kKeras2 ? "hard_sigmoid" : "sigmoid")),
      use_bias(config.Bool("use_bias", true)),
      unit_forget_bias(config.Bool("unit_forget_bias", true)),
      return_sequences(config.Bool("return_sequences", false)),
      go_backwards(config.Bool("go_backwards", false)),
      zero_output_for_mask(config.Bool("zero_output_for_mask", false)),
      dropout(config.Number("dropout", 0.0, kShare)),
      recurrent_dropout(config.Number("recurrent_dropout", 0.0, kShare)),
      kernel_rules(config.GetRules("kernel", "glorot_uniform")),
      recurrent_rules(config.GetRules("recurrent", "orthogonal")),
      bias_rules(config.GetRules("bias", "zeros")) {
  config.RequireGivenCount("filters", &filters);
  if (window.causal) {
    config.Fail(ErrorCode::kNotSupported, "padding \"causal\" is not supported",
                "Use \"valid\" or \"same\".");
  }
  for (const char* key : {"return_state", "stateful", "time_major"}) config.RequireUnset(key);
  config.Ignore("unroll");  // how Keras computes it
  config.Ignore("seed");    // the configuration's seed decides
}

Shape ConvLstm::ImageOf(const Shape& input) const {
  Shape image(input.begin() + 1, input.end());
  if (axes == 1) image.insert(image.begin(), 1);
  return image;
}

Shape ConvLstm::StateOf(const Shape& input) const {
  const Shape image = ImageOf(input);
  return {window.Slide(image[0], 0).output, window.Slide(image[1], 1).output};
}

Shape ConvLstm::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() != axes + 2) {
    ThrowUnfit(*this,
               std::string("an input of ") +
                   (axes == 1 ? "time x steps x features" : "time x height x width x channels") +
                   " is needed, not one of shape " + ShapeText(inputs[0]));
  }
  const Shape image = ImageOf(inputs[0]);
  const WindowAxis height = window.Slide(image[0], 0);
  const WindowAxis width = window.Slide(image[1], 1);
  RequireFits(*this, image, window.kernel, height, width);
  Shape output{width.output, filters};
  if (axes == 2) output.insert(output.begin(), height.output);
  if (return_sequences) output.insert(output.begin(), inputs[0][0]);
  return output;
}

std::vector<WeightSpec> ConvLstm::Weights(const std::vector<Shape>& inputs) const {
  const int64_t columns = Product({kGates, filters});
  const auto shape = [&](int64_t channels) {
    Shape sizes{window.kernel[1], channels, columns};
    if (axes == 2) sizes.insert(sizes.begin(), window.kernel[0]);
    return sizes;
  };
  std::vector<WeightSpec> weights(use_bias ? 3 : 2);
  weights[0].name = "kernel";
  weights[0].shape = shape(inputs[0].back());
  weights[0].storage = WeightStorage::kConv;
  weights[0].Follow(kernel_rules);
  weights[1].name = "recurrent_kernel";
  weights[1].shape = shape(filters);
  weights[1].storage = WeightStorage::kConv;
  weights[1].Follow(recurrent_rules);
  if (!use_bias) return weights;
  weights[2].name = "bias";
  weights[2].shape = {columns};
  weights[2].Follow(bias_rules);
  if (unit_forget_bias) {
    weights[2].ones_from = filters;
    weights[2].ones_to = 2 * filters;
  }
  return weights;
}

int64_t ConvLstm::Flops(const std::vector<Shape>& inputs, const Shape&) const {
  const Shape state = StateOf(inputs[0]);
  const int64_t taps =
      Product({window.kernel[0], window.kernel[1], SaturatingAdd(inputs[0].back(), filters)});
  return Product(
      {inputs[0][0], state[0], state[1], filters, SaturatingAdd(Product({2, kGates, taps}), 10)});
}

int64_t ConvLstm::AutogradFloats(const std::vector<Shape>& inputs, const Shape&) const {
  // Of each step: sums, gates and states, about as often as autograd's operators keep them.
  const Shape state = StateOf(inputs[0]);
  return SaturatingAdd(Product({inputs[0][0], 4 * kGates + 6, filters, state[0], state[1]}),
                       Product({kGates, ElementCount(inputs[0])}));
}

}  // namespace layers
}  // namespace hopper
