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

// d = B' d B, in place.
HOPPER_INLINE void TransformInput(Vec d[4][4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Vec a = d[0][i] - d[2][i];
    const Vec b = d[1][i] + d[2][i];
    const Vec c = d[2][i] - d[1][i];
    const Vec e = d[1][i] - d[3][i];
    d[0][i] = a;
    d[1][i] = b;
    d[2][i] = c;
    d[3][i] = e;
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const Vec a = d[i][0] - d[i][2];
    const Vec b = d[i][1] + d[i][2];
    const Vec c = d[i][2] - d[i][1];
    const Vec e = d[i][1] - d[i][3];
    d[i][0] = a;
    d[i][1] = b;
    d[i][2] = c;
    d[i][3] = e;
  }
}

// The channels of one tile: whole vectors, then the rest. `load` and `store` get (cell's row and
// column, first channel, channels or 0 for a whole vector).
template <int kCells, typename LoadCell, typename Tile>
HOPPER_INLINE void ForChannels(int64_t channels, const LoadCell& load, const Tile& tile) {
  Vec d[4][4];
  for (int64_t c = 0; c < channels; c += kWidth) {
    const int64_t part = channels - c < kWidth ? channels - c : 0;
#pragma GCC unroll 4
    for (int i = 0; i < kCells; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kCells; ++j) d[i][j] = load(i, j, c, part);
    }
    tile(d, c, part);
  }
}

void WinogradInput(const hopper::TileArgs& p, const float* x, float* v) {
  const int64_t channels = p.channels;
  const int64_t plane = p.count * channels;
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) {
    const int64_t top = 2 * row - p.before_height;
    const int64_t left = 2 * column - p.before_width;
    const float* from = x + ((image * p.height + top) * p.width + left) * channels;
    float* to = v + t * channels;
    const int64_t line = p.width * channels;
    const auto finish = [&](Vec d[4][4], int64_t c, int64_t part) {
      TransformInput(d);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) StoreUpTo(to + (4 * i + j) * plane + c, d[i][j], part);
      }
    };
    if (top >= 0 && left >= 0 && top + 4 <= p.height && left + 4 <= p.width) {
      ForChannels<4>(
          channels,
          [&](int i, int j, int64_t c, int64_t part) {
            return LoadUpTo(from + i * line + j * channels + c, part);
          },
          finish);
      return;
    }
    ForChannels<4>(
        channels,
        [&](int i, int j, int64_t c, int64_t part) {
          const bool inside =
              top + i >= 0 && top + i < p.height && left + j >= 0 && left + j < p.width;
          return inside ? LoadUpTo(from + i * line + j * channels + c, part) : Vec{};
        },
        finish);
  });
}

void WinogradOutput(const hopper::TileArgs& p, const float* m, const float* bias, bool relu,
                    bool accumulate, float* y) {
  const int64_t channels = p.channels;
  const int64_t plane = p.count * channels;
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) {
    const float* from = m + t * channels;
    float* to = y + ((image * p.height + 2 * row) * p.width + 2 * column) * channels;
    const int64_t high = p.height - 2 * row < 2 ? 1 : 2;
    const int64_t wide = p.width - 2 * column < 2 ? 1 : 2;
    ForChannels<4>(
        channels,
        [&](int i, int j, int64_t c, int64_t part) {
          return LoadUpTo(from + (4 * i + j) * plane + c, part);
        },
        [&](Vec d[4][4], int64_t c, int64_t part) {
          Vec r[2][4];
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) {
            r[0][j] = d[0][j] + d[1][j] + d[2][j];
            r[1][j] = d[1][j] - d[2][j] - d[3][j];
          }
          const Vec shift = bias == nullptr ? Vec{} : LoadUpTo(bias + c, part);
#pragma GCC unroll 2
          for (int i = 0; i < 2; ++i) {
            Vec out[2] = {r[i][0] + r[i][1] + r[i][2] + shift, r[i][1] - r[i][2] - r[i][3] + shift};
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) {
              if (i >= high || j >= wide) continue;
              float* at = to + (i * p.width + j) * channels + c;
              if (accumulate) out[j] += LoadUpTo(at, part);
              if (relu) out[j] = Max(Vec{}, out[j]);
              StoreUpTo(at, out[j], part);
            }
          }
        });
  });
}

void WinogradGradient(const hopper::TileArgs& p, const float* dy, float* z) {
  const int64_t channels = p.channels;
  const int64_t plane = p.count * channels;
  ForTiles(p, [&](int64_t t, int64_t image, int64_t row, int64_t column) {
    const float* from = dy + ((image * p.height + 2 * row) * p.width + 2 * column) * channels;
    float* to = z + t * channels;
    const int64_t high = p.height - 2 * row < 2 ? 1 : 2;
    const int64_t wide = p.width - 2 * column < 2 ? 1 : 2;
    ForChannels<2>(
        channels,
        [&](int i, int j, int64_t c, int64_t part) {
          return i < high && j < wide ? LoadUpTo(from + (i * p.width + j) * channels + c, part)
                                      : Vec{};
        },
        [&](Vec d[4][4], int64_t c, int64_t part) {
          Vec r[4][2];
#pragma GCC unroll 2
          for (int j = 0; j < 2; ++j) {
            r[0][j] = d[0][j];
            r[1][j] = d[0][j] + d[1][j];
            r[2][j] = d[0][j] - d[1][j];
            r[3][j] = -d[1][j];
          }
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
            float* at = to + 4 * i * plane + c;
            StoreUpTo(at, r[i][0], part);
            StoreUpTo(at + plane, r[i][0] + r[i][1], part);
            StoreUpTo(at + 2 * plane, r[i][0] - r[i][1], part);
            StoreUpTo(at + 3 * plane, -r[i][1], part);
          }
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
