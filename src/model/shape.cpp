#include "model/shape.h"

#include "base/product.h"

namespace hopper {

int64_t ElementCount(const Shape& shape) { return ProductOf(shape); }

std::string ShapeText(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += 'x';
    text += std::to_string(shape[i]);
  }
  return text;
}

}  // namespace hopper
