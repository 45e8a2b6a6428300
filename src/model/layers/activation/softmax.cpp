#include "model/layers/activation/softmax.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Softmax::Softmax(LayerConfig& config) : ActivationLayer(config) {
  activation.kind = Activation::kSoftmax;
  const std::vector<int64_t> stated = config.Ints("axis", 0, {-1});
  if (stated.empty()) {
    config.Fail(ErrorCode::kInvalidParameter, "argument \"axis\" names no axis");
    return;
  }
  if (stated.size() == 1) {
    activation.axis = static_cast<int>(stated[0]);
    return;
  }
  axes = stated;
  activation.axis = 1 << 20;  // none, so that it does not stand in another layer's activation
}

std::vector<int64_t> Softmax::AxesOf(const Shape& input) const {
  return AxesOfExample(*this, axes, input);
}

Shape Softmax::OutputShape(const std::vector<Shape>& inputs) const {
  if (axes.empty()) return ActivationLayer::OutputShape(inputs);
  RequireOneInput(*this, inputs);
  AxesOf(inputs[0]);
  return inputs[0];
}

}  // namespace layers
}  // namespace hopper
