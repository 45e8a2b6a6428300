#include "model/layers/comparison/comparison.h"

#include "base/product.h"

namespace hopper {
namespace layers {

Shape Comparison::OutputShape(const std::vector<Shape>& inputs) const {
  const bool of_two = relation == Relation::kBoth || relation == Relation::kEither;
  if (of_two || inputs.size() != 1) RequireInputs(*this, inputs, 2);
  return BroadcastShape(*this, inputs);
}

int64_t Comparison::Flops(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return ElementCount(output);
}

// What is so, as bytes, before it is numbers.
int64_t Comparison::AutogradFloats(const std::vector<Shape>& /*inputs*/,
                                   const Shape& output) const {
  return ElementCount(output);
}

}  // namespace layers
}  // namespace hopper
