#include "model/layers/einsum/einsum.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Einsum::Einsum(LayerConfig& config)
    : Layer(config),
      subscripts(config.String("subscripts", "")),
      arrays(config.Ints("arrays", 0, {})) {}

Equation Einsum::Of(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs);
  std::vector<char> whole(inputs.size(), 0);
  for (const int64_t place : arrays) {
    if (place >= 0 && place < static_cast<int64_t>(whole.size())) {
      whole[static_cast<size_t>(place)] = 1;
    }
  }
  return Equation(*this, subscripts, inputs, whole);
}

Shape Einsum::OutputShape(const std::vector<Shape>& inputs) const { return Of(inputs).shape(); }

int64_t Einsum::Flops(const std::vector<Shape>& inputs, const Shape& /*output*/) const {
  return Of(inputs).flops();
}

// Operands with their axes in other orders, and what is made of some of them.
int64_t Einsum::AutogradFloats(const std::vector<Shape>& inputs, const Shape& output) const {
  int64_t floats = SaturatingAdd(Of(inputs).between(), Product({2, ElementCount(output)}));
  for (const Shape& input : inputs) {
    floats = SaturatingAdd(floats, Product({2, ElementCount(input)}));
  }
  return floats;
}

}  // namespace layers
}  // namespace hopper
