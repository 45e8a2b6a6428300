#include "model/layers/concatenate/concatenate.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Concatenate::Concatenate(LayerConfig& config)
    : Layer(config),
      axis(config.Int("axis", -1)),
      merges_masks(config.family() == KerasFamily::kKeras3) {
  if (axis == 0) {
    config.Fail(ErrorCode::kNotSupported, "axis 0 is the batch and cannot be concatenated",
                "Use another axis; -1 is the last.");
  }
}

Shape Concatenate::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs);
  Shape output = inputs[0];
  const int64_t rank = static_cast<int64_t>(output.size());
  // Keras counts the batch as axis 0.
  const int64_t joined = axis < 0 ? rank + axis : axis - 1;
  if (joined < 0 || joined >= rank) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class Concatenate: axis " + std::to_string(axis) +
                    " does not exist in an input of shape " + ShapeText(output));
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Shape& input = inputs[i];
    bool fits = input.size() == output.size();
    for (int64_t j = 0; fits && j < rank; ++j) fits = j == joined || input[j] == output[j];
    if (!fits) ThrowDoNotFit(*this, inputs[0], input);
    output[joined] += input[joined];
  }
  return output;
}

}  // namespace layers
}  // namespace hopper
