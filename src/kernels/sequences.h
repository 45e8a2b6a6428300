// Steps of recurrent layers, and normalization of rows. Included by the kernel files.
#pragma once

#include "kernels/kernels.h"
#include "kernels/simd.h"

namespace {

void Lstm(const hopper::LstmArgs& g) {
  const int64_t units = g.units;
  for (int64_t r = 0; r < g.rows; ++r) {
    float* z = g.gates + r * 4 * units;
    const float* before = g.c_before == nullptr ? nullptr : g.c_before + r * units;
    float* c = g.c + r * units;
    float* h = g.h + r * units;
    ForRow(units, [&](int64_t i, const auto& load, const auto& store) {
      const Vec in = Sigmoid(load(z + i));
      const Vec forget = Sigmoid(load(z + units + i));
      const Vec candidate = Tanh(load(z + 2 * units + i));
      const Vec out = Sigmoid(load(z + 3 * units + i));
      Vec sum = in * candidate;
      if (before != nullptr) sum = forget * load(before + i) + sum;
      store(z + i, in);
      store(z + units + i, forget);
      store(z + 2 * units + i, candidate);
      store(z + 3 * units + i, out);
      store(c + i, sum);
    });
    // Apart, so that the next vector's gates do not wait for it.
    ForRow(units, [&](int64_t i, const auto& load, const auto& store) {
      store(h + i, load(z + 3 * units + i) * Tanh(load(c + i)));
    });
  }
}

void LstmGradient(const hopper::LstmArgs& g, float* dh, float* dc) {
  const int64_t units = g.units;
  for (int64_t r = 0; r < g.rows; ++r, dh += units, dc += units) {
    float* z = g.gates + r * 4 * units;
    const float* before = g.c_before == nullptr ? nullptr : g.c_before + r * units;
    const float* c = g.c + r * units;
    ForRow(units, [&](int64_t i, const auto& load, const auto& store) {
      const Vec in = load(z + i);
      const Vec forget = load(z + units + i);
      const Vec candidate = load(z + 2 * units + i);
      const Vec out = load(z + 3 * units + i);
      const Vec squashed = Tanh(load(c + i));
      const Vec d = load(dh + i);
      const Vec d_c = load(dc + i) + d * out * (1.0F - squashed * squashed);
      const Vec old = before == nullptr ? Vec{} : load(before + i);
      store(z + i, d_c * candidate * in * (1.0F - in));
      store(z + units + i, d_c * old * forget * (1.0F - forget));
      store(z + 2 * units + i, d_c * in * (1.0F - candidate * candidate));
      store(z + 3 * units + i, d * squashed * out * (1.0F - out));
      store(dc + i, d_c * forget);
      store(dh + i, Vec{});
    });
  }
}

void Gru(const hopper::GruArgs& g) {
  const int64_t units = g.units;
  for (int64_t r = 0; r < g.rows; ++r) {
    float* z = g.gates + r * 3 * units;
    const float* inner = g.inner + r * 3 * units;
    const float* before = g.h_before == nullptr ? nullptr : g.h_before + r * units;
    float* h = g.h + r * units;
    // Apart, so that the candidates do not wait for their gates.
    ForRow(2 * units, [&](int64_t i, const auto& load, const auto& store) {
      store(z + i, Sigmoid(load(z + i) + load(inner + i)));
    });
    ForRow(units, [&](int64_t i, const auto& load, const auto& store) {
      const Vec update = load(z + i);
      const Vec candidate =
          Tanh(load(z + 2 * units + i) + load(z + units + i) * load(inner + 2 * units + i));
      const Vec old = before == nullptr ? Vec{} : load(before + i);
      store(z + 2 * units + i, candidate);
      store(h + i, update * old + (1.0F - update) * candidate);
    });
  }
}

void GruGradient(const hopper::GruArgs& g, float* dh) {
  const int64_t units = g.units;
  for (int64_t r = 0; r < g.rows; ++r, dh += units) {
    float* z = g.gates + r * 3 * units;
    float* inner = g.inner + r * 3 * units;
    const float* before = g.h_before == nullptr ? nullptr : g.h_before + r * units;
    ForRow(units, [&](int64_t i, const auto& load, const auto& store) {
      const Vec update = load(z + i);
      const Vec reset = load(z + units + i);
      const Vec candidate = load(z + 2 * units + i);
      const Vec old = before == nullptr ? Vec{} : load(before + i);
      const Vec d = load(dh + i);
      const Vec d_update = d * (old - candidate) * update * (1.0F - update);
      const Vec d_candidate = d * (1.0F - update) * (1.0F - candidate * candidate);
      const Vec d_reset = d_candidate * load(inner + 2 * units + i) * reset * (1.0F - reset);
      store(z + i, d_update);
      store(z + units + i, d_reset);
      store(z + 2 * units + i, d_candidate);
      store(inner + i, d_update);
      store(inner + units + i, d_reset);
      store(inner + 2 * units + i, d_candidate * reset);
      store(dh + i, d * update);
    });
  }
}

// Sum over a row of value(i, load), always in the same order.
template <typename Value>
HOPPER_INLINE float RowSum(int64_t n, const Value& value) {
  Vec sum{};
  Vec tail{};
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) sum += value(i, [](const float* p) { return Load(p); });
  if (i < n) {
    const Vec last = value(i, [=](const float* p) { return LoadPart(p, n - i); });
    for (int64_t j = 0; j < n - i; ++j) tail[j] = last[j];
  }
  return SumOf(sum + tail);
}

void NormalizeRows(const hopper::RowNormArgs& g, float* y) {
  const int64_t n = g.columns;
  const float share = 1.0F / static_cast<float>(n);
  for (int64_t r = 0; r < g.rows; ++r, y += n) {
    const float* x = g.x + r * n;
    const float mean = RowSum(n, [&](int64_t i, const auto& load) { return load(x + i); }) * share;
    const float variance = RowSum(n,
                                  [&](int64_t i, const auto& load) {
                                    const Vec centered = load(x + i) - mean;
                                    return centered * centered;
                                  }) *
                           share;
    const float inverse = 1.0F / __builtin_sqrtf(variance + g.epsilon);
    g.moments[2 * r] = mean;
    g.moments[2 * r + 1] = inverse;
    ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
      Vec v = (load(x + i) - mean) * inverse;
      if (g.gamma != nullptr) v = v * load(g.gamma + i);
      if (g.beta != nullptr) v = v + load(g.beta + i);
      store(y + i, v);
    });
  }
}

void NormalizeRowsGradient(const hopper::RowNormArgs& g, const float* dy, bool accumulate,
                           float* dx, float* sums) {
  const int64_t n = g.columns;
  const float share = 1.0F / static_cast<float>(n);
  for (int64_t j = 0; j < 2 * n; ++j) sums[j] = 0.0F;
  for (int64_t r = 0; r < g.rows; ++r, dy += n) {
    const float* x = g.x + r * n;
    const float mean = g.moments[2 * r];
    const float inverse = g.moments[2 * r + 1];
    ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
      const Vec d = load(dy + i);
      store(sums + i, load(sums + i) + d * ((load(x + i) - mean) * inverse));
      store(sums + n + i, load(sums + n + i) + d);
    });
    if (dx == nullptr) continue;
    const auto scaled = [&](int64_t i, const auto& load) {
      return g.gamma == nullptr ? load(dy + i) : load(dy + i) * load(g.gamma + i);
    };
    const float of_mean = RowSum(n, scaled) * share;
    const float of_variance = RowSum(n,
                                     [&](int64_t i, const auto& load) {
                                       return scaled(i, load) * ((load(x + i) - mean) * inverse);
                                     }) *
                              share;
    ForRow(n, [&](int64_t i, const auto& load, const auto& store) {
      const Vec normal = (load(x + i) - mean) * inverse;
      const Vec d = (scaled(i, load) - of_mean - normal * of_variance) * inverse;
      store(dx + i, accumulate ? load(dx + i) + d : d);
    });
    dx += n;
  }
}

}  // namespace
