#include "engine/examples.h"

#include <algorithm>
#include <cstring>

#include "base/product.h"

namespace hopper {

namespace {

// The low bits of a linear congruence are poor; these are its high ones.
uint32_t Next(uint64_t* state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<uint32_t>(*state >> 40U);  // 24 bits
}

template <typename T>
void Fill(uint8_t* to, int64_t count, T (*value)(uint32_t bits)) {
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    const T v = value(Next(&state));
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));
  }
}

template <typename T>
T Whole(uint32_t bits) {
  return static_cast<T>(bits & 0xFFU);
}
template <typename T>
T Fraction(uint32_t bits) {
  return static_cast<T>(bits) / static_cast<T>(1U << 24U);
}

void FillValues(ValueType type, int64_t count, uint8_t* to) {
  switch (type) {
    case ValueType::kUint8:
      return Fill<uint8_t>(to, count, Whole<uint8_t>);
    case ValueType::kInt16:
      return Fill<int16_t>(to, count, Whole<int16_t>);
    case ValueType::kInt32:
      return Fill<int32_t>(to, count, Whole<int32_t>);
    case ValueType::kInt64:
      return Fill<int64_t>(to, count, Whole<int64_t>);
    case ValueType::kFloat32:
      return Fill<float>(to, count, Fraction<float>);
    default:
      return Fill<double>(to, count, Fraction<double>);
  }
}

void Put(ValueType type, int64_t value, uint8_t* to) {
  if (type == ValueType::kFloat32) {
    const auto v = static_cast<float>(value);
    std::memcpy(to, &v, sizeof(v));
  } else if (type == ValueType::kFloat64) {
    const auto v = static_cast<double>(value);
    std::memcpy(to, &v, sizeof(v));
  } else {  // little-endian
    std::memcpy(to, &value, static_cast<size_t>(TypeSize(type)));
  }
}

}  // namespace

Partition MakeExamples(const DataDesc& desc, int64_t n) {
  Partition data;
  data.n = n;
  data.buffer_starts = {0};
  data.x = AlignedArray<uint8_t>(static_cast<size_t>(n) * desc.x_bytes());
  data.y = AlignedArray<uint8_t>(static_cast<size_t>(n) * desc.y_bytes());
  uint8_t* x = data.x.data();
  if (desc.inputs.size() == 1) {
    FillValues(desc.x_type, n * desc.x_elements(), x);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      for (const DataInput& input : desc.inputs) {
        const int64_t values = ProductOf(input.shape);
        FillValues(input.type, values, x);
        x += values * TypeSize(input.type);
      }
    }
  }
  const auto size = static_cast<int64_t>(TypeSize(desc.y_type));
  const int64_t elements = desc.y_elements();
  if (desc.y_kind == LabelKind::kValue) {
    FillValues(desc.y_type, n, data.y.data());
    return data;
  }
  std::memset(data.y.data(), 0, static_cast<size_t>(n) * desc.y_bytes());
  for (int64_t i = 0; i < n; ++i) {
    uint8_t* row = data.y.data() + i * elements * size;
    if (desc.y_kind == LabelKind::kClass) {
      Put(desc.y_type, i % std::max(desc.num_classes, 1), row);
    } else {
      Put(desc.y_type, 1, row + i % elements * size);
    }
  }
  return data;
}

}  // namespace hopper
