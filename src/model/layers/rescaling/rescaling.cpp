#include "model/layers/rescaling/rescaling.h"

#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Rescaling::Rescaling(LayerConfig& config)
    : Layer(config),
      scale(config.Numbers("scale", {1.0})),
      offset(config.Numbers("offset", {0.0})),
      carries_masks(config.family() == KerasFamily::kKeras3) {
  if (!config.Has("scale")) {
    config.Missing("scale");
  }
}

Shape Rescaling::OutputShape(const std::vector<Shape>& inputs) const {
  RequireOneInput(*this, inputs);
  const int64_t last = inputs[0].empty() ? 1 : inputs[0].back();
  for (const std::vector<double>* values : {&scale, &offset}) {
    const auto n = static_cast<int64_t>(values->size());
    if (n == 1 || n == last) continue;
    ThrowUnfit(*this, "a list of " + std::to_string(n) + " values does not fit an input of shape " +
                          ShapeText(inputs[0]));
  }
  return inputs[0];
}

int64_t Rescaling::Flops(const std::vector<Shape>&, const Shape& output) const {
  return 2 * ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
