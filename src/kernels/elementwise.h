// The kernels without a matrix product. Included by the kernel files.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

// By blocks of lines of the cache: rows whose distance is a power of two would push each other out.
void Transpose(const float* in, int64_t rows, int64_t columns, float* out) {
  constexpr int64_t kBlock = 16;
  for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
    for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
      for (int64_t c = c0; c < c0 + kBlock && c < columns; c += kWidth) {
        for (int64_t r = r0; r < r0 + kBlock && r < rows; r += kWidth) {
          TransposeTile(in + r * columns + c, columns, rows - r, columns - c, out + c * rows + r,
                        rows, rows - r < kWidth ? rows - r : 0);
        }
      }
    }
  }
}

// sums[j] = the sum over rows of at(row, j), vectors of columns; two partial sums of each, so that
// additions overlap.
template <int kVecs, typename At>
HOPPER_INLINE void SumOfRows(int64_t rows, const At& at, Vec* sums) {
  Vec part[2][kVecs] = {};
  int64_t i = 0;
  for (; i + 2 <= rows; i += 2) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) {
      part[0][j] += at(i, j);
      part[1][j] += at(i + 1, j);
    }
  }
  if (i < rows) {
    for (int j = 0; j < kVecs; ++j) part[0][j] += at(i, j);
  }
  for (int j = 0; j < kVecs; ++j) sums[j] = part[0][j] + part[1][j];
}

template <int kVecs>
HOPPER_INLINE void SumColumns(const float* x, int64_t rows, int64_t columns, float* sums) {
  Vec sum[kVecs];
  SumOfRows<kVecs>(
      rows, [&](int64_t i, int j) { return Load(x + i * columns + j * kWidth); }, sum);
  for (int j = 0; j < kVecs; ++j) Store(sums + j * kWidth, sum[j]);
}

void ColumnSums(const float* x, int64_t rows, int64_t columns, float* sums) {
  if (columns == 1) {
    Vec sum{};
    int64_t i = 0;
    for (; i + kWidth <= rows; i += kWidth) sum += Load(x + i);
    float total = SumOf(sum);
    for (; i < rows; ++i) total += x[i];
    *sums = total;
    return;
  }
  int64_t j = 0;
  for (; j + 4 * kWidth <= columns; j += 4 * kWidth) SumColumns<4>(x + j, rows, columns, sums + j);
  for (; j + kWidth <= columns; j += kWidth) SumColumns<1>(x + j, rows, columns, sums + j);
  if (j < columns) {
    Vec sum{};
    for (int64_t i = 0; i < rows; ++i) sum += LoadPart(x + i * columns + j, columns - j);
    StorePart(sums + j, sum, columns - j);
  }
}

void ColumnProducts(const float* x, const float* mean, const float* y, const float* shift,
                    int64_t rows, int64_t columns, float* sums) {
  ForSomeVectors<4>(0, columns, [&](auto some, int64_t column, auto load, auto store) {
    constexpr int kVecs = decltype(some)::value;
    Vec m[kVecs];
    Vec s[kVecs];
    Vec sum[kVecs];
    for (int j = 0; j < kVecs; ++j) {
      m[j] = load(mean + column + j * kWidth);
      s[j] = shift == nullptr ? Vec{} : load(shift + column + j * kWidth);
    }
    SumOfRows<kVecs>(
        rows,
        [&](int64_t i, int j) {
          const int64_t at = i * columns + column + j * kWidth;
          return (load(x + at) - m[j]) * (load(y + at) - s[j]);
        },
        sum);
    for (int j = 0; j < kVecs; ++j) store(sums + column + j * kWidth, sum[j]);
  });
}

void Norm(const hopper::NormArgs& n, float* y) {
  const Vec least = Set(n.least);
  const Vec most = Set(n.most);
  const bool clipped = n.clipped;
  const float* x = n.x;
  for (int64_t r = 0; r < n.rows; ++r, x += n.columns, y += n.columns) {
    ForSomeVectors<1>(0, n.columns, [&](auto /*one*/, int64_t i, auto load, auto store) {
      const Vec z = load(x + i) * load(n.factor + i) + load(n.offset + i);
      store(y + i, clipped ? Min(most, Max(least, z)) : z);
    });
  }
}

// dy where it passes.
HOPPER_INLINE Vec NormPasses(const hopper::NormArgs& n, Vec z, Vec dy) {
  if (!n.clipped) return dy;
  return z > n.least ? (z < n.most ? dy : Vec{}) : Vec{};
}

void NormSums(const hopper::NormArgs& n, const float* mean, const float* dy, float* sums) {
  ForSomeVectors<kWidth / 4>(0, n.columns, [&](auto some, int64_t column, auto load, auto store) {
    constexpr int kVecs = decltype(some)::value;
    Vec part[2][2][kVecs] = {};
    const auto row = [&](int64_t i, Vec(*to)[kVecs]) {
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) {
        const int64_t c = column + j * kWidth;
        const Vec x = load(n.x + i * n.columns + c);
        const Vec z = x * load(n.factor + c) + load(n.offset + c);
        const Vec passes = NormPasses(n, z, load(dy + i * n.columns + c));
        to[0][j] += passes;
        to[1][j] += (x - load(mean + c)) * passes;
      }
    };
    for (int64_t i = 0; i + 2 <= n.rows; i += 2) {
      row(i, part[0]);
      row(i + 1, part[1]);
    }
    if (n.rows % 2 != 0) row(n.rows - 1, part[0]);
    for (int j = 0; j < kVecs; ++j) {
      for (int k = 0; k < 2; ++k) {
        store(sums + k * n.columns + column + j * kWidth, part[0][k][j] + part[1][k][j]);
      }
    }
  });
}

void NormGradient(const hopper::NormArgs& n, const float* dy, const float* b, const float* c,
                  bool accumulate, float* dx) {
  const float* x = n.x;
  for (int64_t r = 0; r < n.rows; ++r, x += n.columns, dy += n.columns, dx += n.columns) {
    ForSomeVectors<1>(0, n.columns, [&](auto /*one*/, int64_t i, auto load, auto store) {
      const Vec factor = load(n.factor + i);
      const Vec in = load(x + i);
      const Vec passes = NormPasses(n, in * factor + load(n.offset + i), load(dy + i));
      const Vec v = passes * factor + (in * load(b + i) + load(c + i));
      store(dx + i, accumulate ? load(dx + i) + v : v);
    });
  }
}

template <typename F>
HOPPER_INLINE void Map(const float* x, int64_t n, float* y, const F& f) {
  ForRow(n, [&](int64_t i, const auto& load, const auto& store) { store(y + i, f(load(x + i))); });
}

template <typename F>
HOPPER_INLINE void Map2(const float* a, const float* b, int64_t n, float* y, const F& f) {
  ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
    store(y + i, f(load(a + i), load(b + i)));
  });
}

HOPPER_INLINE float RowMax(const float* x, int64_t n) {
  Vec most = Set(x[0]);
  float tail = x[0];
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) most = Max(Load(x + i), most);
  for (; i < n; ++i) tail = x[i] > tail ? x[i] : tail;
  const float vectors = MaxOf(most);
  return vectors > tail ? vectors : tail;
}

// One row: exp(x - max) and their sum.
HOPPER_INLINE float RowExp(const float* x, int64_t n, float most, float* y) {
  Vec sum{};
  float tail = 0.0F;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    const Vec e = Exp(Load(x + i) - most);
    Store(y + i, e);
    sum += e;
  }
  if (i < n) {
    const Vec e = Exp(LoadPart(x + i, n - i) - most);
    StorePart(y + i, e, n - i);
    for (int j = 0; j < static_cast<int>(n - i); ++j) tail += e[j];
    if (i == 0) return tail;
  }
  return SumOf(sum) + tail;
}

void Softmax(const float* x, int64_t rows, int64_t columns, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const float factor = 1.0F / RowExp(x, columns, RowMax(x, columns), y);
    Map(y, columns, y, [=](Vec v) { return v * factor; });
  }
}

void SoftmaxLogSum(const float* x, int64_t rows, int64_t columns, float* p, float* log_sum) {
  for (int64_t r = 0; r < rows; ++r, x += columns, p += columns) {
    const float most = RowMax(x, columns);
    const float sum = RowExp(x, columns, most, p);
    const float factor = 1.0F / sum;
    Map(p, columns, p, [=](Vec v) { return v * factor; });
    log_sum[r] = Log(Set(sum))[0] + most;
  }
}

void SoftmaxGradient(const float* y, const float* dy, int64_t rows, int64_t columns,
                     bool accumulate, float* dx) {
  for (int64_t r = 0; r < rows; ++r, y += columns, dy += columns, dx += columns) {
    Vec sum{};
    float tail = 0.0F;
    int64_t i = 0;
    for (; i + kWidth <= columns; i += kWidth) sum += Load(y + i) * Load(dy + i);
    for (; i < columns; ++i) tail += y[i] * dy[i];
    const float dot = SumOf(sum) + tail;
    for (i = 0; i < columns; ++i) {
      const float d = (dy[i] - dot) * y[i];
      dx[i] = accumulate ? dx[i] + d : d;
    }
  }
}

void SigmoidLoss(const float* x, const float* t, int64_t n, float* loss, float* gradient) {
  ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
    const Vec v = load(x + i);
    const Vec target = load(t + i);
    const Vec e = Exp(-Abs(v));
    store(loss + i, Max(Vec{}, v) - v * target + Log1p(e));
    store(gradient + i, (v < 0.0F ? e : Set(1.0F)) / (e + 1.0F) - target);
  });
}

void DifferenceLoss(bool squared, const float* x, const float* t, int64_t n, float* loss,
                    float* gradient) {
  const auto sign = [](Vec d) { return d > 0.0F ? Set(1.0F) : (d < 0.0F ? Set(-1.0F) : d); };
  if (squared) {
    Map2(x, t, n, loss, [](Vec a, Vec b) { return (a - b) * (a - b); });
    Map2(x, t, n, gradient, [](Vec a, Vec b) { return (a - b) * 2.0F; });
  } else {
    Map2(x, t, n, loss, [](Vec a, Vec b) { return Abs(a - b); });
    Map2(x, t, n, gradient, [=](Vec a, Vec b) { return sign(a - b); });
  }
}

void AddTo(const float* x, int64_t n, float* y) {
  Map2(x, y, n, y, [](Vec a, Vec b) { return b + a; });
}

void Scale(const float* x, float factor, float offset, int64_t n, float* y) {
  Map(x, n, y, [=](Vec v) { return v * factor + offset; });
}

void AddScaled(const float* x, float factor, int64_t n, float* y) {
  Map2(x, y, n, y, [=](Vec a, Vec b) { return b + a * factor; });
}

void Dropout(const float* x, const uint32_t* bits, uint32_t dropped, float scale, int64_t n,
             float* __restrict y, uint8_t* __restrict mask) {
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = (bits[i] >> 8) >= dropped;
    mask[i] = kept ? 1 : 0;
    y[i] = x[i] * (kept ? scale : 0.0F);  // a product, so that NaN stays
  }
}

void DropoutGradient(const float* dy, const uint8_t* mask, float scale, int64_t n, bool accumulate,
                     float* dx) {
  for (int64_t i = 0; i < n; ++i) {
    const float kept = static_cast<float>(mask[i]) * scale;
    dx[i] = accumulate ? dx[i] + dy[i] * kept : dy[i] * kept;
  }
}

}  // namespace
