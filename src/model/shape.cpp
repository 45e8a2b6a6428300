#include "model/shape.h"

#include <limits>

namespace hopper {

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

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
