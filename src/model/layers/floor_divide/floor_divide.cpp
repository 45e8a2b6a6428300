#include "model/layers/floor_divide/floor_divide.h"

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

Shape WholeDivision::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs, 2);
  return BroadcastShape(*this, inputs);
}

int64_t WholeDivision::Flops(const std::vector<Shape>& /*inputs*/, const Shape& output) const {
  return Product({2, ElementCount(output)});
}

int64_t WholeDivision::AutogradFloats(const std::vector<Shape>& /*inputs*/,
                                      const Shape& output) const {
  return Product({3, ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
