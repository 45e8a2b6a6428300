#include "model/layers/add/add.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Add::Add(LayerConfig& config) : Layer(config) {}

// Broadcasts as Keras does: missing axes come after the batch, axes of size 1 are repeated.
Shape Add::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs);
  Shape output = inputs[0];
  for (const Shape& input : inputs) {
    const Shape before = output;
    if (input.size() > output.size()) {
      output.insert(output.begin(), input.size() - output.size(), 1);
    }
    const size_t shift = output.size() - input.size();
    for (size_t i = 0; i < input.size(); ++i) {
      int64_t& size = output[shift + i];
      if (size == 1) size = input[i];
      if (input[i] != 1 && input[i] != size) ThrowDoNotFit(*this, before, input);
    }
  }
  return output;
}

int64_t Add::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return ElementCount(output) * static_cast<int64_t>(inputs.size() - 1);
}

}  // namespace layers
}  // namespace hopper
