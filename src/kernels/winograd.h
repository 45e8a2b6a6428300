// Transforms of Winograd's convolution F(2 x 2, 3 x 3). Included by the kernel files.
//
// With the matrices of Lavin and Gray, "Fast algorithms for convolutional neural networks" (2015):
// Y = A' [(G g G') * (B' d B)] A, in which d is a tile of 4 x 4 inputs, g the window and Y 2 x 2
// outputs; the gradients are the transposes of these steps.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

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

// d = B' d B, or B d B' for the gradient, in place.
template <bool kGradient>
HOPPER_INLINE void TransformInput(Vec (&d)[4][4]) {
  const auto four = [](Vec& d0, Vec& d1, Vec& d2, Vec& d3) HOPPER_INLINED {
    const Vec first = kGradient ? d0 : d0 - d2;
    const Vec second = kGradient ? d1 - d2 + d3 : d1 + d2;
    const Vec third = kGradient ? d1 + d2 - d0 : d2 - d1;
    const Vec last = kGradient ? -d3 : d1 - d3;
    d0 = first;
    d1 = second;
    d2 = third;
    d3 = last;
  };
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) four(d[0][i], d[1][i], d[2][i], d[3][i]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) four(d[i][0], d[i][1], d[i][2], d[i][3]);
}

// d[i][j] = load(at), the cells' rows and columns so many floats apart, where inside(i, j).
template <int kRows, int kColumns, typename Load, typename Inside>
HOPPER_INLINE void LoadCells(const float* at, int64_t row, int64_t column, const Load& load,
                             const Inside& inside, Vec (&d)[kRows][kColumns]) {
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i, at += row) {
    at = Anew(at);
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) d[i][j] = inside(i, j) ? load(at + j * column) : Vec{};
  }
}

template <typename Store>
HOPPER_INLINE void StoreCells(float* at, int64_t cell, const Store& store, const Vec (&d)[4][4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i, at += 4 * cell) {
    at = Anew(at);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) store(at + j * cell, d[i][j]);
  }
}

constexpr auto kAllInside = [](int, int) { return true; };

// Calls body(tile's place, its first input's place, whether all inputs are inside, whether input
// (i, j) is) for each tile.
template <typename Body>
HOPPER_INLINE void ForInputTiles(const hopper::TileArgs& p, const Body& body) {
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) HOPPER_INLINED {
    const int64_t top = 2 * row - p.before_height;
    const int64_t left = 2 * column - p.before_width;
    const int64_t first = ((image * p.height + top) * p.width + left) * p.channels;
    const bool whole = top >= 0 && left >= 0 && top + 4 <= p.height && left + 4 <= p.width;
    body(t * p.tile, first, whole, [=, &p](int i, int j) {
      return static_cast<uint64_t>(top + i) < static_cast<uint64_t>(p.height) &&
             static_cast<uint64_t>(left + j) < static_cast<uint64_t>(p.width);
    });
  });
}

void WinogradInput(const hopper::TileArgs& p, const float* x, float* v) {
  const int64_t line = p.width * p.channels;
  ForInputTiles(p, [&](int64_t tile, int64_t first, bool whole, const auto& inside) HOPPER_INLINED {
    const auto body = [&](auto /*one*/, int64_t c, auto load, auto store) HOPPER_INLINED {
      const float* from = x + first + c;
      // What the tile below is the first to read comes from far away, in rows that are too short to
      // be foreseen.
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        __builtin_prefetch(from + (4 + i / 2) * line + (1 + i % 2) * p.channels);
      }
      Vec d[4][4];
      if (whole) {
        LoadCells(from, line, p.channels, load, kAllInside, d);
      } else {
        LoadCells(from, line, p.channels, load, inside, d);
      }
      TransformInput<false>(d);
      StoreCells(v + tile + c, p.cell, store, d);
    };
    ForSomeVectors<1>(0, p.channels, body);
  });
}

void WinogradInputGradient(const hopper::TileArgs& p, const float* dv, float* dx) {
  const int64_t line = p.width * p.channels;
  ForInputTiles(p, [&](int64_t tile, int64_t first, bool whole, const auto& inside) HOPPER_INLINED {
    const auto body = [&](auto /*one*/, int64_t c, auto load, auto store) HOPPER_INLINED {
      Vec d[4][4];
      LoadCells(dv + tile + c, 4 * p.cell, p.cell, load, kAllInside, d);
      TransformInput<true>(d);
      float* to = dx + first + c;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i, to += line) {
        to = Anew(to);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          float* at = to + j * p.channels;
          if (whole || inside(i, j)) store(at, load(at) + d[i][j]);
        }
      }
    };
    ForSomeVectors<1>(0, p.channels, body);
  });
}

// Calls body(tile's place, its first output's place, whether output (i, j) is inside) for each
// tile.
template <typename Body>
HOPPER_INLINE void ForOutputTiles(const hopper::TileArgs& p, const Body& body) {
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) HOPPER_INLINED {
    const int64_t first = (image * p.height + 2 * row) * p.width + 2 * column;
    const bool high = 2 * row + 1 < p.height;
    const bool wide = 2 * column + 1 < p.width;
    body(t * p.tile, first * p.channels,
         [=](int i, int j) { return (i == 0 || high) && (j == 0 || wide); });
  });
}

void WinogradOutput(const hopper::TileArgs& p, const float* m, const float* bias, bool relu,
                    float* y) {
  ForOutputTiles(p, [&](int64_t tile, int64_t first, const auto& inside) HOPPER_INLINED {
    ForSomeVectors<1>(
        0, p.channels, [&](auto /*one*/, int64_t c, auto load, auto store) HOPPER_INLINED {
          Vec d[4][4];
          LoadCells(m + tile + c, 4 * p.cell, p.cell, load, kAllInside, d);
          Vec r[2][4];
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) {
            r[0][j] = d[0][j] + d[1][j] + d[2][j];
            r[1][j] = d[1][j] - d[2][j] - d[3][j];
          }
          const Vec shift = bias == nullptr ? Vec{} : load(bias + c);
#pragma GCC unroll 2
          for (int i = 0; i < 2; ++i) {
            Vec out[2] = {r[i][0] + r[i][1] + r[i][2] + shift, r[i][1] - r[i][2] - r[i][3] + shift};
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) {
              if (!inside(i, j)) continue;
              float* at = y + first + (i * p.width + j) * p.channels + c;
              if (relu) out[j] = Max(Vec{}, out[j]);
              store(at, out[j]);
            }
          }
        });
  });
}

void WinogradGradient(const hopper::TileArgs& p, const float* dy, float* z) {
  ForOutputTiles(p, [&](int64_t tile, int64_t first, const auto& inside) HOPPER_INLINED {
    ForSomeVectors<1>(
        0, p.channels, [&](auto /*one*/, int64_t c, auto load, auto store) HOPPER_INLINED {
          Vec d[2][2];
          LoadCells(dy + first + c, p.width * p.channels, p.channels, load, inside, d);
          Vec r[4][2];
#pragma GCC unroll 2
          for (int j = 0; j < 2; ++j) {
            r[0][j] = d[0][j];
            r[1][j] = d[0][j] + d[1][j];
            r[2][j] = d[0][j] - d[1][j];
            r[3][j] = -d[1][j];
          }
          Vec out[4][4];
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
            out[i][0] = r[i][0];
            out[i][1] = r[i][0] + r[i][1];
            out[i][2] = r[i][0] - r[i][1];
            out[i][3] = -r[i][1];
          }
          StoreCells(z + tile + c, p.cell, store, out);
        });
  });
}

void WinogradWeights(const float* g, int64_t n, float* u) {
  for (int64_t k = 0; k < n; k += kWidth) {
    const int64_t part = n - k < kWidth ? n - k : 0;
    Vec r[4][3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      const Vec a = LoadUpTo(g + j * n + k, part);
      const Vec b = LoadUpTo(g + (3 + j) * n + k, part);
      const Vec c = LoadUpTo(g + (6 + j) * n + k, part);
      r[0][j] = a;
      r[1][j] = (a + b + c) * 0.5F;
      r[2][j] = (a - b + c) * 0.5F;
      r[3][j] = c;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      float* at = u + 4 * i * n + k;
      StoreUpTo(at, r[i][0], part);
      StoreUpTo(at + n, (r[i][0] + r[i][1] + r[i][2]) * 0.5F, part);
      StoreUpTo(at + 2 * n, (r[i][0] - r[i][1] + r[i][2]) * 0.5F, part);
      StoreUpTo(at + 3 * n, r[i][2], part);
    }
  }
}

void WinogradWeightsGradient(const float* u, int64_t n, float* g) {
  for (int64_t k = 0; k < n; k += kWidth) {
    const int64_t part = n - k < kWidth ? n - k : 0;
    Vec r[3][4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Vec a = LoadUpTo(u + j * n + k, part);
      const Vec b = LoadUpTo(u + (4 + j) * n + k, part);
      const Vec c = LoadUpTo(u + (8 + j) * n + k, part);
      const Vec d = LoadUpTo(u + (12 + j) * n + k, part);
      r[0][j] = a + (b + c) * 0.5F;
      r[1][j] = (b - c) * 0.5F;
      r[2][j] = (b + c) * 0.5F + d;
    }
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      float* at = g + 3 * i * n + k;
      StoreUpTo(at, r[i][0] + (r[i][1] + r[i][2]) * 0.5F, part);
      StoreUpTo(at + n, (r[i][1] - r[i][2]) * 0.5F, part);
      StoreUpTo(at + 2 * n, (r[i][1] + r[i][2]) * 0.5F + r[i][3], part);
    }
  }
}

}  // namespace
