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
// at x, `pitch` floats from a row to the next and `next` from a pixel's to the next one's.
template <int kPixels>
HOPPER_INLINE void DepthwisePixels(const hopper::DepthwiseArgs& p, const CellRange& rows,
                                   const CellRange& columns, const float* x, int64_t pitch,
                                   int64_t next, const float* kernel, const float* bias, bool relu,
                                   bool accumulate, float* y) {
  const int64_t channels = p.channels;
  const auto body = [&](int64_t c, const auto& load, const auto& store) {
    Vec sum[kPixels];
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) sum[i] = bias != nullptr ? load(bias + c) : Vec{};
    for (int64_t h = rows.first, ph = rows.place; h < rows.last;
         h += rows.step, ph += rows.stride) {
      for (int64_t w = columns.first, pw = columns.place; w < columns.last;
           w += columns.step, pw += columns.stride) {
        const Vec factor = load(kernel + (h * p.kernel_width + w) * channels + c);
        const float* from = x + ph * pitch + pw * channels + c;
#pragma GCC unroll 8
        for (int i = 0; i < kPixels; ++i) sum[i] += load(from + i * next) * factor;
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kPixels; ++i) {
      Vec v = relu ? Max(Vec{}, sum[i]) : sum[i];
      if (accumulate) v += load(y + i * channels + c);
      store(y + i * channels + c, v);
    }
  };
  ForVectors(
      channels,
      [&](int64_t c) {
        body(
            c, [](const float* from) { return Load(from); },
            [](float* to, Vec v) { Store(to, v); });
      },
      [&](int64_t c, int64_t n) {
        body(
            c, [n](const float* from) { return LoadPart(from, n); },
            [n](float* to, Vec v) { StorePart(to, v, n); });
      });
}

// Neighbours that share the loads of the kernel.
constexpr int kDepthwisePixels = 4;

void Depthwise(const hopper::DepthwiseArgs& p, const float* x, const float* kernel,
               const float* bias, bool relu, float* y) {
  const int64_t channels = p.channels;
  const int64_t pitch = p.width * channels;
  const int64_t step = p.stride_width * channels;
  const int64_t reach = (p.kernel_width - 1) * p.dilation_width;
  for (int64_t image = 0; image < p.images; ++image, x += p.height * pitch) {
    for (int64_t oh = 0; oh < p.out_height; ++oh) {
      const CellRange rows = CellsInside(oh * p.stride_height - p.before_height, p.kernel_height,
                                         p.dilation_height, p.height);
      for (int64_t ow = 0; ow < p.out_width;) {
        const int64_t start = ow * p.stride_width - p.before_width;
        const int64_t end = start + (kDepthwisePixels - 1) * p.stride_width + reach;
        if (start >= 0 && end < p.width && ow + kDepthwisePixels <= p.out_width) {
          const CellRange columns{0, p.kernel_width, 1, start, p.dilation_width};
          DepthwisePixels<kDepthwisePixels>(p, rows, columns, x, pitch, step, kernel, bias, relu,
                                            false, y);
          ow += kDepthwisePixels;
          y += kDepthwisePixels * channels;
          continue;
        }
        const CellRange columns = CellsInside(start, p.kernel_width, p.dilation_width, p.width);
        DepthwisePixels<1>(p, rows, columns, x, pitch, step, kernel, bias, relu, false, y);
        ++ow;
        y += channels;
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
        if (p.stride_width == 1 && at >= reach && w + kDepthwisePixels <= p.width &&
            at + kDepthwisePixels <= p.out_width) {
          const CellRange columns{0, p.kernel_width, 1, at, -p.dilation_width};
          DepthwisePixels<kDepthwisePixels>(p, rows, columns, dy, pitch, channels, kernel, nullptr,
                                            false, accumulate, dx);
          w += kDepthwisePixels;
          dx += kDepthwisePixels * channels;
          continue;
        }
        const CellRange columns = WindowsOver(at, p.kernel_width, p.dilation_width, p.stride_width,
                                              columns_apart, p.out_width);
        DepthwisePixels<1>(p, rows, columns, dy, pitch, channels, kernel, nullptr, false,
                           accumulate, dx);
        ++w;
        dx += channels;
      }
    }
  }
}

// Adds to the sums of kCells neighbouring cells of a window's row what one row of outputs gives.
template <int kCells>
HOPPER_INLINE void DepthwiseRowProducts(const hopper::DepthwiseArgs& p, const float* x,
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
  const auto body = [&](int64_t c, const auto& load, const auto& store) {
    Vec sum[kCells] = {};
    const auto edge = [&](int64_t from, int64_t to) {
      for (int64_t ow = from; ow < to; ++ow) {
        const Vec gradient = load(dy + ow * p.channels + c);
        for (int i = 0; i < kCells; ++i) {
          const int64_t w = begin + i * p.dilation_width + ow * p.stride_width;
          if (w >= 0 && w < p.width) sum[i] += load(x + w * p.channels + c) * gradient;
        }
      }
    };
    edge(some, all);
    for (int64_t ow = all; ow < all_end; ++ow) {
      const Vec gradient = load(dy + ow * p.channels + c);
#pragma GCC unroll 4
      for (int i = 0; i < kCells; ++i) {
        const int64_t w = begin + i * p.dilation_width + ow * p.stride_width;
        sum[i] += load(x + w * p.channels + c) * gradient;
      }
    }
    edge(all_end, some_end);
    for (int i = 0; i < kCells; ++i) {
      float* to = sums + i * p.channels + c;
      store(to, load(to) + sum[i]);
    }
  };
  const int64_t last = p.first_channel + p.some_channels;
  int64_t c = p.first_channel;
  for (; c + kWidth <= last; c += kWidth) {
    body(
        c, [](const float* at) { return Load(at); }, [](float* to, Vec v) { Store(to, v); });
  }
  if (c < last) {
    const int64_t n = last - c;
    body(
        c, [n](const float* at) { return LoadPart(at, n); },
        [n](float* to, Vec v) { StorePart(to, v, n); });
  }
}

void DepthwiseKernelGradient(const hopper::DepthwiseArgs& p, const float* x, const float* dy,
                             float* sums) {
  const int64_t channels = p.channels;
  for (int64_t image = 0; image < p.images; ++image, x += p.height * p.width * channels) {
    for (int64_t oh = 0; oh < p.out_height; ++oh, dy += p.out_width * channels) {
      const CellRange rows = CellsInside(oh * p.stride_height - p.before_height, p.kernel_height,
                                         p.dilation_height, p.height);
      for (int64_t h = rows.first, at = rows.place; h < rows.last; ++h, at += rows.stride) {
        const float* row = x + at * p.width * channels;
        float* to = sums + h * p.kernel_width * channels;
        int64_t w = 0;
        for (; w + 3 <= p.kernel_width; w += 3) {
          DepthwiseRowProducts<3>(p, row, w, dy, to + w * channels);
        }
        if (w + 2 == p.kernel_width) DepthwiseRowProducts<2>(p, row, w, dy, to + w * channels);
        if (w + 1 == p.kernel_width) DepthwiseRowProducts<1>(p, row, w, dy, to + w * channels);
      }
    }
  }
}

}  // namespace
