// The matrix product of Kernels::gemm: tiles of C in registers. Included by the kernel files.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// One tile of kRows x kVecs vectors. With kPart the last vector has `part` columns.
template <int kRows, int kVecs, bool kPart>
HOPPER_INLINE void Tile(const hopper::GemmArgs& g, const float* a, const float* b,
                        const float* bias, float* c, int64_t part) {
  Vec sum[kRows][kVecs];
  const auto load = [&](const float* p, int j) {
    return kPart && j == kVecs - 1 ? LoadPart(p + j * kWidth, part) : Load(p + j * kWidth);
  };
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) {
      sum[i][j] = g.accumulate ? load(c + i * g.c_row, j) : (bias ? load(bias, j) : Vec{});
    }
  }
  const int64_t a_row = g.a_row;
  const int64_t a_step = g.a_step;
  const int64_t b_row = g.b_row;
  const int64_t length = g.length;
  for (int64_t s = 0; s < g.segments; ++s) {
    const float* __restrict a_at = a + s * g.a_segment;
    const float* __restrict b_at = b + s * g.b_segment;
    for (int64_t k = 0; k < length; ++k) {
      Vec right[kVecs];
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) right[j] = load(b_at, j);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Vec left = Set(a_at[i * a_row]);
#pragma GCC unroll 16
        for (int j = 0; j < kVecs; ++j) sum[i][j] += left * right[j];
      }
      a_at += a_step;
      b_at += b_row;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) {
      Vec v = sum[i][j];
      if (g.accumulate && bias) v += load(bias, j);
      if (g.relu) v = Max(Vec{}, v);
      float* to = c + i * g.c_row + j * kWidth;
      if (kPart && j == kVecs - 1) {
        StorePart(to, v, part);
      } else {
        Store(to, v);
      }
    }
  }
}

// The rows that are left over, rows < kRows.
template <int kRows, int kVecs, bool kPart>
void Rest(const hopper::GemmArgs& g, int64_t rows, const float* a, const float* b,
          const float* bias, float* c, int64_t part) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return Tile<kRows, kVecs, kPart>(g, a, b, bias, c, part);
    Rest<kRows - 1, kVecs, kPart>(g, rows, a, b, bias, c, part);
  }
}

template <int kRows, int kVecs, bool kPart>
void Columns(const hopper::GemmArgs& g, int64_t j, int64_t part) {
  const float* b = g.b + j;
  const float* bias = g.bias ? g.bias + j : nullptr;
  int64_t i = 0;
  for (; i + kRows <= g.rows; i += kRows) {
    Tile<kRows, kVecs, kPart>(g, g.a + i * g.a_row, b, bias, g.c + i * g.c_row + j, part);
  }
  if (i < g.rows) {
    Rest<kRows - 1, kVecs, kPart>(g, g.rows - i, g.a + i * g.a_row, b, bias, g.c + i * g.c_row + j,
                                  part);
  }
}

// Rows that fill the registers beside kVecs vectors of B and one of A.
#if defined(__AVX512F__)
constexpr int kTileRows[5] = {0, 14, 12, 8, 6};
#else
constexpr int kTileRows[5] = {0, 8, 5, 3, 2};
#endif

// kRows dot products with one column.
template <int kRows>
HOPPER_INLINE void Dots(const hopper::GemmArgs& g, int64_t i) {
  Vec sum[kRows] = {};
  const float* a = g.a + i * g.a_row;
  int64_t k = 0;
  for (; k + kWidth <= g.length; k += kWidth) {
    const Vec right = Load(g.b + k);
    for (int r = 0; r < kRows; ++r) sum[r] += Load(a + r * g.a_row + k) * right;
  }
  for (int r = 0; r < kRows; ++r) {
    float total = SumOf(sum[r]);
    for (int64_t rest = k; rest < g.length; ++rest) total += a[r * g.a_row + rest] * g.b[rest];
    float* c = g.c + (i + r) * g.c_row;
    if (g.accumulate) total += *c;
    if (g.bias) total += *g.bias;
    *c = g.relu && total < 0.0F ? 0.0F : total;
  }
}

void Gemm(const hopper::GemmArgs& g) {
  if (g.columns == 1 && g.segments == 1 && g.a_step == 1 && g.b_row == 1) {
    int64_t i = 0;
    for (; i + 4 <= g.rows; i += 4) Dots<4>(g, i);
    for (; i < g.rows; ++i) Dots<1>(g, i);
    return;
  }
  int64_t j = 0;
  for (; j + 4 * kWidth <= g.columns; j += 4 * kWidth) Columns<kTileRows[4], 4, false>(g, j, 0);
  const int64_t rest = g.columns - j;
  const int64_t part = rest % kWidth;
  if (part == 0) {
    switch (rest / kWidth) {
      case 1:
        return Columns<kTileRows[1], 1, false>(g, j, 0);
      case 2:
        return Columns<kTileRows[2], 2, false>(g, j, 0);
      case 3:
        return Columns<kTileRows[3], 3, false>(g, j, 0);
      default:
        return;
    }
  }
  switch (rest / kWidth) {
    case 0:
      return Columns<kTileRows[1], 1, true>(g, j, part);
    case 1:
      return Columns<kTileRows[2], 2, true>(g, j, part);
    case 2:
      return Columns<kTileRows[3], 3, true>(g, j, part);
    default:
      return Columns<kTileRows[4], 4, true>(g, j, part);
  }
}

}  // namespace
