#include "model/layers/where/where.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Shape Where::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs, 3);
  return BroadcastShape(*this, inputs);
}

int64_t Where::Flops(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return ElementCount(output);
}

// The condition's bytes, and the gradients of the two before they are summed to their shapes.
int64_t Where::AutogradFloats(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return Product({3, ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
