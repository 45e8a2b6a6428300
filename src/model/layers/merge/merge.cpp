#include "model/layers/merge/merge.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

// Broadcasts as Keras does: missing axes come after the batch, axes of size 1 are repeated.
Shape Merge::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs);
  if ((kind == Kind::kSubtract || kind == Kind::kDivide) && inputs.size() != 2) {
    ThrowUnfit(*this, "two inputs are needed, not " + std::to_string(inputs.size()));
  }
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

int64_t Merge::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return ElementCount(output) *
         static_cast<int64_t>(inputs.size() - (kind == Kind::kAverage ? 0 : 1));
}

}  // namespace layers
}  // namespace hopper
