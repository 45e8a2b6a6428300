#include "model/layers/one_hot/one_hot.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

OneHot::OneHot(LayerConfig& config)
    : Layer(config), classes(config.Int("num_classes", 0)), axis(config.Int("axis", -1)) {
  if (classes < 1) {
    config.Fail(ErrorCode::kInvalidParameter, "there must be at least one class");
  }
  if (axis == 0) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 would stand before the batch",
                "Use another axis; -1 is the last.");
  }
  // TensorFlow's for what is and is not there.
  for (const auto& [key, usual] : {std::pair<const char*, double>("on_value", 1.0),
                                   std::pair<const char*, double>("off_value", 0.0)}) {
    if (config.Number(key, usual) == usual) continue;
    config.Fail(ErrorCode::kNotSupported, std::string("another ") + key + " is not supported",
                "Leave it out, and put keras.layers.Rescaling(scale, offset) behind it.");
  }
  config.RequireUnset("sparse");
}

int64_t OneHot::AxisOf(const Shape& input) const {
  const auto rank = static_cast<int64_t>(input.size()) + 2;  // of the output, with the batch
  const int64_t own = axis < 0 ? axis + rank : axis;
  if (own < 1 || own >= rank) {
    ThrowUnfit(*this, "there cannot be a new axis " + std::to_string(axis) +
                          " in an input of shape " + ShapeText(input));
  }
  return own;
}

Shape OneHot::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  Shape output = inputs[0];
  output.insert(output.begin() + static_cast<std::ptrdiff_t>(AxisOf(inputs[0]) - 1), classes);
  return output;
}

}  // namespace layers
}  // namespace hopper
