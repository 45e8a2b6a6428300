// Rounding to bfloat16 and packing for Bf16Kernels::gemm. Included by the kernel files.
#pragma once

#include "base/bf16.h"
#include "kernels/bf16.h"
#include "kernels/simd.h"

namespace {

#if defined(__AVX512BF16__)
// Bits of the rounded numbers in the lower halves. (The unmasked form makes gcc 12 warn.)
HOPPER_INLINE IntVec Rounded(const float* x) {
  const auto half = (__m256i)_mm512_cvtneps_pbh((__m512)Load(x));
  return (IntVec)_mm512_maskz_cvtepu16_epi32(0xFFFF, half);
}
#endif

void Round(const float* x, int64_t n, uint16_t* y) {
  int64_t i = 0;
#if defined(__AVX512BF16__)
  for (; i + 16 <= n; i += 16) {
    const auto half = (__m256i)_mm512_cvtneps_pbh((__m512)Load(x + i));
    std::memcpy(y + i, &half, sizeof(half));
  }
#endif
  for (; i < n; ++i) y[i] = hopper::ToBf16(x[i]);
}

HOPPER_INLINE void FillZeros(int64_t from, int64_t to, uint32_t* out) {
  for (int64_t j = from; j < to; ++j) out[j] = 0;
}

void PairRows(const float* x, int64_t x_row, int64_t rows, int64_t columns, int64_t fill,
              int64_t out_row, uint32_t* out) {
  for (int64_t k = 0; k < rows; k += 2, out += out_row) {
    const float* __restrict lower = x + k * x_row;
    int64_t j = 0;
    if (k + 1 < rows) {
      const float* __restrict upper = lower + x_row;
#if defined(__AVX512BF16__)
      for (; j + 16 <= columns; j += 16) {
        const IntVec pairs = Rounded(lower + j) | Rounded(upper + j) << 16;
        std::memcpy(out + j, &pairs, sizeof(pairs));
      }
#endif
      for (; j < columns; ++j) {
        out[j] = hopper::ToBf16(lower[j]) | static_cast<uint32_t>(hopper::ToBf16(upper[j])) << 16;
      }
    } else {
      for (; j < columns; ++j) out[j] = hopper::ToBf16(lower[j]);
    }
    FillZeros(columns, fill, out);
  }
}

void PairRoundedRows(const uint16_t* x, int64_t x_row, int64_t rows, int64_t columns, int64_t fill,
                     int64_t out_row, uint32_t* __restrict out) {
  for (int64_t k = 0; k < rows; k += 2, out += out_row) {
    const uint16_t* __restrict lower = x + k * x_row;
    if (k + 1 < rows) {
      const uint16_t* __restrict upper = lower + x_row;
      for (int64_t j = 0; j < columns; ++j) {
        out[j] = lower[j] | static_cast<uint32_t>(upper[j]) << 16;
      }
    } else {
      for (int64_t j = 0; j < columns; ++j) out[j] = lower[j];
    }
    FillZeros(columns, fill, out);
  }
}

void PairColumns(const uint16_t* x, int64_t x_row, int64_t length, int64_t columns, int64_t fill,
                 int64_t out_row, uint32_t* out) {
  constexpr int64_t kBlock = 16;
  const int64_t whole = length / 2;
  for (int64_t j0 = 0; j0 < columns; j0 += kBlock) {
    const int64_t j1 = j0 + kBlock < columns ? j0 + kBlock : columns;
    for (int64_t k = 0; k < whole; ++k) {
      for (int64_t j = j0; j < j1; ++j) {
        std::memcpy(out + k * out_row + j, x + j * x_row + 2 * k, sizeof(uint32_t));
      }
    }
    if (length % 2 != 0) {
      for (int64_t j = j0; j < j1; ++j) out[whole * out_row + j] = x[j * x_row + length - 1];
    }
  }
  for (int64_t k = 0; k < (length + 1) / 2; ++k) FillZeros(columns, fill, out + k * out_row);
}

constexpr hopper::Bf16Kernels Bf16TableNamed(const char* name, bool native) {
  return {name, native, false, PairGemm, Round, PairRows, PairRoundedRows, PairColumns};
}

}  // namespace
