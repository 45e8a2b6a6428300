// The matrix product of Bf16Kernels::gemm: tiles of C in registers, the right operand in blocks
// that stay in the first cache. Included by the kernel files.
#pragma once

#include "kernels/bf16.h"
#include "kernels/simd.h"

namespace {

// What a vector of pairs is multiplied from, and a pair of A for all columns.
#if defined(__AVX512BF16__)
using Pairs = __m512i;
HOPPER_INLINE Pairs LoadPairs(const uint32_t* p) { return _mm512_loadu_si512(p); }
HOPPER_INLINE Pairs SpreadPair(const uint16_t* p) {
  int32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  return _mm512_set1_epi32(pair);
}
// The upper products first, then the lower ones.
HOPPER_INLINE void AddProducts(Pairs left, Pairs right, Vec* sum) {
  *sum = (Vec)_mm512_dpbf16_ps((__m512)*sum, (__m512bh)left, (__m512bh)right);
}
#else
struct Pairs {
  Vec lower, upper;
};
HOPPER_INLINE Pairs LoadPairs(const uint32_t* p) {
  IntVec bits;
  std::memcpy(&bits, p, sizeof(bits));
  return {AsFloat(bits << 16), AsFloat(bits & static_cast<int32_t>(0xFFFF0000U))};
}
HOPPER_INLINE Pairs SpreadPair(const uint16_t* p) {
  uint32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  const uint32_t lower = pair << 16;
  const uint32_t upper = pair & 0xFFFF0000U;
  float low, up;
  std::memcpy(&low, &lower, sizeof(low));
  std::memcpy(&up, &upper, sizeof(up));
  return {Set(low), Set(up)};
}
HOPPER_INLINE void AddProducts(const Pairs& left, const Pairs& right, Vec* sum) {
  *sum += left.upper * right.upper;
  *sum += left.lower * right.lower;
}
#endif

// One block of the sum for up to kTileVecs vectors of columns.
struct PairBlock {
  int64_t segments, pairs;
  int64_t a_row, a_segment, a_pair;
  const uint32_t* b;
  int64_t pitch;
  int64_t c_row;
  int64_t part;  // columns of the last vector
  const float* bias;
  bool accumulate, relu;
};

// With kPart the last vector has g.part columns.
template <int kRows, int kVecs, bool kPart>
HOPPER_INLINE void PairTile(const PairBlock& g, const uint16_t* a, float* c) {
  Vec sum[kRows][kVecs];
  const auto load = [&](const float* p, int j) {
    return kPart && j == kVecs - 1 ? LoadPart(p + j * kWidth, g.part) : Load(p + j * kWidth);
  };
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) {
      sum[i][j] = g.accumulate ? load(c + i * g.c_row, j) : (g.bias ? load(g.bias, j) : Vec{});
    }
  }
  const int64_t a_row = g.a_row;
  const int64_t a_pair = g.a_pair;
  const int64_t pitch = g.pitch;
  const int64_t pairs = g.pairs;
  const uint32_t* __restrict b = g.b;
  for (int64_t s = 0; s < g.segments; ++s) {
    const uint16_t* __restrict a_at = a + s * g.a_segment;
    for (int64_t k = 0; k < pairs; ++k) {
      Pairs right[kVecs];
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) right[j] = LoadPairs(b + j * kWidth);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Pairs left = SpreadPair(a_at + i * a_row);
#pragma GCC unroll 16
        for (int j = 0; j < kVecs; ++j) AddProducts(left, right[j], &sum[i][j]);
      }
      a_at += a_pair;
      b += pitch;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) {
      const Vec v = g.relu ? Max(Vec{}, sum[i][j]) : sum[i][j];
      float* to = c + i * g.c_row + j * kWidth;
      if (kPart && j == kVecs - 1) {
        StorePart(to, v, g.part);
      } else {
        Store(to, v);
      }
    }
  }
}

template <int kRows, int kVecs, bool kPart>
void PairTileOf(const PairBlock& g, int64_t rows, const uint16_t* a, float* c) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return PairTile<kRows, kVecs, kPart>(g, a, c);
    PairTileOf<kRows - 1, kVecs, kPart>(g, rows, a, c);
  }
}

// Rows that fill the registers beside kVecs vectors of B and one of A.
#if defined(__AVX512F__)
constexpr int kTileVecs = 4;
constexpr int kPairTileRows[kTileVecs + 1] = {0, 14, 12, 8, 6};
constexpr bool kAlwaysPart = true;  // masks cost nothing
#else
constexpr int kTileVecs = 2;
constexpr int kPairTileRows[kTileVecs + 1] = {0, 6, 4};
constexpr bool kAlwaysPart = false;
#endif

// Rows in tiles of nearly equal height: a tile of one row would wait for its own sums.
template <int kVecs, bool kPart>
void PairRowsOf(const hopper::Bf16GemmArgs& g, const PairBlock& block, const uint16_t* a,
                float* c) {
  constexpr int kRows = kPairTileRows[kVecs];
  const int64_t tiles = (g.rows + kRows - 1) / kRows;
  const int64_t height = g.rows / tiles;
  const int64_t higher = g.rows - height * tiles;
  for (int64_t group = 0; group < g.groups; ++group) {
    const uint16_t* a_at = a + group * g.a_group;
    float* c_at = c + group * g.c_group;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t rows = height + (t < higher ? 1 : 0);
      PairTileOf<kRows, kVecs, kPart>(block, rows, a_at, c_at);
      a_at += rows * g.a_row;
      c_at += rows * g.c_row;
    }
  }
}

template <bool kPart>
void PairColumnsOf(const hopper::Bf16GemmArgs& g, int64_t vecs, const PairBlock& block,
                   const uint16_t* a, float* c) {
  switch (vecs) {
    case 1:
      return PairRowsOf<1, kPart>(g, block, a, c);
    case 2:
      return PairRowsOf<2, kPart>(g, block, a, c);
#if defined(__AVX512F__)
    case 3:
      return PairRowsOf<3, kPart>(g, block, a, c);
    default:
      return PairRowsOf<4, kPart>(g, block, a, c);
#else
    default:
      return;
#endif
  }
}

// Entries of B that stay in the first cache beside what streams through it.
constexpr int64_t kBlockEntries = 6 * 1024;

// columns <= kTileVecs * kWidth of one panel, from column j of the result on.
void PairPanel(const hopper::Bf16GemmArgs& g, int64_t columns, const uint32_t* b, int64_t j) {
  const int64_t pitch = hopper::Bf16Pitch(g.columns);
  const int64_t most = kBlockEntries / pitch;  // rows of pairs in a block
  const int64_t pairs = g.segments > 1 ? g.pairs : (g.pairs < most ? g.pairs : most);
  const int64_t segments = most / pairs > 1 ? most / pairs : 1;
  PairBlock block;
  block.a_row = g.a_row;
  block.a_segment = g.a_segment;
  block.a_pair = g.a_pair;
  block.pitch = pitch;
  block.c_row = g.c_row;
  block.bias = g.bias == nullptr ? nullptr : g.bias + j;
  const int64_t vecs = (columns + kWidth - 1) / kWidth;
  block.part = columns - (vecs - 1) * kWidth;
  for (int64_t s = 0; s < g.segments; s += segments) {
    for (int64_t k = 0; k < g.pairs; k += pairs) {
      block.segments = segments < g.segments - s ? segments : g.segments - s;
      block.pairs = pairs < g.pairs - k ? pairs : g.pairs - k;
      block.b = b + (s * g.pairs + k) * pitch;
      block.accumulate = g.accumulate || s + k > 0;
      block.relu = g.relu && s + block.segments == g.segments && k + block.pairs == g.pairs;
      const uint16_t* a = g.a + s * g.a_segment + k * g.a_pair;
      if (!kAlwaysPart && block.part == kWidth) {
        PairColumnsOf<kAlwaysPart>(g, vecs, block, a, g.c + j);
      } else {
        PairColumnsOf<true>(g, vecs, block, a, g.c + j);
      }
    }
  }
}

void PairGemm(const hopper::Bf16GemmArgs& g) {
  if (g.rows == 0) return;
  constexpr int64_t kStep = kTileVecs * kWidth;
  const uint32_t* b = g.b;
  for (int64_t first = 0; first < g.columns; first += hopper::kBf16Panel, b += g.b_panel) {
    const int64_t end =
        first + hopper::kBf16Panel < g.columns ? first + hopper::kBf16Panel : g.columns;
    for (int64_t j = first; j < end; j += kStep) {
      PairPanel(g, j + kStep < end ? kStep : end - j, b + (j - first), j);
    }
  }
}

}  // namespace
