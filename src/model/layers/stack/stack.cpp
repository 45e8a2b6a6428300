#include "model/layers/stack/stack.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Stack::Stack(LayerConfig& config) : Layer(config), axis(config.Int("axis", 0)) {
  if (axis == 0) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 would stand before the batch",
                "Use another axis; -1 is the last.");
  }
}

int64_t Stack::AxisOf(const Shape& input) const {
  const auto rank = static_cast<int64_t>(input.size()) + 2;  // of the output, with the batch
  const int64_t own = axis < 0 ? axis + rank : axis;
  if (own < 1 || own >= rank) {
    ThrowUnfit(*this, "there cannot be a new axis " + std::to_string(axis) +
                          " of inputs of shape " + ShapeText(input));
  }
  return own;
}

Shape Stack::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs);
  for (const Shape& input : inputs) {
    if (input != inputs[0]) ThrowDoNotFit(*this, inputs[0], input);
  }
  Shape output = inputs[0];
  output.insert(output.begin() + static_cast<std::ptrdiff_t>(AxisOf(inputs[0]) - 1),
                static_cast<int64_t>(inputs.size()));
  return output;
}

}  // namespace layers
}  // namespace hopper
