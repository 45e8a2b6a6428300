#include "model/layers/inputs.h"

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

void ThrowDoNotFit(const Layer& layer, const Shape& a, const Shape& b) {
  throw Error(ErrorCode::kInvalidParameter, "layer \"" + layer.name() + "\" of class " +
                                                layer.class_name() + ": inputs of shapes " +
                                                ShapeText(a) + " and " + ShapeText(b) +
                                                " do not fit together");
}

}  // namespace hopper
