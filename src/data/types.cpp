#include "data/types.h"

#include <algorithm>
#include <cstring>

namespace hopper {

namespace {

// `exponent` are the bits that are all set in NaN and infinities, and only in them.
template <typename Bits>
int64_t FirstWithExponent(Bits exponent, const void* values, int64_t count) {
  constexpr int64_t kBlock = 64;  // looked at as a whole, without branches
  const auto* bytes = static_cast<const unsigned char*>(values);
  for (int64_t first = 0; first < count; first += kBlock) {
    Bits block[kBlock];
    const int64_t n = std::min(kBlock, count - first);
    std::memcpy(block, bytes + first * static_cast<int64_t>(sizeof(Bits)),
                static_cast<size_t>(n) * sizeof(Bits));
    Bits any = 0;
    for (int64_t i = 0; i < n; ++i) any |= (block[i] & exponent) == exponent ? 1 : 0;
    for (int64_t i = 0; any != 0; ++i) {
      if ((block[i] & exponent) == exponent) return first + i;
    }
  }
  return -1;
}

}  // namespace

int32_t TypeSize(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
      return 1;
    case ValueType::kInt16:
      return 2;
    case ValueType::kInt32:
    case ValueType::kFloat32:
      return 4;
    case ValueType::kInt64:
    case ValueType::kFloat64:
      return 8;
    default:
      return 0;
  }
}

int64_t FindNonFinite(ValueType type, const void* values, int64_t count) {
  switch (type) {
    case ValueType::kFloat32:
      return FirstWithExponent<uint32_t>(0x7F800000U, values, count);
    case ValueType::kFloat64:
      return FirstWithExponent<uint64_t>(0x7FF0000000000000U, values, count);
    default:
      return -1;
  }
}

}  // namespace hopper
