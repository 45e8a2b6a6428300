// Kernels over images of height x width x channels. Included by the kernel files.
#pragma once

#include <cmath>

#include "kernels/depthwise.h"
#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// The cells of a window that are inside the image.
struct PoolWindow {
  CellRange rows, columns;
  int64_t width, channels;  // of the image
  int64_t window_width;
  float share() const {
    return 1.0F / static_cast<float>((rows.last - rows.first) * (columns.last - columns.first));
  }
  // Calls body(number in the window, place in the image) for each cell, in their order.
  template <typename Body>
  HOPPER_INLINE void ForCells(const Body& body) const {
    for (int64_t i = rows.first; i < rows.last; ++i) {
      const int64_t row = (rows.place + i - rows.first) * width + columns.place;
      for (int64_t j = columns.first; j < columns.last; ++j) {
        body(static_cast<int>(i * window_width + j), (row + j - columns.first) * channels);
      }
    }
  }
};

// Calls body(window, its image's place, its output's place) for each window of each image.
template <typename Body>
HOPPER_INLINE void ForPools(const hopper::PoolArgs& p, const Body& body) {
  PoolWindow window{{}, {}, p.width, p.channels, p.window_width};
  int64_t output = 0;
  for (int64_t image = 0; image < p.images; ++image) {
    for (int64_t oh = 0; oh < p.out_height; ++oh) {
      window.rows =
          CellsInside(oh * p.stride_height - p.before_height, p.window_height, 1, p.height);
      for (int64_t ow = 0; ow < p.out_width; ++ow, output += p.channels) {
        window.columns =
            CellsInside(ow * p.stride_width - p.before_width, p.window_width, 1, p.width);
        body(window, image * p.height * p.width * p.channels, output);
      }
    }
  }
}

// Numbers of at most n channels, a byte each.
using ByteVec = uint8_t __attribute__((vector_size(kWidth)));
HOPPER_INLINE void StoreBytes(uint8_t* p, IntVec v, int64_t n) {
#if defined(__AVX512F__)
  if (n >= kWidth)
    return _mm_storeu_si128((__m128i*)p, _mm512_maskz_cvtepi32_epi8(0xFFFF, (__m512i)v));
#endif
  for (int64_t i = 0; i < kWidth && i < n; ++i) p[i] = static_cast<uint8_t>(v[i]);
}
HOPPER_INLINE IntVec LoadBytes(const uint8_t* p, int64_t n) {
  ByteVec bytes{};
  if (n >= kWidth) {
    std::memcpy(&bytes, p, kWidth);
  } else {
    for (int64_t i = 0; i < n; ++i) bytes[i] = p[i];
  }
  return __builtin_convertvector(bytes, IntVec);
}

// The first of equal maxima wins, and NaN wins over all, as in libtorch.
void MaxPool(const hopper::PoolArgs& p, const float* x, float* y, uint8_t* where) {
  const int64_t below = p.stride_height * p.width * p.channels;
  ForPools(p, [&](const PoolWindow& window, int64_t input, int64_t output) {
    const auto first =
        static_cast<int>(window.rows.first * window.window_width + window.columns.first);
    ForSomeVectors<2>(0, p.channels, [&](auto some, int64_t c, auto load, auto store) {
      constexpr int kVecs = decltype(some)::value;
      Vec most[kVecs];
      IntVec cell[kVecs];
      for (int v = 0; v < kVecs; ++v) {
        most[v] = Set(-HUGE_VALF);
        cell[v] = IntVec{} + first;
      }
      window.ForCells([&](int number, int64_t place) {
        for (int v = 0; v < kVecs; ++v) {
          const float* from = x + input + place + c + v * kWidth;
          __builtin_prefetch(from + below);
          const Vec value = load(from);
          const IntVec more = (value > most[v]) | (value != value);
          most[v] = more ? value : most[v];
          cell[v] = more ? IntVec{} + number : cell[v];
        }
      });
      for (int v = 0; v < kVecs; ++v, c += kWidth) {
        store(y + output + c, most[v]);
        StoreBytes(where + output + c, cell[v], p.channels - c);
      }
    });
  });
}

// Images of zeros, unless they are added to.
HOPPER_INLINE void BeginPoolGradient(const hopper::PoolArgs& p, bool accumulate, float* dx) {
  const int64_t floats = accumulate ? 0 : p.images * p.height * p.width * p.channels;
  std::memset(dx, 0, sizeof(float) * static_cast<size_t>(floats));
}

void MaxPoolGradient(const hopper::PoolArgs& p, const float* dy, const uint8_t* where,
                     bool accumulate, float* dx) {
  // Windows that do not overlap and leave no cell out write every cell once.
  const bool tiles = p.stride_height == p.window_height && p.stride_width == p.window_width &&
                     p.before_height == 0 && p.before_width == 0 &&
                     p.out_height * p.stride_height == p.height &&
                     p.out_width * p.stride_width == p.width && !accumulate;
  BeginPoolGradient(p, accumulate || tiles, dx);
  ForPools(p, [&](const PoolWindow& window, int64_t input, int64_t output) {
    ForSomeVectors<1>(0, p.channels, [&](auto /*one*/, int64_t c, auto load, auto store) {
      const Vec gradient = load(dy + output + c);
      const IntVec cell = LoadBytes(where + output + c, p.channels - c);
      window.ForCells([&](int number, int64_t place) {
        const Vec share = cell == number ? gradient : Vec{};
        float* to = dx + input + place + c;
        store(to, tiles ? share : load(to) + share);
      });
    });
  });
}

void AveragePool(const hopper::PoolArgs& p, const float* x, float* y) {
  ForPools(p, [&](const PoolWindow& window, int64_t input, int64_t output) {
    const float share = window.share();
    ForSomeVectors<1>(0, p.channels, [&](auto /*one*/, int64_t c, auto load, auto store) {
      Vec sum = Set(-0.0F);  // plus a number is that number
      window.ForCells([&](int, int64_t place) { sum += load(x + input + place + c) * share; });
      store(y + output + c, sum);
    });
  });
}

void AveragePoolGradient(const hopper::PoolArgs& p, const float* dy, bool accumulate, float* dx) {
  BeginPoolGradient(p, accumulate, dx);
  ForPools(p, [&](const PoolWindow& window, int64_t input, int64_t output) {
    const float share = window.share();
    window.ForCells([&](int, int64_t place) {
      ForSomeVectors<1>(0, p.channels, [&](auto /*one*/, int64_t c, auto load, auto store) {
        float* to = dx + input + place + c;
        store(to, load(to) + load(dy + output + c) * share);
      });
    });
  });
}

}  // namespace
