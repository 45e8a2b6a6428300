// NaN and infinite numbers among many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/pieces.h"

namespace hopper {

// The index of the first value that is NaN or infinite; n where all are finite. Looks at cancel now
// and then.
inline int64_t FirstNotFinite(const float* values, int64_t n) {
  constexpr uint32_t kExponent = 0x7f800000U;  // all ones in what is not finite
  constexpr int64_t kBlock = 4096;
  constexpr int64_t kPiece = kPieceBytes / sizeof(float);
  for (int64_t first = 0; first < n; first += kBlock) {
    if (first > 0 && first % kPiece == 0) LookAtCancel();
    const int64_t last = std::min(n, first + kBlock);
    uint32_t largest = 0;
    for (int64_t i = first; i < last; ++i) {
      uint32_t bits;
      std::memcpy(&bits, values + i, sizeof(bits));
      largest = std::max(largest, bits & kExponent);
    }
    if (largest != kExponent) continue;
    for (int64_t i = first; i < last; ++i) {
      uint32_t bits;
      std::memcpy(&bits, values + i, sizeof(bits));
      if ((bits & kExponent) == kExponent) return i;
    }
  }
  return n;
}

}  // namespace hopper
