#include "model/layers/inputs.h"

#include <algorithm>

namespace hopper {

void RequireOneInput(const Layer& layer, const std::vector<Shape>& inputs) {
  if (inputs.size() == 1) return;
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + " needs one input, not " +
                                                std::to_string(inputs.size()));
}

void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs) {
  if (!inputs.empty()) return;
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + " needs at least one input");
}

void ThrowUnfit(const Layer& layer, const std::string& message, const std::string& hint) {
  throw Error(ErrorCode::kInvalidParameter,
              "layer \"" + layer.name() + "\" of class " + layer.class_name() + ": " + message, "",
              hint);
}

std::vector<int64_t> AxesOfExample(const Layer& layer, const std::vector<int64_t>& axes,
                                   const Shape& input) {
  const auto rank = static_cast<int64_t>(input.size()) + 1;
  std::vector<int64_t> found;
  for (const int64_t axis : axes) {
    const int64_t own = axis < 0 ? axis + rank : axis;
    if (own < 1 || own >= rank || std::find(found.begin(), found.end(), own) != found.end()) {
      ThrowUnfit(layer, "axis " + std::to_string(axis) + " is not one of an example of shape " +
                            ShapeText(input) + ", or is there twice");
    }
    found.push_back(own);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Shape SameShape::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  return inputs[0];
}

int64_t SameShape::Flops(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return ElementCount(output);
}

Shape BroadcastShape(const Layer& layer, const std::vector<Shape>& inputs) {
  RequireInputs(layer, inputs);
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
      if (input[i] != 1 && input[i] != size) ThrowDoNotFit(layer, before, input);
    }
  }
  return output;
}

void RequireInputs(const Layer& layer, const std::vector<Shape>& inputs, size_t count) {
  if (inputs.size() == count) return;
  static const char* const kNumbers[] = {"no", "one", "two", "three"};
  ThrowUnfit(layer, std::string(kNumbers[count]) + " inputs are needed, not " +
                        std::to_string(inputs.size()));
}

void ThrowDoNotFit(const Layer& layer, const Shape& a, const Shape& b) {
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + ": inputs of shapes " +
                                                ShapeText(a) + " and " + ShapeText(b) +
                                                " do not fit together");
}

}  // namespace hopper
