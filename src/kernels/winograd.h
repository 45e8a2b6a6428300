// Transforms of Winograd's convolutions F(2 x 2, 3 x 3) and F(4 x 4, 3 x 3). Included by the kernel
// files.
//
// Lavin and Gray, "Fast algorithms for convolutional neural networks" (2015):
// Y = A' [(G g G') * (B' d B)] A, in which d is a tile of inputs, g the window and Y the tile's
// outputs; the gradients are the transposes of these steps. The rows of B', A and G belong to
// points at which polynomials are multiplied: 0, pairs of p and -p, and infinity.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// The rows of 0, of each p and of infinity; those of -p have the other sign in every second column.
template <int kOutputs>
struct Winograd;

template <>
struct Winograd<2> {
  static constexpr float kInput[3][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, 1, 0, -1}};
  static constexpr float kOutput[3][2] = {{1, 0}, {1, 1}, {0, -1}};
  static constexpr float kWindow[3][3] = {{1, 0, 0}, {0.5F, 0.5F, 0.5F}, {0, 0, 1}};
};

// Of the points c and 1 / c, Alam and others, "Winograd convolution for deep neural networks:
// efficient point selection" (2022): at the root of 2 they round a quarter as coarsely as 1 and 2.
template <>
struct Winograd<4> {
  static constexpr float kC = 1.41421356237309505F;
  static constexpr float kInput[4][6] = {{1, 0, -2.5F, 0, 1, 0},
                                         {0, -kC, -2, kC / 2, 1, 0},
                                         {0, -kC / 2, -0.5F, kC, 1, 0},
                                         {0, 1, 0, -2.5F, 0, 1}};
  static constexpr float kOutput[4][4] = {
      {1, 0, 0, 0}, {1, kC / 2, 0.5F, kC / 4}, {1, kC, 2, 2 * kC}, {0, 0, 0, 1}};
  static constexpr float kWindow[4][3] = {
      {1, 0, 0}, {-2.0F / 3, -kC / 3, -1.0F / 3}, {1.0F / 6, kC / 6, 1.0F / 3}, {0, 0, 1}};
};

// A sum of products with constants.
struct Sum {
  Vec value{};
  bool empty = true;
  HOPPER_INLINE void Add(float factor, Vec x) {
    if (factor == 0.0F) return;
    if (empty) {
      value = factor == 1.0F ? x : x * factor;
    } else {
      value = factor == 1.0F    ? value + x
              : factor == -1.0F ? value - x
                                : MulAdd(Set(factor), x, value);
    }
    empty = false;
  }
};

// out = matrix * in, with the rows of all points.
template <int kRows, int kColumns>
HOPPER_INLINE void Times(const float (&matrix)[kRows][kColumns], const Vec (&in)[kColumns],
                         Vec (&out)[2 * kRows - 2]) {
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    Sum sum[2];  // of even and odd columns
#pragma GCC unroll 6
    for (int j = kColumns - 1; j >= 0; --j) sum[j % 2].Add(matrix[i][j], in[j]);
    const int at = i == 0 ? 0 : 2 * i - 1;
    if (i == 0 || i == kRows - 1) {  // one of the two is empty
      out[at] = sum[sum[0].empty ? 1 : 0].value;
    } else {
      out[at] = sum[0].value + sum[1].value;
      out[at + 1] = sum[0].value - sum[1].value;
    }
  }
}

// out = matrix' * in.
template <int kRows, int kColumns>
HOPPER_INLINE void TransposeTimes(const float (&matrix)[kRows][kColumns],
                                  const Vec (&in)[2 * kRows - 2], Vec (&out)[kColumns]) {
  Sum sum[kColumns];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    const int at = i == 0 ? 0 : 2 * i - 1;
    Vec both[2] = {in[at], in[at]};  // for even and odd columns
    if (i > 0 && i < kRows - 1) {
      both[0] += in[at + 1];
      both[1] -= in[at + 1];
    }
#pragma GCC unroll 6
    for (int j = 0; j < kColumns; ++j) sum[j].Add(matrix[i][j], both[j % 2]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < kColumns; ++j) out[j] = sum[j].value;
}

// store(i, j, Y[i][j]) of Y = matrix * X * matrix', or with the transposed matrix, X[i][j] being
// load(i, j).
template <bool kTransposed, int kRows, int kColumns, typename Load, typename Store>
HOPPER_INLINE void Transform(const float (&matrix)[kRows][kColumns], const Load& load,
                             const Store& store) {
  constexpr int kPoints = 2 * kRows - 2;
  constexpr int kIn = kTransposed ? kPoints : kColumns;
  constexpr int kOut = kTransposed ? kColumns : kPoints;
  const auto times = [&](const Vec(&in)[kIn], Vec(&out)[kOut]) HOPPER_INLINED {
    if constexpr (kTransposed) {
      TransposeTimes(matrix, in, out);
    } else {
      Times(matrix, in, out);
    }
  };
  Vec half[kOut][kIn];
#pragma GCC unroll 6
  for (int i = 0; i < kIn; ++i) {
    Vec in[kIn];
    Vec out[kOut];
#pragma GCC unroll 6
    for (int j = 0; j < kIn; ++j) in[j] = load(i, j);
    times(in, out);
#pragma GCC unroll 6
    for (int j = 0; j < kOut; ++j) half[j][i] = out[j];
  }
#pragma GCC unroll 6
  for (int j = 0; j < kOut; ++j) {
    Vec out[kOut];
    times(half[j], out);
#pragma GCC unroll 6
    for (int i = 0; i < kOut; ++i) store(i, j, out[i]);
  }
}

// Calls body(tile's place among the counted ones, image, row, column).
template <typename Body>
HOPPER_INLINE void ForTiles(const hopper::TileArgs& p, const Body& body) {
  int64_t column = p.first % p.columns;
  int64_t row = p.first / p.columns % p.rows;
  int64_t image = p.first / p.columns / p.rows;
  for (int64_t t = 0; t < p.count; ++t) {
    body(t, image, row, column);
    if (++column < p.columns) continue;
    column = 0;
    if (++row < p.rows) continue;
    row = 0;
    ++image;
  }
}

// Calls body(tile's place, place of its first pixel, whether all pixels are inside the image,
// whether pixel (i, j) is, c, load, store) for each tile of kSize x kSize pixels and each vector of
// channels, from c on. Tiles begin kOutputs pixels apart, the first one `before` the image.
template <int kOutputs, int kSize, typename Body>
HOPPER_INLINE void ForTileVectors(const hopper::TileArgs& p, int64_t before_height,
                                  int64_t before_width, const Body& body) {
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) HOPPER_INLINED {
    const int64_t top = kOutputs * row - before_height;
    const int64_t left = kOutputs * column - before_width;
    const int64_t first = ((image * p.height + top) * p.width + left) * p.channels;
    const bool whole = top >= 0 && left >= 0 && top + kSize <= p.height && left + kSize <= p.width;
    const auto inside = [=, &p](int i, int j) HOPPER_INLINED {
      return static_cast<uint64_t>(top + i) < static_cast<uint64_t>(p.height) &&
             static_cast<uint64_t>(left + j) < static_cast<uint64_t>(p.width);
    };
    ForSomeVectors<1>(0, p.channels,
                      [&](auto /*one*/, int64_t c, auto load, auto store) HOPPER_INLINED {
                        body(t * p.tile + c, first + c, whole, inside, c, load, store);
                      });
  });
}

template <int kOutputs>
void WinogradInput(const hopper::TileArgs& p, const float* x, float* v) {
  constexpr int kSize = kOutputs + 2;
  const int64_t line = p.width * p.channels;
  ForTileVectors<kOutputs, kSize>(
      p, p.before_height, p.before_width,
      [&](int64_t tile, int64_t first, bool whole, const auto& inside, int64_t /*c*/, auto load,
          auto store) HOPPER_INLINED {
        const float* from = x + first;
    // What the tile below is the first to read comes from far away, in rows that are too short
    // to be foreseen.
#pragma GCC unroll 16
        for (int i = 0; i < kOutputs * kOutputs; ++i) {
          __builtin_prefetch(from + (kSize + i / kOutputs) * line +
                             (1 + i % kOutputs) * p.channels);
        }
        const auto put = [&](int i, int j, Vec d) HOPPER_INLINED {
          store(Anew(v + tile + j * p.cell) + kSize * i * p.cell, d);
        };
        Transform<false>(
            Winograd<kOutputs>::kInput,
            [&](int i, int j) HOPPER_INLINED {
              return whole || inside(i, j) ? load(Anew(from + i * line) + j * p.channels) : Vec{};
            },
            put);
      });
}

template <int kOutputs>
void WinogradInputGradient(const hopper::TileArgs& p, const float* dv, float* dx) {
  constexpr int kSize = kOutputs + 2;
  const int64_t line = p.width * p.channels;
  ForTileVectors<kOutputs, kSize>(
      p, p.before_height, p.before_width,
      [&](int64_t tile, int64_t first, bool whole, const auto& inside, int64_t /*c*/, auto load,
          auto store) HOPPER_INLINED {
        Transform<true>(
            Winograd<kOutputs>::kInput,
            [&](int i, int j)
                HOPPER_INLINED { return load(Anew(dv + tile + kSize * i * p.cell) + j * p.cell); },
            [&](int i, int j, Vec d) HOPPER_INLINED {
              float* at = Anew(dx + first + j * p.channels) + i * line;
              if (whole || inside(i, j)) store(at, load(at) + d);
            });
      });
}

template <int kOutputs>
void WinogradOutput(const hopper::TileArgs& p, const float* m, const float* bias, bool relu,
                    float* y) {
  constexpr int kSize = kOutputs + 2;
  const int64_t line = p.width * p.channels;
  ForTileVectors<kOutputs, kOutputs>(
      p, 0, 0,
      [&](int64_t tile, int64_t first, bool whole, const auto& inside, int64_t c, auto load,
          auto store) HOPPER_INLINED {
        const Vec shift = bias == nullptr ? Vec{} : load(bias + c);
        Transform<true>(
            Winograd<kOutputs>::kOutput,
            [&](int i, int j)
                HOPPER_INLINED { return load(Anew(m + tile + kSize * i * p.cell) + j * p.cell); },
            [&](int i, int j, Vec d) HOPPER_INLINED {
              if (!whole && !inside(i, j)) return;
              d += shift;
              if (relu) d = Max(Vec{}, d);
              store(Anew(y + first + j * p.channels) + i * line, d);
            });
      });
}

template <int kOutputs>
void WinogradGradient(const hopper::TileArgs& p, const float* dy, float* z) {
  constexpr int kSize = kOutputs + 2;
  const int64_t line = p.width * p.channels;
  ForTileVectors<kOutputs, kOutputs>(
      p, 0, 0,
      [&](int64_t tile, int64_t first, bool whole, const auto& inside, int64_t /*c*/, auto load,
          auto store) HOPPER_INLINED {
        Transform<false>(
            Winograd<kOutputs>::kOutput,
            [&](int i, int j) HOPPER_INLINED {
              return whole || inside(i, j) ? load(Anew(dy + first + i * line) + j * p.channels)
                                           : Vec{};
            },
            [&](int i, int j, Vec d)
                HOPPER_INLINED { store(Anew(z + tile + j * p.cell) + kSize * i * p.cell, d); });
      });
}

template <int kOutputs>
void WinogradWeights(const float* g, int64_t n, float* u) {
  constexpr int kSize = kOutputs + 2;
  ForRow(n, [&](int64_t k, auto load, auto store) HOPPER_INLINED {
    Transform<false>(
        Winograd<kOutputs>::kWindow,
        [&](int i, int j) HOPPER_INLINED { return load(g + (3 * i + j) * n + k); },
        [&](int i, int j, Vec d) HOPPER_INLINED { store(u + (kSize * i + j) * n + k, d); });
  });
}

template <int kOutputs>
void WinogradWeightsGradient(const float* u, int64_t n, float* g) {
  constexpr int kSize = kOutputs + 2;
  ForRow(n, [&](int64_t k, auto load, auto store) HOPPER_INLINED {
    Transform<true>(
        Winograd<kOutputs>::kWindow,
        [&](int i, int j) HOPPER_INLINED { return load(u + (kSize * i + j) * n + k); },
        [&](int i, int j, Vec d) HOPPER_INLINED { store(g + (3 * i + j) * n + k, d); });
  });
}

// By the outputs of a tile in a row.
template <auto kTwo, auto kFour>
struct ByOutputs;
template <typename... A, void (*kTwo)(A...), void (*kFour)(A...)>
struct ByOutputs<kTwo, kFour> {
  static void Run(int64_t outputs, A... arguments) {
    outputs == 4 ? kFour(arguments...) : kTwo(arguments...);
  }
};

}  // namespace
