#include "model/layers/matmul/matmul.h"

#include <algorithm>

#include "base/product.h"
#include "model/layers/inputs.h"

namespace hopper {
namespace layers {

// Axes of size 1 before the last two are repeated.
Shape Matmul::OutputShape(const std::vector<Shape>& inputs) const {
  RequireInputs(*this, inputs, 2);
  const Shape& a = inputs[0];
  const Shape& b = inputs[1];
  const size_t rank = a.size();
  if (rank < 2 || b.size() != rank || a[rank - 1] != b[rank - 2]) ThrowDoNotFit(*this, a, b);
  Shape output = a;
  output.back() = b.back();
  for (size_t i = 0; i + 2 < rank; ++i) {
    output[i] = std::max(a[i], b[i]);
    if ((a[i] != 1 && a[i] != output[i]) || (b[i] != 1 && b[i] != output[i])) {
      ThrowDoNotFit(*this, a, b);
    }
  }
  return output;
}

int64_t Matmul::Flops(const std::vector<Shape>& inputs, const Shape& output) const {
  return Product({2, inputs[0].back(), ElementCount(output)});
}

}  // namespace layers
}  // namespace hopper
