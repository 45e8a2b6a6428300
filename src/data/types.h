// The packed value types.
#pragma once

#include <cstdint>

namespace hopper {

// Little-endian, C order. The numbers are those of the C boundary, and stored in packed tables.
enum class ValueType : int32_t {
  kUnknown = 0,
  kUint8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat32 = 5,
  kFloat64 = 6,
};

inline bool IsFloat(ValueType type) {
  return type == ValueType::kFloat32 || type == ValueType::kFloat64;
}

// Bytes of one value; 0 for an unknown type.
int32_t TypeSize(ValueType type);
// Index of the first NaN or infinity in an unaligned array, or -1.
int64_t FindNonFinite(ValueType type, const void* values, int64_t count);

}  // namespace hopper
