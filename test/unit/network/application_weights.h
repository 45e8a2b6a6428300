// Weights and images that follow from a hash: the formulas of generate_keras_applications.py, which
// says what they are for.
#pragma once

#include <cstdint>

namespace hopper {

constexpr uint64_t kImages = 1 << 20;  // as a weight that no model has

// 24 bits of an element of a weight.
inline uint64_t Hashed(uint64_t weight, int64_t element) {
  uint64_t z = ((weight << 32) + static_cast<uint64_t>(element) + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return (z ^ (z >> 31)) >> 40;
}

inline void SpreadEvenly(uint64_t weight, int64_t n, double scale, double shift, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const double fraction = static_cast<double>(Hashed(weight, i)) / (1 << 24) - 0.5;
    out[i] = static_cast<float>(shift + scale * fraction);
  }
}

}  // namespace hopper
