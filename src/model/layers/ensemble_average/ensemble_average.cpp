#include "model/layers/ensemble_average/ensemble_average.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

EnsembleAverage::EnsembleAverage(LayerConfig& config)
    : Layer(config), activation(config.GetActivation("activation")) {
  if (activation.kind == Activation::kLinear || LogitActivation(activation) == activation.kind) {
    return;
  }
  config.Fail(ErrorCode::kInvalidParameter,
              "argument \"activation\" is none whose inputs a loss can take",
              "It may be null, \"sigmoid\" or \"softmax\"; give another one to the layer before.");
}

Shape EnsembleAverage::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  if (inputs[0].size() < 2) ThrowUnfit(*this, "its input needs rank 2 or more, the members first");
  return Shape(inputs[0].begin() + 1, inputs[0].end());
}

int64_t EnsembleAverage::Flops(const std::vector<Shape>& inputs, const Shape& /*output*/) const {
  return ElementCount(inputs[0]);
}

int64_t EnsembleAverage::AutogradFloats(const std::vector<Shape>& inputs,
                                        const Shape& /*output*/) const {
  return 2 * ElementCount(inputs[0]);
}

}  // namespace layers
}  // namespace hopper
