// Steps of recurrent layers against differences of their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/kernel_sets.h"
#include "kernels/kernels.h"

namespace hopper {
namespace {

double SigmoidOf(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// c and h of an LSTM's unit, or h of a GRU's, of its sums and of what was before.
struct Unit {
  double c = 0.0;
  double h = 0.0;
};
Unit LstmUnit(const double* z, double c_before) {
  const double c = SigmoidOf(z[0]) * std::tanh(z[2]) + SigmoidOf(z[1]) * c_before;
  return {c, SigmoidOf(z[3]) * std::tanh(c)};
}
Unit GruUnit(const double* z, double h_before) {  // three sums of inputs, three of the state
  const double update = SigmoidOf(z[0] + z[3]);
  const double candidate = std::tanh(z[2] + SigmoidOf(z[1] + z[4]) * z[5]);
  return {0.0, update * h_before + (1.0 - update) * candidate};
}

// Gradients against differences of the formulas.
TEST_P(KernelSet, StepsOfRecurrentLayers) {
  constexpr int64_t kRows = 3;
  constexpr double kStep = 1e-5;
  for (const int64_t units : {1, 7, 16, 37}) {
    for (const bool first : {false, true}) {
      const auto n = static_cast<size_t>(kRows * units);
      const auto sums = Random(6 * n, 1, -3.0F, 3.0F);
      const auto before = Random(n, 2);
      const auto dh = Random(n, 3);
      const auto dc = Random(n, 4);
      std::vector<float> gates(sums.begin(), sums.begin() + 4 * n), c(n), h(n);
      LstmArgs lstm;
      lstm.rows = kRows;
      lstm.units = units;
      lstm.gates = gates.data();
      lstm.c_before = first ? nullptr : before.data();
      lstm.c = c.data();
      lstm.h = h.data();
      GetParam()->lstm(lstm);
      auto lstm_dh = dh, lstm_dc = dc;
      GetParam()->lstm_gradient(lstm, lstm_dh.data(), lstm_dc.data());
      std::vector<float> own(sums.begin(), sums.begin() + 3 * n);
      std::vector<float> inner(sums.begin() + 3 * n, sums.end()), state(n);
      GruArgs gru;
      gru.rows = kRows;
      gru.units = units;
      gru.gates = own.data();
      gru.inner = inner.data();
      gru.h_before = lstm.c_before;
      gru.h = state.data();
      GetParam()->gru(gru);
      auto gru_dh = dh;
      GetParam()->gru_gradient(gru, gru_dh.data());
      for (int64_t i = 0; i < kRows * units; ++i) {
        const int64_t row = i / units, unit = i % units;
        const double old = first ? 0.0 : before[i];
        double z[4], y[6];
        for (int64_t g = 0; g < 4; ++g) z[g] = sums[(row * 4 + g) * units + unit];
        for (int64_t g = 0; g < 3; ++g) {
          y[g] = sums[(row * 3 + g) * units + unit];
          y[3 + g] = sums[3 * n + (row * 3 + g) * units + unit];
        }
        const auto lstm_loss = [&](double c_before) {
          const Unit made = LstmUnit(z, c_before);
          return made.h * dh[i] + made.c * dc[i];
        };
        const auto slope = [&](double* at, const auto& loss) {
          const double kept = *at;
          *at = kept + kStep;
          const double above = loss();
          *at = kept - kStep;
          const double below = loss();
          *at = kept;
          return (above - below) / (2.0 * kStep);
        };
        ASSERT_NEAR(c[i], LstmUnit(z, old).c, 1e-5);
        ASSERT_NEAR(h[i], LstmUnit(z, old).h, 1e-5);
        for (int64_t g = 0; g < 4; ++g) {
          ASSERT_NEAR(gates[(row * 4 + g) * units + unit],
                      slope(z + g, [&] { return lstm_loss(old); }), 1e-5)
              << "gate " << g;
        }
        double before_at = old;
        ASSERT_NEAR(lstm_dc[i], slope(&before_at, [&] { return lstm_loss(before_at); }), 1e-5);
        ASSERT_EQ(lstm_dh[i], 0.0F);
        ASSERT_NEAR(state[i], GruUnit(y, old).h, 1e-5);
        for (int64_t g = 0; g < 6; ++g) {
          const std::vector<float>& gradients = g < 3 ? own : inner;
          ASSERT_NEAR(gradients[(row * 3 + g % 3) * units + unit],
                      slope(y + g, [&] { return GruUnit(y, old).h * dh[i]; }), 1e-5)
              << "sum " << g;
        }
        ASSERT_NEAR(gru_dh[i], slope(&before_at, [&] { return GruUnit(y, before_at).h * dh[i]; }),
                    1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace hopper
