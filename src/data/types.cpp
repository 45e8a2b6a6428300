// The packed value types.
#include <cmath>
#include <cstring>

#include "data/dataset.h"

namespace hopper {

namespace {

template <typename T>
int64_t FirstNonFinite(const void* values, int64_t count) {
  const auto* bytes = static_cast<const unsigned char*>(values);
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if (!std::isfinite(value)) return i;
  }
  return -1;
}

}  // namespace

int32_t TypeSize(int32_t type) {
  switch (type) {
    case HOPPER_UINT8:
      return 1;
    case HOPPER_INT16:
      return 2;
    case HOPPER_INT32:
    case HOPPER_FLOAT32:
      return 4;
    case HOPPER_INT64:
    case HOPPER_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

int64_t FindNonFinite(int32_t type, const void* values, int64_t count) {
  switch (type) {
    case HOPPER_FLOAT32:
      return FirstNonFinite<float>(values, count);
    case HOPPER_FLOAT64:
      return FirstNonFinite<double>(values, count);
    default:
      return -1;
  }
}

}  // namespace hopper
