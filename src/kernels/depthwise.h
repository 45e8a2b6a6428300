// Convolutions of each channel by itself, over images of height x width x channels. Included by the
// kernel files.
//
// Cells outside the image take no part. A result's terms are added in the order of the window's
// rows and of their cells, wherever it lies and however many are computed at once.
#pragma once

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// Cells of a window along an axis that meet the other side: cell `first`, and from there each
// `step` cells one until `last`. The first one's partner is `place`, the next ones' are `stride`
// further each.
struct CellRange {
  int64_t first = 0, last = 0, step = 1;
  int64_t place = 0, stride = 1;
};

// The image's places under a window whose first cell is at `start`.
HOPPER_INLINE CellRange CellsInside(int64_t start, int64_t cells, int64_t dilation, int64_t size) {
  CellRange range;
  range.first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  range.last = start >= size ? 0 : std::min(cells, (size - start + dilation - 1) / dilation);
  range.place = start + range.first * dilation;
  range.stride = dilation;
  return range;
}

// Cells of a window that are so many apart meet the outputs' places alike.
HOPPER_INLINE int64_t CellsApart(int64_t dilation, int64_t stride) {
  return stride / std::gcd(dilation, stride);
}

// The outputs whose windows have the place `at` (counted from the first cell of the first window)
// under them: at = output * stride + cell * dilation. `apart`: CellsApart().
HOPPER_INLINE CellRange WindowsOver(int64_t at, int64_t cells, int64_t dilation, int64_t stride,
                                    int64_t apart, int64_t outputs) {
  CellRange range;
  const int64_t beyond = at - (outputs - 1) * stride;  // of the last output's first cell
  range.step = apart;
  range.last = std::min(cells, at / dilation + 1);
  range.first = beyond <= 0 ? 0 : (beyond + dilation - 1) / dilation;
  while (range.first < range.last && (at - range.first * dilation) % stride != 0) ++range.first;
  range.place = (at - range.first * dilation) / stride;
  range.stride = -(apart * dilation / stride);
  return range;
}

// Sums of kPixels neighbouring pixels, which have the same cells: those under `rows` and `columns`
// at x, `pitch` floats from a row to the next and `next` from a pixel's to the next one's. Unless
// kCells is 0 `columns` has so many, kStep pixels apart, and each pixel is read once for all of
// them. kVecs vectors of channels at once, so that sums are enough not to wait for each other.
template <int kPixels, int kVecs, int kCells = 0, int kStep = 1>
void DepthwisePixels(int64_t channels, int64_t kernel_width, const CellRange& rows,
                     const CellRange& columns, const float* x, int64_t pitch, int64_t next,
                     const float* kernel, const float* bias, bool relu, bool accumulate, float* y) {
  // Read once: what is stored might lie where these are.
  const int64_t first = rows.first, last = rows.last, step = rows.step;
  const int64_t first_column = columns.first, last_column = columns.last;
  const int64_t column_step = columns.step;
  const int64_t next_row = rows.stride * pitch;
  const int64_t next_factors = step * kernel_width * channels;
  const int64_t next_cell = columns.stride * channels;
  const int64_t next_factor = column_step * channels;
  const float* const first_row = x + rows.place * pitch + columns.place * channels;
  const float* const first_factors = kernel + (first * kernel_width + first_column) * channels;
  // What the pixels below are the first to read, and the next pixels' sums: vectors are too far
  // apart to be foreseen. Lines come in the order of memory, as it is fastest.
  const float* const below = first_row + (next_row > 0 ? (last - first) * next_row : -next_row);
  ForSomeVectors<kVecs>(0, channels, [&](auto some, int64_t c, auto load, auto store) {
    constexpr int kSums = decltype(some)::value;
    Vec sum[kPixels][kSums];
    for (int v = 0; v < kSums; ++v) {
      const Vec first = bias != nullptr ? load(bias + c + v * kWidth) : Vec{};
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) sum[i][v] = first;
    }
    const float* row = first_row + c;
    const float* factors = first_factors + c;
    constexpr int kLine = 16;  // floats of a cache's line
#pragma GCC unroll 8
    for (int i = 0; i < kPixels * kSums * kWidth; i += kLine) {
      __builtin_prefetch(below + kPixels * c + i);
      __builtin_prefetch(y + kPixels * (channels + c) + i, 1);
    }
    for (int64_t h = first; h < last; h += step) {
      if constexpr (kCells > 0) {
        constexpr int kPast = kStep > 0 ? 0 : kCells - 1;  // pixels before the first cell's
        Vec in[kPixels + kCells - 1];
#pragma GCC unroll 16
        for (int i = 0; i < kPixels + kCells - 1; ++i) in[i] = load(row + (i - kPast) * channels);
#pragma GCC unroll 8
        for (int w = 0; w < kCells; ++w) {
          const Vec factor = load(factors + w * channels);
#pragma GCC unroll 8
          for (int i = 0; i < kPixels; ++i) sum[i][0] += in[kPast + i + kStep * w] * factor;
        }
      } else {
        const float* from = row;
        const float* factor = factors;
        for (int64_t w = first_column; w < last_column; w += column_step) {
#pragma GCC unroll 8
          for (int v = 0; v < kSums; ++v) {
            const Vec f = load(factor + v * kWidth);
#pragma GCC unroll 8
            for (int i = 0; i < kPixels; ++i) sum[i][v] += load(from + i * next + v * kWidth) * f;
          }
          from += next_cell;
          factor += next_factor;
        }
      }
      row += next_row;
      factors += next_factors;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < kSums; ++v) {
        float* to = y + i * channels + c + v * kWidth;
        const Vec sums = relu ? Max(Vec{}, sum[i][v]) : sum[i][v];
        store(to, accumulate ? sums + load(to) : sums);
      }
    }
  });
}

// Calls body(pixels) for so many neighbours, all of whose cells are inside, as share the loads of
// the kernel: six, or two; body(0) where not even `inside` = 2 pixels are. Returns how many.
template <typename Body>
HOPPER_INLINE int64_t ForPixels(int64_t inside, const Body& body) {
  if (inside >= 6) return body(std::integral_constant<int, 6>()), 6;
  if (inside >= 2) return body(std::integral_constant<int, 2>()), 2;
  return body(std::integral_constant<int, 0>()), 1;
}

// DepthwisePixels() of so many; of neighbouring cells (`dense`) by the commonest widths.
template <int kPixels, int kStep, typename... Rest>
HOPPER_INLINE void DepthwiseInside(const hopper::DepthwiseArgs& p, const CellRange& rows,
                                   int64_t place, bool dense, Rest... rest) {
  const CellRange columns{0, p.kernel_width, 1, place, kStep * p.dilation_width};
  const auto pixels = dense && p.kernel_width == 3   ? DepthwisePixels<kPixels, 1, 3, kStep>
                      : dense && p.kernel_width == 5 ? DepthwisePixels<kPixels, 1, 5, kStep>
                                                     : DepthwisePixels<kPixels, 1>;
  pixels(p.channels, p.kernel_width, rows, columns, rest...);
}

// One, of which some cells may be outside.
constexpr auto kDepthwiseBorder = DepthwisePixels<1, 4>;

void Depthwise(const hopper::DepthwiseArgs& p, const float* x, const float* kernel,
               const float* bias, bool relu, float* y) {
  const int64_t channels = p.channels;
  const int64_t pitch = p.width * channels;
  const int64_t step = p.stride_width * channels;
  const int64_t reach = (p.kernel_width - 1) * p.dilation_width;
  const bool dense = p.stride_width == 1 && p.dilation_width == 1;
  for (int64_t image = 0; image < p.images; ++image, x += p.height * pitch) {
    for (int64_t oh = 0; oh < p.out_height; ++oh) {
      const CellRange rows = CellsInside(oh * p.stride_height - p.before_height, p.kernel_height,
                                         p.dilation_height, p.height);
      for (int64_t ow = 0; ow < p.out_width;) {
        const int64_t start = ow * p.stride_width - p.before_width;
        const int64_t room = p.width - 1 - reach - start;
        const int64_t inside =
            start < 0 || room < 0 ? 0 : std::min(p.out_width - ow, room / p.stride_width + 1);
        const int64_t n = ForPixels(inside, [&](auto pixels) HOPPER_INLINED {
          constexpr int kPixels = decltype(pixels)::value;
          if constexpr (kPixels > 0) {
            DepthwiseInside<kPixels, 1>(p, rows, start, dense, x, pitch, step, kernel, bias, relu,
                                        false, y);
          } else {
            kDepthwiseBorder(channels, p.kernel_width, rows,
                             CellsInside(start, p.kernel_width, p.dilation_width, p.width), x,
                             pitch, step, kernel, bias, relu, false, y);
          }
        });
        ow += n;
        y += n * channels;
      }
    }
  }
}

void DepthwiseInputGradient(const hopper::DepthwiseArgs& p, const float* dy, const float* kernel,
                            bool accumulate, float* dx) {
  const int64_t channels = p.channels;
  const int64_t pitch = p.out_width * channels;
  const int64_t reach = (p.kernel_width - 1) * p.dilation_width;
  const int64_t rows_apart = CellsApart(p.dilation_height, p.stride_height);
  const int64_t columns_apart = CellsApart(p.dilation_width, p.stride_width);
  for (int64_t image = 0; image < p.images; ++image, dy += p.out_height * pitch) {
    for (int64_t h = 0; h < p.height; ++h) {
      const CellRange rows = WindowsOver(h + p.before_height, p.kernel_height, p.dilation_height,
                                         p.stride_height, rows_apart, p.out_height);
      for (int64_t w = 0; w < p.width;) {
        const int64_t at = w + p.before_width;
        const int64_t inside =
            p.stride_width > 1 || at < reach ? 0 : std::min(p.width - w, p.out_width - at);
        const int64_t n = ForPixels(inside, [&](auto pixels) HOPPER_INLINED {
          constexpr int kPixels = decltype(pixels)::value;
          if constexpr (kPixels > 0) {
            DepthwiseInside<kPixels, -1>(p, rows, at, p.dilation_width == 1, dy, pitch, channels,
                                         kernel, nullptr, false, accumulate, dx);
          } else {
            const CellRange columns = WindowsOver(at, p.kernel_width, p.dilation_width,
                                                  p.stride_width, columns_apart, p.out_width);
            kDepthwiseBorder(channels, p.kernel_width, rows, columns, dy, pitch, channels, kernel,
                             nullptr, false, accumulate, dx);
          }
        });
        w += n;
        dx += n * channels;
      }
    }
  }
}

// Adds to the sums of kCells neighbouring cells of kRows neighbouring rows of a window what one row
// of outputs gives. Rows of x are `pitch` floats apart.
template <int kRows, int kCells>
void DepthwiseRowProducts(const hopper::DepthwiseArgs& p, const float* x, int64_t pitch,
                          int64_t first_cell, const float* dy, float* sums) {
  // From `some` on outputs have a cell inside, from `all` on all of them, until the ends.
  const int64_t begin = first_cell * p.dilation_width - p.before_width;
  const int64_t end = begin + (kCells - 1) * p.dilation_width;
  const auto bound = [&](int64_t cells) {  // the first output for which this is not below 0
    return cells >= 0 ? 0 : std::min(p.out_width, (-cells + p.stride_width - 1) / p.stride_width);
  };
  const int64_t some = bound(end);
  const int64_t all = bound(begin);
  const int64_t all_end = std::max(all, bound(end - p.width));
  const int64_t some_end = std::max(all_end, bound(begin - p.width));
  const auto body = [&](auto /*one*/, int64_t c, auto load, auto store) {
    Vec sum[kRows][kCells] = {};
    const auto edge = [&](int64_t from, int64_t to) {
      for (int64_t ow = from; ow < to; ++ow) {
        const Vec gradient = load(dy + ow * p.channels + c);
        for (int i = 0; i < kCells; ++i) {
          const int64_t w = begin + i * p.dilation_width + ow * p.stride_width;
          if (w < 0 || w >= p.width) continue;
          for (int r = 0; r < kRows; ++r) {
            sum[r][i] += load(x + r * pitch + w * p.channels + c) * gradient;
          }
        }
      }
    };
    edge(some, all);
    for (int64_t ow = all; ow < all_end; ++ow) {
      const Vec gradient = load(dy + ow * p.channels + c);
      const float* from = x + (begin + ow * p.stride_width) * p.channels + c;
      // Of the next row of outputs: vectors are too far apart to be foreseen.
      __builtin_prefetch(dy + (p.out_width + ow) * p.channels + c);
      __builtin_prefetch(from + kRows * pitch);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int i = 0; i < kCells; ++i) {
          sum[r][i] += load(from + r * pitch + i * p.dilation_width * p.channels) * gradient;
        }
      }
    }
    edge(all_end, some_end);
    for (int r = 0; r < kRows; ++r) {
      for (int i = 0; i < kCells; ++i) {
        float* to = sums + (r * p.kernel_width + i) * p.channels + c;
        store(to, load(to) + sum[r][i]);
      }
    }
  };
  ForSomeVectors<1>(p.first_channel, p.first_channel + p.some_channels, body);
}

// Rows of a window and their cells are taken three at a time, the last ones by two or one.
template <int kRows>
void DepthwiseRows(const hopper::DepthwiseArgs& p, const float* x, int64_t pitch, const float* dy,
                   float* sums) {
  int64_t w = 0;
  for (; w + 3 <= p.kernel_width; w += 3) {
    DepthwiseRowProducts<kRows, 3>(p, x, pitch, w, dy, sums + w * p.channels);
  }
  sums += w * p.channels;
  if (w + 2 == p.kernel_width) DepthwiseRowProducts<kRows, 2>(p, x, pitch, w, dy, sums);
  if (w + 1 == p.kernel_width) DepthwiseRowProducts<kRows, 1>(p, x, pitch, w, dy, sums);
}

// Image by image and some channels after the other: so many that the rows under a window stay in a
// first-level cache.
void DepthwiseKernelGradient(const hopper::DepthwiseArgs& all, const float* x, const float* dy,
                             float* sums) {
  constexpr int64_t kStripFloats = 6 * 1024;
  const int64_t line = all.width * all.channels;
  const int64_t pitch = all.dilation_height * line;
  const int64_t out_line = all.out_width * all.channels;
  const int64_t vectors = kStripFloats / (all.kernel_height * all.width * kWidth);
  const int64_t strip = std::max<int64_t>(1, vectors) * kWidth;
  const int64_t last = all.first_channel + all.some_channels;
  hopper::DepthwiseArgs p = all;
  for (int64_t n = 0; n < p.images; ++n, x += p.height * line, dy += p.out_height * out_line) {
    for (; p.first_channel < last; p.first_channel += strip) {
      p.some_channels = std::min(strip, last - p.first_channel);
      for (int64_t oh = 0; oh < p.out_height; ++oh) {
        const CellRange rows = CellsInside(oh * p.stride_height - p.before_height, p.kernel_height,
                                           p.dilation_height, p.height);
        for (int64_t h = rows.first; h < rows.last; h += 3) {
          const int64_t some = std::min<int64_t>(3, rows.last - h);
          const auto add = some == 3   ? DepthwiseRows<3>
                           : some == 2 ? DepthwiseRows<2>
                                       : DepthwiseRows<1>;
          add(p, x + rows.place * line + (h - rows.first) * pitch, pitch, dy + oh * out_line,
              sums + h * p.kernel_width * p.channels);
        }
      }
    }
    p.first_channel = all.first_channel;
  }
}

}  // namespace
