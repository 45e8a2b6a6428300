// Packed values on their way into a batch: gathered by row and converted.
//
// This file is compiled with -O3: its loops are meant to become vector code.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/product.h"
#include "data/dataset.h"

namespace hopper {

namespace {

// out[i] = float(in[i]) / divisor, rounded as float32 division rounds. A divisor whose reciprocal
// is exact (a power of two) is multiplied by it, which gives the same bits sooner.
class Scaler {
 public:
  explicit Scaler(double divisor) : divisor_(static_cast<float>(divisor)) {
    int exponent = 0;
    const float fraction = std::frexp(divisor_, &exponent);
    exact_ = std::fabs(fraction) == 0.5F && exponent > -120 && exponent < 120;
    factor_ = exact_ ? 1.0F / divisor_ : 1.0F;
  }

  // Of numbers that float32 may not hold, the quotients.
  void Convert(const double* in, int64_t n, float* __restrict out) const {
    const auto divisor = static_cast<double>(divisor_);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i] / divisor);
  }

  template <typename T>
  void Convert(const T* in, int64_t n, float* __restrict out) const {
    if (divisor_ == 1.0F) {
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
    } else if (exact_) {
      const float factor = factor_;
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]) * factor;
    } else {
      const float divisor = divisor_;
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]) / divisor;
    }
  }

 private:
  float divisor_;
  float factor_;
  bool exact_;
};

// Calls f with a pointer to the values as their own type. Packed partitions are aligned; bytes
// from elsewhere may not be, and are then copied first by the caller.
template <typename F>
void WithType(ValueType type, const uint8_t* values, const F& f) {
  switch (type) {
    case ValueType::kUint8:
      return f(values);
    case ValueType::kInt16:
      return f(reinterpret_cast<const int16_t*>(values));
    case ValueType::kInt32:
      return f(reinterpret_cast<const int32_t*>(values));
    case ValueType::kInt64:
      return f(reinterpret_cast<const int64_t*>(values));
    case ValueType::kFloat32:
      return f(reinterpret_cast<const float*>(values));
    case ValueType::kFloat64:
      return f(reinterpret_cast<const double*>(values));
    default:
      return;
  }
}

constexpr int64_t kRowsAhead = 8;
constexpr int64_t kCacheLine = 64;
// Of a longer row the processor itself fetches the rest.
constexpr int64_t kBytesAhead = 512;

void Prefetch(const void* row, int64_t bytes) {
  const auto* at = static_cast<const char*>(row);
  for (int64_t i = 0; i < std::min(bytes, kBytesAhead); i += kCacheLine) __builtin_prefetch(at + i);
}

// The values of one row that has several inputs, which follow each other without a gap.
void ConvertInputs(const DataDesc& desc, const Scaler& scaler, const uint8_t* row, float* out) {
  for (const DataInput& input : desc.inputs) {
    const int64_t n = ProductOf(input.shape);
    WithType(input.type, row, [&](const auto* values) {
      using Value = std::remove_cv_t<std::remove_pointer_t<decltype(values)>>;
      for (int64_t i = 0; i < n; ++i) {
        Value value;
        std::memcpy(&value, row + i * static_cast<int64_t>(sizeof(Value)), sizeof(Value));
        scaler.Convert(&value, 1, out + i);
      }
      row += n * static_cast<int64_t>(sizeof(Value));
    });
    out += n;
  }
}

}  // namespace

void GatherFeatures(const DataDesc& desc, const Partition& partition, const int32_t* rows,
                    int64_t n, float* out) {
  const int64_t elements = desc.x_elements();
  if (desc.inputs.size() > 1) {
    const auto row_bytes = static_cast<int64_t>(desc.x_bytes());
    const uint8_t* x = partition.x.data();
    const Scaler scaler(desc.normalizing_const);
    for (int64_t i = 0; i < n; ++i) {
      if (i + kRowsAhead < n) Prefetch(x + rows[i + kRowsAhead] * row_bytes, row_bytes);
      ConvertInputs(desc, scaler, x + rows[i] * row_bytes, out + i * elements);
    }
    return;
  }
  const Scaler scaler(desc.normalizing_const);
  WithType(desc.x_type, partition.x.data(), [&](const auto* values) {
    const auto row_bytes = elements * static_cast<int64_t>(sizeof(*values));
    for (int64_t i = 0; i < n; ++i) {
      // Rows come in random order: without this each waits for memory.
      if (i + kRowsAhead < n) Prefetch(values + rows[i + kRowsAhead] * elements, row_bytes);
      scaler.Convert(values + rows[i] * elements, elements, out + i * elements);
    }
  });
}

void ConvertFeatures(const DataDesc& desc, const void* x, int64_t n, float* out) {
  const auto* bytes = static_cast<const uint8_t*>(x);
  if (desc.inputs.size() > 1) {
    const Scaler scaler(desc.normalizing_const);
    for (int64_t i = 0; i < n; ++i) {
      ConvertInputs(desc, scaler, bytes + static_cast<size_t>(i) * desc.x_bytes(),
                    out + i * desc.x_elements());
    }
    return;
  }
  const int64_t count = n * desc.x_elements();
  const Scaler scaler(desc.normalizing_const);
  const auto size = static_cast<size_t>(TypeSize(desc.x_type));
  if (size > 1 && reinterpret_cast<uintptr_t>(bytes) % size != 0) {
    AlignedArray<uint8_t> aligned(static_cast<size_t>(count) * size);
    std::memcpy(aligned.data(), bytes, aligned.size());
    WithType(desc.x_type, aligned.data(),
             [&](const auto* values) { scaler.Convert(values, count, out); });
    return;
  }
  WithType(desc.x_type, bytes, [&](const auto* values) { scaler.Convert(values, count, out); });
}

void GatherClasses(const DataDesc& desc, const Partition& partition, const int32_t* rows, int64_t n,
                   int64_t* out) {
  WithType(desc.y_type, partition.y.data(), [&](const auto* values) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(values[rows[i]]);
  });
}

void GatherValues(const DataDesc& desc, const Partition& partition, const int32_t* rows, int64_t n,
                  float* out) {
  const int64_t elements = desc.y_elements();
  WithType(desc.y_type, partition.y.data(), [&](const auto* values) {
    for (int64_t i = 0; i < n; ++i) {
      const auto* row = values + rows[i] * elements;
      for (int64_t j = 0; j < elements; ++j) out[i * elements + j] = static_cast<float>(row[j]);
    }
  });
}

}  // namespace hopper
