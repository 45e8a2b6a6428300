// Products of sizes, which may come from a file and be any numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace hopper {

// The product of numbers of 0 or more; the largest int64_t where it does not fit.
template <typename Range>
int64_t ProductOf(const Range& factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return product;
}
// The sum of numbers of 0 or more, likewise.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
inline int64_t Product(std::initializer_list<int64_t> factors) { return ProductOf(factors); }

}  // namespace hopper
