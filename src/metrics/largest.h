// The most likely class, by one rule for all who look for it.
#pragma once

#include <cstdint>

namespace hopper {

// The place of the first of the largest numbers; NaN is above all of them, as in libtorch.
inline int64_t LargestPlace(const float* x, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (x[best] != x[best]) break;
    if (x[i] > x[best] || x[i] != x[i]) best = i;
  }
  return best;
}

}  // namespace hopper
