// Kernels over images of height x width x channels. Included by the kernel files.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// The first of equal maxima wins, and NaN wins over all, as in libtorch.
void MaxPool(const hopper::PoolArgs& p, const float* x, float* y, uint8_t* where) {
  const int64_t channels = p.channels;
  for (int64_t image = 0; image < p.images; ++image) {
    for (int64_t oh = 0; oh < p.out_height; ++oh) {
      for (int64_t ow = 0; ow < p.out_width; ++ow) {
        const int64_t h0 = oh * p.stride_height - p.before_height;
        const int64_t w0 = ow * p.stride_width - p.before_width;
        bool first = true;
        for (int64_t h = 0; h < p.window_height; ++h) {
          if (h0 + h < 0 || h0 + h >= p.height) continue;
          for (int64_t w = 0; w < p.window_width; ++w) {
            if (w0 + w < 0 || w0 + w >= p.width) continue;
            const float* from = x + ((h0 + h) * p.width + w0 + w) * channels;
            const auto cell = static_cast<uint8_t>(h * p.window_width + w);
            if (first) {
              first = false;
              std::memcpy(y, from, sizeof(float) * static_cast<size_t>(channels));
              std::memset(where, cell, static_cast<size_t>(channels));
              continue;
            }
            for (int64_t c = 0; c < channels; ++c) {
              const bool more = from[c] > y[c] || from[c] != from[c];
              y[c] = more ? from[c] : y[c];
              where[c] = more ? cell : where[c];
            }
          }
        }
        y += channels;
        where += channels;
      }
    }
    x += p.height * p.width * channels;
  }
}

void MaxPoolGradient(const hopper::PoolArgs& p, const float* dy, const uint8_t* where,
                     bool accumulate, float* dx) {
  const int64_t channels = p.channels;
  const int64_t size = p.height * p.width * channels;
  // Windows that do not overlap and leave no cell out write every cell once.
  const bool tiles = p.stride_height == p.window_height && p.stride_width == p.window_width &&
                     p.before_height == 0 && p.before_width == 0 &&
                     p.out_height * p.stride_height == p.height &&
                     p.out_width * p.stride_width == p.width && !accumulate;
  if (!tiles && !accumulate) {
    std::memset(dx, 0, sizeof(float) * static_cast<size_t>(size * p.images));
  }
  for (int64_t image = 0; image < p.images; ++image) {
    for (int64_t oh = 0; oh < p.out_height; ++oh) {
      for (int64_t ow = 0; ow < p.out_width; ++ow) {
        const int64_t h0 = oh * p.stride_height - p.before_height;
        const int64_t w0 = ow * p.stride_width - p.before_width;
        for (int64_t h = 0; h < p.window_height; ++h) {
          if (h0 + h < 0 || h0 + h >= p.height) continue;
          for (int64_t w = 0; w < p.window_width; ++w) {
            if (w0 + w < 0 || w0 + w >= p.width) continue;
            float* to = dx + ((h0 + h) * p.width + w0 + w) * channels;
            const auto cell = static_cast<uint8_t>(h * p.window_width + w);
            if (tiles) {
              for (int64_t c = 0; c < channels; ++c) to[c] = where[c] == cell ? dy[c] : 0.0F;
            } else {
              for (int64_t c = 0; c < channels; ++c) to[c] += where[c] == cell ? dy[c] : 0.0F;
            }
          }
        }
        dy += channels;
        where += channels;
      }
    }
    dx += size;
  }
}

// Calls body(output's place, cell's place, cells of the window inside the image, whether it is the
// window's first) for each cell of each window, in their order.
template <typename Body>
HOPPER_INLINE void ForCells(const hopper::PoolArgs& p, const Body& body) {
  const auto inside = [](int64_t start, int64_t window, int64_t size) {
    const int64_t end = start + window < size ? start + window : size;
    return end - (start > 0 ? start : 0);
  };
  for (int64_t oh = 0; oh < p.out_height; ++oh) {
    for (int64_t ow = 0; ow < p.out_width; ++ow) {
      const int64_t h0 = oh * p.stride_height - p.before_height;
      const int64_t w0 = ow * p.stride_width - p.before_width;
      const int64_t high = inside(h0, p.window_height, p.height);
      const int64_t wide = inside(w0, p.window_width, p.width);
      for (int64_t h = h0 > 0 ? h0 : 0, i = 0; i < high; ++h, ++i) {
        for (int64_t w = w0 > 0 ? w0 : 0, j = 0; j < wide; ++w, ++j) {
          body(oh * p.out_width + ow, h * p.width + w, high * wide, i + j == 0);
        }
      }
    }
  }
}

void AveragePool(const hopper::PoolArgs& p, const float* x, float* y) {
  const int64_t channels = p.channels;
  for (int64_t image = 0; image < p.images; ++image) {
    ForCells(p, [&](int64_t output, int64_t cell, int64_t cells, bool first) {
      const float* from = x + cell * channels;
      float* to = y + output * channels;
      const float share = 1.0F / static_cast<float>(cells);
      if (first) {
        for (int64_t c = 0; c < channels; ++c) to[c] = from[c] * share;
      } else {
        for (int64_t c = 0; c < channels; ++c) to[c] += from[c] * share;
      }
    });
    x += p.height * p.width * channels;
    y += p.out_height * p.out_width * channels;
  }
}

void AveragePoolGradient(const hopper::PoolArgs& p, const float* dy, bool accumulate, float* dx) {
  const int64_t channels = p.channels;
  const int64_t size = p.height * p.width * channels;
  if (!accumulate) std::memset(dx, 0, sizeof(float) * static_cast<size_t>(size * p.images));
  for (int64_t image = 0; image < p.images; ++image) {
    ForCells(p, [&](int64_t output, int64_t cell, int64_t cells, bool) {
      const float* from = dy + output * channels;
      float* to = dx + cell * channels;
      const float share = 1.0F / static_cast<float>(cells);
      for (int64_t c = 0; c < channels; ++c) to[c] += from[c] * share;
    });
    dy += p.out_height * p.out_width * channels;
    dx += size;
  }
}

}  // namespace
