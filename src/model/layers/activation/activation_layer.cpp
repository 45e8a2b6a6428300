#include "model/layers/activation/activation_layer.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Shape ActivationLayer::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const int rank = static_cast<int>(inputs[0].size()) + 1;  // with the batch, as Keras counts
  // Of what has no axis of its own it would mix the examples of a batch.
  if (!ActsByElement(activation) && activation.kind != Activation::kGlu &&
      (activation.axis >= rank || activation.axis < 1 - rank || activation.axis == 0)) {
    throw Error(ErrorCode::kInvalidParameter, "layer \"" + name() + "\" of class " + class_name() +
                                                  ": axis " + std::to_string(activation.axis) +
                                                  " does not exist in an input of shape " +
                                                  ShapeText(inputs[0]));
  }
  if (activation.kind != Activation::kGlu) return inputs[0];
  if (inputs[0].empty() || inputs[0].back() % 2 != 0) {
    throw Error(ErrorCode::kInvalidParameter,
                "layer \"" + name() + "\" of class " + class_name() +
                    ": glu needs an even last axis, not an input of shape " + ShapeText(inputs[0]));
  }
  Shape output = inputs[0];
  output.back() /= 2;
  return output;
}

int64_t ActivationLayer::Flops(const std::vector<Shape>&, const Shape& output) const {
  return activation.kind == Activation::kLinear ? 0 : ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
