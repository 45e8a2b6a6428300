// The matrix product of Kernels::gemm: tiles of C in registers. Included by the kernel files.
//
// Each number of C is summed in the order of its terms, whatever the sizes: blocks decide only
// where the operands lie meanwhile. Rows of A come in blocks that stay in the second-level cache. A
// panel of B, as wide as a tile, is copied into one piece where its rows are far apart, where it
// ends within a vector and where B is transposed.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// Rows that fill the registers beside a tile's vectors of B and one of A, and the vectors of a tile
// where there are rows enough.
#if defined(__AVX512F__)
constexpr int kTileRows[5] = {0, 14, 12, 8, 6};
constexpr int kTileVecs = 4;
#else
constexpr int kTileRows[5] = {0, 12, 6, 4, 2};
constexpr int kTileVecs = 2;
#endif
constexpr int kMostVecs = 4;

// Terms of the sums in a block: the widest panel fills a first-level cache.
constexpr int64_t kBlockTerms = 8192 / (kMostVecs * kWidth);
constexpr int64_t kBlockRows = 192;  // of A
// A panel is copied for so many rows of A, where its own rows and what lies between them are more
// floats than that.
constexpr int64_t kRowsForCopy = 16;
constexpr int64_t kFarFloats = 4096;

// Columns of B, and what belongs to them.
struct Panel {
  const float* b;
  int64_t row;  // from one to the next, in floats
  int64_t segment;
  int64_t part;  // of the last vector's columns, 0 for all
  const float* bias;
  bool far_c;  // what is written is in no first-level cache
};

template <int kRows, int kVecs>
void Tile(const hopper::GemmArgs& g, const Panel& p, const float* a, float* c) {
  // Read once: what is stored might lie where these are.
  const float* const bias = p.bias;
  const int64_t part = p.part;
  const int64_t c_row = g.c_row;
  const bool accumulate = g.accumulate;
  const bool relu = g.relu;
  Vec sum[kRows][kVecs];
  const auto load = [&](const float* from, int j) {
    return j == kVecs - 1 ? LoadUpTo(from + j * kWidth, part) : Load(from + j * kWidth);
  };
  const auto each = [&](const auto& body) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) body(i, j);
    }
  };
  if (accumulate) {
    each([&](int i, int j) { sum[i][j] = load(c + i * c_row, j); });
  } else if (bias != nullptr) {
    each([&](int i, int j) { sum[i][j] = load(bias, j); });
  } else {
    each([&](int i, int j) { sum[i][j] = Vec{}; });
  }
  if (p.far_c) each([&](int i, int j) { __builtin_prefetch(c + i * c_row + j * kWidth, 1); });
  const int64_t a_row = g.a_row;
  const int64_t a_step = g.a_step;
  const int64_t b_row = p.row;
  for (int64_t s = 0; s < g.segments; ++s) {
    const float* __restrict a_at = a + s * g.a_segment;
    const float* __restrict b_at = p.b + s * p.segment;
    for (int64_t k = 0; k < g.length; ++k) {
      Vec right[kVecs];
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) right[j] = Load(b_at + j * kWidth);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Vec left = Set(a_at[i * a_row]);
#pragma GCC unroll 16
        for (int j = 0; j < kVecs; ++j) sum[i][j] = MulAdd(left, right[j], sum[i][j]);
      }
      a_at += a_step;
      b_at += b_row;
    }
  }
  if (accumulate && bias != nullptr) each([&](int i, int j) { sum[i][j] += load(bias, j); });
  if (relu) each([&](int i, int j) { sum[i][j] = Max(Vec{}, sum[i][j]); });
  each([&](int i, int j) {
    StoreUpTo(c + i * c_row + j * kWidth, sum[i][j], j == kVecs - 1 ? part : 0);
  });
}

// At most kRows rows; none is none.
template <int kRows, int kVecs>
void Rest(const hopper::GemmArgs& g, const Panel& p, int64_t rows, const float* a, float* c) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return Tile<kRows, kVecs>(g, p, a, c);
    Rest<kRows - 1, kVecs>(g, p, rows, a, c);
  }
}

// The panel in one piece, with zeros beside the last columns. Apart from Columns(), which small
// products enter often, for its many registers.
template <int kVecs>
__attribute__((noinline)) void Copy(const hopper::GemmArgs& g, const Panel& p, float* to) {
  constexpr int64_t kColumns = kVecs * kWidth;
  const int64_t columns = p.part == 0 ? kColumns : kColumns - kWidth + p.part;
  for (int64_t s = 0; s < g.segments; ++s) {
    const float* from = p.b + s * p.segment;
    if (g.b_step != 1) {
      for (int64_t k = 0; k < g.length; k += kWidth) {
        for (int64_t j = 0; j < kColumns; j += kWidth) {
          TransposeTile(from + j * g.b_step + k, g.b_step, columns - j, g.length - k,
                        to + k * kColumns + j, kColumns, 0);
        }
      }
      to += g.length * kColumns;
      continue;
    }
    for (int64_t k = 0; k < g.length; ++k, from += p.row, to += kColumns) {
#pragma GCC unroll 16
      for (int j = 0; j < kVecs - 1; ++j) Store(to + j * kWidth, Load(from + j * kWidth));
      Store(to + (kVecs - 1) * kWidth, LoadUpTo(from + (kVecs - 1) * kWidth, p.part));
    }
  }
}

// Some rows times the panel of kVecs vectors at column j, of which the last has `part`.
template <int kVecs>
void Columns(const hopper::GemmArgs& g, int64_t j, int64_t part) {
  constexpr int kRows = kTileRows[kVecs];
  constexpr int64_t kColumns = kVecs * kWidth;
  alignas(64) float copy[kBlockTerms * kColumns];
  Panel p{g.b + j * g.b_step,
          g.b_row,
          g.b_segment,
          part,
          g.bias ? g.bias + j : nullptr,
          !g.accumulate && g.rows * g.c_row > 16 * kFarFloats};
  const int64_t terms = g.segments * g.length;
  const bool copied =
      part != 0 || g.b_step != 1 ||
      (g.rows >= kRowsForCopy && terms * g.b_row > kFarFloats && terms <= kBlockTerms);
  if (g.b_packed) {
    p.b = g.b + j * terms;
    p.row = kColumns;
  } else if (copied) {
    Copy<kVecs>(g, p, copy);
    p.b = copy;
    p.row = kColumns;
    p.segment = g.length * kColumns;
  }
  const float* a = g.a;
  float* c = g.c + j;
  int64_t rows = g.rows;
  for (; rows >= 2 * kRows || rows == kRows; rows -= kRows) {
    Tile<kRows, kVecs>(g, p, a, c);
    a += kRows * g.a_row;
    c += kRows * g.c_row;
  }
  // Two tiles of half as many rows hide more of the additions' latency than a small one at the end.
  const int64_t half = rows > kRows ? rows / 2 : 0;
  if (half > 0) Rest<kRows - 1, kVecs>(g, p, half, a, c);
  Rest<kRows, kVecs>(g, p, rows - half, a + half * g.a_row, c + half * g.c_row);
}

// Calls body(vectors, column, part of the last vector) for all panels of kVecs vectors and for the
// last one, which may have fewer, from column j on.
template <int kVecs, typename Body>
void ForPanels(int64_t columns, int64_t j, const Body& body) {
  if constexpr (kVecs > 0) {
    constexpr std::integral_constant<int, kVecs> kSome;
    for (; j + kVecs * kWidth <= columns; j += kVecs * kWidth) body(kSome, j, 0);
    if (j == columns) return;
    if (columns - j > (kVecs - 1) * kWidth) return body(kSome, j, columns % kWidth);
    ForPanels<kVecs - 1>(columns, j, body);
  }
}

void Block(const hopper::GemmArgs& g) {
  const auto panel = [&](auto some, int64_t j, int64_t part) {
    Columns<decltype(some)::value>(g, j, part);
  };
  if (g.rows <= kTileRows[kMostVecs] && !g.b_packed)
    return ForPanels<kMostVecs>(g.columns, 0, panel);
  ForPanels<kTileVecs>(g.columns, 0, panel);
}

// The panels of each block of terms, one after the other; a single column as it is.
void PackRight(const hopper::GemmArgs& g, float* to) {
  if (g.columns == 1) {
    for (int64_t k = 0; k < g.length; ++k) to[k] = g.b[k * g.b_row];
    return;
  }
  hopper::GemmArgs block = g;
  for (int64_t k = 0; k < g.length; k += kBlockTerms) {
    block.length = g.length - k < kBlockTerms ? g.length - k : kBlockTerms;
    ForPanels<kTileVecs>(g.columns, 0, [&](auto some, int64_t j, int64_t part) {
      constexpr int kVecs = decltype(some)::value;
      const Panel panel{g.b + j * g.b_step + k * g.b_row, g.b_row, 0, part, nullptr, false};
      Copy<kVecs>(block, panel, to);
      to += block.length * kVecs * kWidth;
    });
  }
}

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

// Blocks of terms, of whole segments if they are short, and of rows.
void Gemm(const hopper::GemmArgs& g) {
  if (g.columns == 1 && g.segments == 1 && g.a_step == 1 && (g.b_packed || g.b_row == 1)) {
    int64_t i = 0;
    for (; i + 4 <= g.rows; i += 4) Dots<4>(g, i);
    for (; i < g.rows; ++i) Dots<1>(g, i);
    return;
  }
  if (g.rows <= kBlockRows && g.segments * g.length <= kBlockTerms) return Block(g);
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t length = g.length == 0 ? 1 : least(g.length, kBlockTerms);
  const int64_t segments = kBlockTerms / length;
  const int64_t width = (g.columns + kWidth - 1) / kWidth * kWidth;
  hopper::GemmArgs block = g;
  for (int64_t s = 0; s == 0 || s < g.segments; s += segments) {
    for (int64_t k = 0; k == 0 || k < g.length; k += length) {
      const bool first = s == 0 && k == 0;
      const bool last = s + segments >= g.segments && k + length >= g.length;
      block.segments = least(segments, g.segments - s);
      block.length = least(length, g.length - k);
      block.b = g.b + s * g.b_segment + k * (g.b_packed ? width : g.b_row);
      block.accumulate = g.accumulate || !first;
      block.bias = (g.accumulate ? last : first) ? g.bias : nullptr;
      block.relu = g.relu && last;
      for (int64_t i = 0; i < g.rows; i += kBlockRows) {
        block.rows = least(kBlockRows, g.rows - i);
        block.a = g.a + i * g.a_row + s * g.a_segment + k * g.a_step;
        block.c = g.c + i * g.c_row;
        Block(block);
      }
    }
  }
}

}  // namespace
