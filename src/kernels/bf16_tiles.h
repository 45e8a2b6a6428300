// The matrix product of Bf16Kernels::gemm on tiles: registers of 16 rows of 64 bytes, of which one
// instruction multiplies two (TDPBF16PS of AMX, Intel's instruction set reference). Included by the
// file of that set, and by its test, which has tiles of its own.
//
// A sum is made of chunks of at most 16 pairs (SplitPairs): the lower products of a chunk are added
// one by one to 0, so are the upper ones, and then lower + upper is added to the element. First the
// whole chunks of all segments, then what is left of each segment. All of it in float32, where
// subnormal numbers are zeros. A row of the result does not depend on which others there are.
#pragma once

#include "kernels/bf16.h"
#include "kernels/simd.h"

namespace {

constexpr int64_t kTileSide = 16;  // rows of a tile, and pairs or sums in a row
constexpr int64_t kTileSize = kTileSide * kTileSide;

// What LDTILECFG reads.
struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// `whole` chunks of `chunk` pairs, and one of `rest` unless that is 0.
struct PairSplit {
  int64_t chunk, whole, rest;
};
// In equal chunks if there are such: then a sum needs one shape of tiles.
inline PairSplit SplitPairs(int64_t pairs) {
  const int64_t chunks = (pairs + kTileSide - 1) / kTileSide;
  if (pairs % chunks == 0) return {pairs / chunks, chunks, 0};
  return {kTileSide, pairs / kTileSide, pairs % kTileSide};
}

// Whether the sums of a product are these. Setting up the tiles takes 0.1 microseconds, in which
// vectors have made short sums over few columns (bench/bf16_products); there the other order
// counts. The rows cannot decide: threads share them.
inline bool SumsInTiles(const hopper::Bf16GemmArgs& g) {
  return (g.columns + kTileSide - 1) / kTileSide * g.segments * g.pairs >= 8;
}

// Chunks of a sum that are added without storing it between them. Their rows of A stay in the first
// cache, and the panels of kColumnBlock columns in the second.
constexpr int kMostSteps = 16;
constexpr int64_t kColumnBlock = 8 * hopper::kBf16Panel;

struct TileSteps {
  int count = 0;
  int64_t a[kMostSteps];  // bfloat16s from the first chunk's place to this one's
  int64_t b[kMostSteps];  // entries
};

// Up to two tiles of rows by two of columns of the result.
struct TileBlock {
  const TileSteps* steps;
  const uint16_t* a[2];
  int64_t a_bytes;  // from a row to the next, as b_bytes
  const uint32_t* b;
  int64_t b_bytes;
  float* c[2];
  int64_t c_row;
  int64_t rows;
  int64_t columns;              // of all tiles
  const float* bias = nullptr;  // for all columns of the tiles
  bool accumulate, relu;
};

// Columns of the block's tile `j`.
HOPPER_INLINE int64_t ColumnsOf(const TileBlock& x, int j) {
  const int64_t columns = x.columns - j * kTileSide;
  return columns < kTileSide ? columns : kTileSide;
}

template <typename Tiles, int kTile>
HOPPER_INLINE void BeginSums(const TileBlock& x) {
  constexpr int kColumn = kTile % 2;
  const int64_t columns = ColumnsOf(x, kColumn);
  const float* c = x.c[kTile / 2] + kColumn * kTileSide;
  if (!x.accumulate) {
    if (x.bias == nullptr) return Tiles::template Zero<kTile>();
    return Tiles::template Load<kTile>(x.bias + kColumn * kTileSide, 0);
  }
  if (columns == kTileSide) {
    return Tiles::template Load<kTile>(c, x.c_row * static_cast<int64_t>(sizeof(float)));
  }
  alignas(64) float sums[kTileSize];
  for (int64_t i = 0; i < x.rows; ++i) {
    if constexpr (kWidth == kTileSide) {
      Store(sums + i * kTileSide, LoadPart(c + i * x.c_row, columns));
    } else {
      for (int64_t j = 0; j < kTileSide; ++j) {
        sums[i * kTileSide + j] = j < columns ? c[i * x.c_row + j] : 0.0F;
      }
    }
  }
  Tiles::template Load<kTile>(sums, kTileSide * static_cast<int64_t>(sizeof(float)));
}

template <typename Tiles, int kTile>
HOPPER_INLINE void EndSums(const TileBlock& x) {
  constexpr int kColumn = kTile % 2;
  const int64_t columns = ColumnsOf(x, kColumn);
  float* c = x.c[kTile / 2] + kColumn * kTileSide;
  if (columns == kTileSide && !x.relu) {
    return Tiles::template Store<kTile>(c, x.c_row * static_cast<int64_t>(sizeof(float)));
  }
  alignas(64) float sums[kTileSize];
  Tiles::template Store<kTile>(sums, kTileSide * static_cast<int64_t>(sizeof(float)));
  for (int64_t i = 0; i < x.rows; ++i) {
    const float* from = sums + i * kTileSide;
    float* to = c + i * x.c_row;
    if constexpr (kWidth == kTileSide) {
      const Vec sum = x.relu ? Max(Vec{}, Load(from)) : Load(from);
      columns == kTileSide ? Store(to, sum) : StorePart(to, sum, columns);
    } else {
      for (int64_t j = 0; j < columns; ++j) to[j] = x.relu && 0.0F > from[j] ? 0.0F : from[j];
    }
  }
}

// Tiles 0 to 3 are sums, 4 and 5 of A, 6 and 7 of B.
template <typename Tiles, bool kTwoRows, bool kTwoColumns>
void MultiplyTiles(const TileBlock& x) {
  BeginSums<Tiles, 0>(x);
  if constexpr (kTwoColumns) BeginSums<Tiles, 1>(x);
  if constexpr (kTwoRows) BeginSums<Tiles, 2>(x);
  if constexpr (kTwoRows && kTwoColumns) BeginSums<Tiles, 3>(x);
  for (int s = 0; s < x.steps->count; ++s) {
    const uint32_t* b = x.b + x.steps->b[s];
    Tiles::template Load<6>(b, x.b_bytes);
    Tiles::template Load<4>(x.a[0] + x.steps->a[s], x.a_bytes);
    Tiles::template Multiply<0, 4, 6>();
    if constexpr (kTwoColumns) {
      Tiles::template Load<7>(b + kTileSide, x.b_bytes);
      Tiles::template Multiply<1, 4, 7>();
    }
    if constexpr (kTwoRows) {
      Tiles::template Load<5>(x.a[1] + x.steps->a[s], x.a_bytes);
      Tiles::template Multiply<2, 5, 6>();
      if constexpr (kTwoColumns) Tiles::template Multiply<3, 5, 7>();
    }
  }
  EndSums<Tiles, 0>(x);
  if constexpr (kTwoColumns) EndSums<Tiles, 1>(x);
  if constexpr (kTwoRows) EndSums<Tiles, 2>(x);
  if constexpr (kTwoRows && kTwoColumns) EndSums<Tiles, 3>(x);
}

// One or two tiles of rows by the columns first .. end - 1 of the result; x.c lies at column 0, and
// b at the panels' first entries.
template <typename Tiles, bool kTwoRows>
void MultiplyColumns(const hopper::Bf16GemmArgs& g, const TileBlock& rows, bool with_bias,
                     int64_t first, int64_t end) {
  TileBlock x = rows;
  alignas(64) float bias[2 * kTileSide] = {};
  for (int64_t j = first; j < end; j += 2 * kTileSide) {
    x.columns = end - j < 2 * kTileSide ? end - j : 2 * kTileSide;
    x.b = g.b + j / hopper::kBf16Panel * g.b_panel + j % hopper::kBf16Panel;
    for (int r = 0; r <= static_cast<int>(kTwoRows); ++r) x.c[r] = rows.c[r] + j;
    if (with_bias) {
      std::memcpy(bias, g.bias + j, static_cast<size_t>(x.columns) * sizeof(float));
      x.bias = bias;
    }
    if (x.columns > kTileSide) {
      MultiplyTiles<Tiles, kTwoRows, true>(x);
    } else {
      MultiplyTiles<Tiles, kTwoRows, false>(x);
    }
  }
}

#if defined(__AVX512F__)
// Swaps the blocks of kSize x kSize above the diagonal of each block twice as large with those
// below it.
template <int kSize>
HOPPER_INLINE void SwapBlocks(IntVec* v) {
  IntVec lower, upper;
  for (int j = 0; j < kTileSide; ++j) {
    const bool left = j % (2 * kSize) < kSize;
    lower[j] = static_cast<int>(left ? j : j + kTileSide - kSize);
    upper[j] = static_cast<int>(left ? j + kSize : j + kTileSide);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileSide; ++i) {
    if (i % (2 * kSize) >= kSize) continue;
    const auto first = (__m512i)v[i];
    const auto second = (__m512i)v[i + kSize];
    v[i] = (IntVec)_mm512_permutex2var_epi32(first, (__m512i)lower, second);
    v[i + kSize] = (IntVec)_mm512_permutex2var_epi32(first, (__m512i)upper, second);
  }
}
#endif

// to[i][k] = the pair at a + i * a_row + k * a_pair, for `rows` rows and `pairs` pairs.
void CopyTile(const uint16_t* a, int64_t a_row, int64_t a_pair, int64_t rows, int64_t pairs,
              uint32_t* to) {
#if defined(__AVX512F__)
  if (a_row == 2) {  // rows are neighbours in memory: a transposition
    IntVec v[kTileSide];
    const auto mask = static_cast<__mmask16>((1U << rows) - 1);
#pragma GCC unroll 16
    for (int k = 0; k < kTileSide; ++k) {
      v[k] = k < pairs ? (IntVec)_mm512_maskz_loadu_epi32(mask, a + k * a_pair) : IntVec{};
    }
    SwapBlocks<1>(v);
    SwapBlocks<2>(v);
    SwapBlocks<4>(v);
    SwapBlocks<8>(v);
#pragma GCC unroll 16
    for (int i = 0; i < kTileSide; ++i) std::memcpy(to + i * kTileSide, &v[i], sizeof(v[i]));
    return;
  }
#endif
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < pairs; ++k) {
      std::memcpy(to + i * kTileSide + k, a + i * a_row + k * a_pair, sizeof(uint32_t));
    }
  }
}

// Tiles of `height` rows: in each group `count` of them, from row `first` on.
struct TileRows {
  int64_t first, height, count;
};

// A part of all sums: of each segment `chunks` chunks of so many pairs, from pair `first` on.
struct SumPart {
  int64_t first, pairs, chunks;
};

// The chunks from number `first` of a part on, as many as fit. For rows that were copied, `a` has
// their places in the copy.
TileSteps StepsFrom(const hopper::Bf16GemmArgs& g, const SumPart& part, int64_t first) {
  const int64_t pitch = hopper::Bf16Pitch(g.columns);
  TileSteps steps;
  for (int64_t n = first; n < g.segments * part.chunks && steps.count < kMostSteps; ++n) {
    const int64_t segment = n / part.chunks;
    const int64_t pair = part.first + n % part.chunks * part.pairs;
    steps.a[steps.count] = segment * g.a_segment + pair * g.a_pair;
    steps.b[steps.count++] = (segment * g.pairs + pair) * pitch;
  }
  return steps;
}

template <typename Tiles>
void MultiplyPart(const hopper::Bf16GemmArgs& g, const TileRows& rows, const SumPart& part,
                  bool begins, bool ends) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    const bool right = tile >= 6;
    config.rows[tile] = static_cast<uint8_t>(right ? part.pairs : rows.height);
    config.row_bytes[tile] =
        static_cast<uint16_t>(4 * (tile == 4 || tile == 5 ? part.pairs : kTileSide));
  }
  Tiles::Configure(config);
  // Pairs that do not lie side by side are brought together.
  const bool copied = g.a_pair != 2;
  alignas(64) uint32_t copies[2][kMostSteps * kTileSize];
  TileBlock x;
  x.b_bytes = hopper::Bf16Pitch(g.columns) * static_cast<int64_t>(sizeof(uint32_t));
  x.a_bytes = copied ? 64 : g.a_row * static_cast<int64_t>(sizeof(uint16_t));
  x.c_row = g.c_row;
  x.rows = rows.height;
  const int64_t chunks = g.segments * part.chunks;
  const int64_t tiles = g.groups * rows.count;
  for (int64_t chunk = 0; chunk < chunks; chunk += kMostSteps) {
    const TileSteps places = StepsFrom(g, part, chunk);
    TileSteps steps = places;
    for (int s = 0; copied && s < steps.count; ++s) steps.a[s] = 2 * kTileSize * s;
    x.steps = &steps;
    x.accumulate = g.accumulate || !begins || chunk > 0;
    x.relu = g.relu && ends && chunk + steps.count == chunks;
    const bool with_bias = g.bias != nullptr && !x.accumulate;
    for (int64_t column = 0; column < g.columns; column += kColumnBlock) {
      const int64_t end = column + kColumnBlock < g.columns ? column + kColumnBlock : g.columns;
      for (int64_t t = 0; t < tiles; t += 2) {
        const int together = t + 1 < tiles ? 2 : 1;
        for (int r = 0; r < together; ++r) {
          const int64_t group = (t + r) / rows.count;
          const int64_t row = rows.first + (t + r) % rows.count * rows.height;
          x.a[r] = g.a + group * g.a_group + row * g.a_row;
          x.c[r] = g.c + group * g.c_group + row * g.c_row;
          if (!copied) continue;
          for (int s = 0; s < steps.count; ++s) {
            CopyTile(x.a[r] + places.a[s], g.a_row, g.a_pair, rows.height, part.pairs,
                     copies[r] + s * kTileSize);
          }
          x.a[r] = reinterpret_cast<const uint16_t*>(copies[r]);
        }
        if (together == 2) {
          MultiplyColumns<Tiles, true>(g, x, with_bias, column, end);
        } else {
          MultiplyColumns<Tiles, false>(g, x, with_bias, column, end);
        }
      }
    }
  }
}

template <typename Tiles>
void TileGemm(const hopper::Bf16GemmArgs& g) {
  if (g.rows == 0 || g.groups == 0) return;
  const PairSplit split = SplitPairs(g.pairs);
  // Tiles of nearly equal height: `higher` of them have a row more.
  const int64_t tiles = (g.rows + kTileSide - 1) / kTileSide;
  const int64_t height = g.rows / tiles;
  const int64_t higher = g.rows - height * tiles;
  const auto multiply = [&](const TileRows& rows) {
    if (rows.count == 0) return;
    MultiplyPart<Tiles>(g, rows, {0, split.chunk, split.whole}, true, split.rest == 0);
    if (split.rest == 0) return;
    MultiplyPart<Tiles>(g, rows, {split.chunk * split.whole, split.rest, 1}, false, true);
  };
  multiply({0, height + 1, higher});
  multiply({higher * (height + 1), height, tiles - higher});
  Tiles::Release();
}

}  // namespace
