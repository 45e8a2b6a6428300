// The kernels of every instruction set that this processor has, against float64.
#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/philox.h"

namespace hopper {
namespace {

std::vector<const Kernels*> Sets() {
  std::vector<const Kernels*> sets = {BaselineKernels()};
  if (Avx2Kernels() != nullptr) sets.push_back(Avx2Kernels());
  if (Avx512Kernels() != nullptr) sets.push_back(Avx512Kernels());
  return sets;
}

std::vector<float> Random(size_t n, uint32_t stream, float low = -1.0F, float high = 1.0F) {
  const Philox random(5, Purpose::kSearch, stream, 0);
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = low + (high - low) * random.Uniform(i);
  return values;
}

class KernelSet : public testing::TestWithParam<const Kernels*> {};

TEST_P(KernelSet, ProductsOfAllSizes) {
  for (const int64_t rows : {1, 2, 5, 6, 7, 13, 33}) {
    for (const int64_t columns : {1, 3, 8, 15, 16, 17, 31, 47, 63, 64, 70, 130}) {
      for (const int64_t length : {1, 4, 19, 64}) {
        for (const int mode : {0, 1, 2}) {  // plain, bias and relu, accumulating
          const auto a = Random(static_cast<size_t>(rows * length), 1);
          const auto b = Random(static_cast<size_t>(length * columns), 2);
          const auto bias = Random(static_cast<size_t>(columns), 3);
          auto c = Random(static_cast<size_t>(rows * columns) + 1, 4);
          const auto before = c;
          GemmArgs args;
          args.rows = rows;
          args.columns = columns;
          args.length = length;
          args.a = a.data();
          args.a_row = length;
          args.b = b.data();
          args.b_row = columns;
          args.c = c.data();
          args.c_row = columns;
          args.bias = mode == 1 ? bias.data() : nullptr;
          args.relu = mode == 1;
          args.accumulate = mode == 2;
          GetParam()->gemm(args);
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              double sum = mode == 2 ? before[i * columns + j] : 0.0;
              for (int64_t k = 0; k < length; ++k) {
                sum += static_cast<double>(a[i * length + k]) * b[k * columns + j];
              }
              if (mode == 1) sum = std::max(0.0, sum + bias[j]);
              ASSERT_NEAR(c[i * columns + j], sum, 1e-5)
                  << rows << " x " << columns << " x " << length << ", mode " << mode;
            }
          }
          ASSERT_EQ(c.back(), before.back()) << "wrote past the end";
        }
      }
    }
  }
}

TEST_P(KernelSet, TransposedProductInSegments) {
  // C[i][j] = sum over s, k of A[s][k][i] * B[s][k][j]
  const int64_t rows = 9, columns = 20, segments = 3, length = 5;
  const auto a = Random(static_cast<size_t>(segments * length * rows), 1);
  const auto b = Random(static_cast<size_t>(segments * length * columns), 2);
  std::vector<float> c(static_cast<size_t>(rows * columns));
  GemmArgs args;
  args.rows = rows;
  args.columns = columns;
  args.segments = segments;
  args.length = length;
  args.a = a.data();
  args.a_row = 1;
  args.a_step = rows;
  args.a_segment = length * rows;
  args.b = b.data();
  args.b_row = columns;
  args.b_segment = length * columns;
  args.c = c.data();
  args.c_row = columns;
  GetParam()->gemm(args);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (int64_t k = 0; k < segments * length; ++k) {
        sum += static_cast<double>(a[k * rows + i]) * b[k * columns + j];
      }
      ASSERT_NEAR(c[i * columns + j], sum, 1e-5);
    }
  }
}

// Distance in units of the last place of the float32 nearest to `exact`.
double Ulps(float value, double exact) {
  const auto nearest = static_cast<float>(exact);
  const double unit = std::abs(std::nextafter(nearest, INFINITY) - static_cast<double>(nearest));
  return std::abs(static_cast<double>(value) - exact) / unit;
}

ActivationSpec Named(const std::string& name) {
  ActivationSpec spec;
  EXPECT_TRUE(FindActivation(name, /*keras_2=*/false, &spec)) << name;
  return spec;
}

TEST_P(KernelSet, FunctionsOfOneElement) {
  struct Function {
    std::string name;
    std::function<double(double)> exact;
    float low, high;
    double ulps;
  };
  const std::vector<Function> functions = {
      {"exponential", [](double x) { return std::exp(x); }, -80.0F, 80.0F, 2.0},
      {"tanh", [](double x) { return std::tanh(x); }, -12.0F, 12.0F, 3.0},
      {"sigmoid", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, -60.0F, 60.0F, 3.0},
      {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }, -20.0F, 5.0F, 3.0},
      {"softplus", [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); },
       -60.0F, 60.0F, 3.0},
      {"relu", [](double x) { return std::max(x, 0.0); }, -5.0F, 5.0F, 0.0},
      {"hard_tanh", [](double x) { return std::min(1.0, std::max(x, -1.0)); }, -5.0F, 5.0F, 0.0},
      {"hard_shrink", [](double x) { return std::abs(x) > 0.5 ? x : 0.0; }, -5.0F, 5.0F, 0.0},
      {"soft_shrink", [](double x) { return std::abs(x) > 0.5 ? x - std::copysign(0.5, x) : 0.0; },
       -5.0F, 5.0F, 1.0},
      {"log_sigmoid",
       [](double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }, -60.0F,
       60.0F, 3.0},
      {"squareplus",
       [](double x) {
         const double root = std::sqrt(x * x + 4.0);
         return x < 0 ? 2.0 / (root - x) : (x + root) / 2.0;
       },
       -50.0F, 50.0F, 3.0},
      {"sparse_plus",
       [](double x) { return x > 1 ? x : std::pow(std::max(x + 1.0, 0.0), 2.0) / 4.0; }, -3.0F,
       3.0F, 3.0},
      {"sparse_sigmoid", [](double x) { return std::min(1.0, std::max((x + 1.0) / 2.0, 0.0)); },
       -3.0F, 3.0F, 1.0},
  };
  for (const Function& function : functions) {
    const ActivationForm form = FormOf(Named(function.name));
    ASSERT_TRUE(form.of_result) << function.name;
    const auto x = Random(10007, 9, function.low, function.high);
    std::vector<float> y(x.size());
    GetParam()->activate(form, x.data(), static_cast<int64_t>(x.size()), y.data(), nullptr);
    double worst = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, Ulps(y[i], function.exact(static_cast<double>(x[i]))));
    }
    EXPECT_LE(worst, function.ulps) << "function " << function.name;
    const std::vector<float> special = {NAN, 0.0F, 1.0F};
    y.assign(3, 0.0F);
    GetParam()->activate(form, special.data(), 3, y.data(), nullptr);
    EXPECT_TRUE(std::isnan(y[0])) << "NaN was lost";
    EXPECT_FALSE(std::isnan(y[1]));
  }
}

// Derivatives by central differences of the definition, all in float64.
TEST_P(KernelSet, FunctionsWithSlopes) {
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  struct Function {
    std::string name;
    std::function<double(double)> exact;
  };
  const std::vector<Function> functions = {
      {"relu", [](double x) { return x > 0.75 ? std::min(x, 2.5) : 0.125 * (x - 0.75); }},
      {"swish", [=](double x) { return x * sigmoid(x); }},
      {"gelu", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"gelu_approximate",
       [](double x) {
         return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
       }},
      {"mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"hard_silu", [](double x) { return x * std::min(std::max(x + 3.0, 0.0), 6.0) / 6.0; }},
      {"tanh_shrink", [](double x) { return x - std::tanh(x); }},
  };
  for (const Function& function : functions) {
    ActivationSpec spec = Named(function.name);
    if (function.name == "relu") {
      spec.alpha = 0.125;
      spec.threshold = 0.75;
      spec.max_value = 2.5;
    }
    const ActivationForm form = FormOf(spec);
    ASSERT_TRUE(form.place >= 0 && !form.of_result) << function.name;
    const auto x = Random(10007, 9, -12.0F, 12.0F);
    const auto n = static_cast<int64_t>(x.size());
    std::vector<float> y(x.size()), slope(x.size());
    GetParam()->activate(form, x.data(), n, y.data(), slope.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      ASSERT_NEAR(y[i], function.exact(at), 3e-7 * std::max(1.0, std::abs(at)))
          << at << " of " << function.name;
      constexpr double kStep = 1e-5;
      const double above = function.exact(at + kStep), below = function.exact(at - kStep);
      const bool corner = function.name == "relu" || function.name == "hard_silu";
      const double second = (above - 2.0 * function.exact(at) + below) / kStep;
      if (corner && std::abs(second) > 1e-3) continue;
      ASSERT_NEAR(slope[i], (above - below) / (2.0 * kStep), 2e-6)
          << "slope at " << at << " of " << function.name;
    }
    // In place and without slopes: the same bits.
    auto in_place = x;
    GetParam()->activate(form, in_place.data(), n, in_place.data(), nullptr);
    EXPECT_EQ(in_place, y);
    const std::vector<float> special = {NAN, 0.0F, 1.0F};
    GetParam()->activate(form, special.data(), 3, y.data(), slope.data());
    EXPECT_TRUE(std::isnan(y[0])) << "NaN was lost";
    EXPECT_FALSE(std::isnan(y[1]));
  }
}

TEST_P(KernelSet, LogSoftmaxAndGlu) {
  for (const int64_t columns : {1, 3, 10, 16, 40}) {
    const auto x = Random(static_cast<size_t>(6 * columns), 7, -30.0F, 60.0F);
    const auto dy = Random(static_cast<size_t>(3 * columns), 8);
    std::vector<float> y(x.size() / 2), dx(x.size() / 2);
    GetParam()->log_softmax(x.data(), 3, columns, y.data());
    GetParam()->log_softmax_gradient(y.data(), dy.data(), 3, columns, dx.data());
    for (int64_t r = 0; r < 3; ++r) {
      double sum = 0.0, all = 0.0;
      for (int64_t j = 0; j < columns; ++j) {
        sum += std::exp(static_cast<double>(x[r * columns + j]));
        all += dy[r * columns + j];
      }
      for (int64_t j = 0; j < columns; ++j) {
        const double exact = x[r * columns + j] - std::log(sum);
        ASSERT_NEAR(y[r * columns + j], exact, 1e-5);
        ASSERT_NEAR(dx[r * columns + j], dy[r * columns + j] - std::exp(exact) * all, 1e-5);
      }
    }
    const auto before = Random(x.size(), 9);
    for (const bool accumulate : {false, true}) {
      auto both = before;
      GetParam()->glu(x.data(), 3, columns, y.data());
      GetParam()->glu_gradient(x.data(), dy.data(), 3, columns, accumulate, both.data());
      for (int64_t r = 0; r < 3; ++r) {
        for (int64_t j = 0; j < columns; ++j) {
          const int64_t at = 2 * r * columns + j;
          const double gate = 1.0 / (1.0 + std::exp(-static_cast<double>(x[at + columns])));
          const double d = dy[r * columns + j], a = x[at];
          ASSERT_NEAR(y[r * columns + j], a * gate, 1e-5);
          ASSERT_NEAR(both[at], (accumulate ? before[at] : 0.0F) + d * gate, 1e-5);
          ASSERT_NEAR(both[at + columns],
                      (accumulate ? before[at + columns] : 0.0F) + d * a * gate * (1.0 - gate),
                      1e-5);
        }
      }
    }
  }
}

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

TEST_P(KernelSet, NormalizedRows) {
  constexpr int64_t kRows = 5;
  for (const int64_t columns : {1, 3, 16, 40, 67}) {
    const auto n = static_cast<size_t>(columns);
    const auto x = Random(kRows * n, 1, 2.0F, 5.0F);
    const auto dy = Random(kRows * n, 2);
    const auto gamma = Random(n, 3);
    const auto beta = Random(n, 4);
    for (const bool plain : {false, true}) {
      std::vector<float> y(x.size()), moments(2 * kRows), sums(2 * n);
      RowNormArgs args;
      args.rows = kRows;
      args.columns = columns;
      args.epsilon = 1e-2F;
      args.x = x.data();
      args.gamma = plain ? nullptr : gamma.data();
      args.beta = plain ? nullptr : beta.data();
      args.moments = moments.data();
      GetParam()->normalize_rows(args, y.data());
      auto dx = Random(x.size(), 5);
      const auto before = dx;
      GetParam()->normalize_rows_gradient(args, dy.data(), !plain, dx.data(), sums.data());
      std::vector<double> dgamma(n), dbeta(n);
      for (int64_t r = 0; r < kRows; ++r) {
        const float* row = x.data() + r * columns;
        const double count = static_cast<double>(columns);
        double mean = 0.0, variance = 0.0, of_mean = 0.0, of_variance = 0.0;
        for (int64_t j = 0; j < columns; ++j) mean += row[j] / count;
        for (int64_t j = 0; j < columns; ++j) variance += (row[j] - mean) * (row[j] - mean) / count;
        const double inverse = 1.0 / std::sqrt(variance + 1e-2);
        const auto d = [&](int64_t j) {
          return dy[r * columns + j] * (plain ? 1.0 : static_cast<double>(gamma[j]));
        };
        for (int64_t j = 0; j < columns; ++j) {
          const double normal = (row[j] - mean) * inverse;
          of_mean += d(j) / count;
          of_variance += d(j) * normal / count;
          dgamma[j] += dy[r * columns + j] * normal;
          dbeta[j] += dy[r * columns + j];
          ASSERT_NEAR(y[r * columns + j], plain ? normal : normal * gamma[j] + beta[j], 1e-5);
        }
        for (int64_t j = 0; j < columns; ++j) {
          const double normal = (row[j] - mean) * inverse;
          const double exact = (d(j) - of_mean - normal * of_variance) * inverse;
          const double added = plain ? 0.0 : static_cast<double>(before[r * columns + j]);
          ASSERT_NEAR(dx[r * columns + j], exact + added, 2e-5);
        }
      }
      for (size_t j = 0; j < n; ++j) {
        ASSERT_NEAR(sums[j], dgamma[j], 2e-5);
        ASSERT_NEAR(sums[n + j], dbeta[j], 2e-5);
      }
    }
  }
}

// Blocks of whole lines and what is left over.
TEST_P(KernelSet, Transposes) {
  for (const int64_t rows : {1, 15, 16, 33, 64}) {
    for (const int64_t columns : {1, 16, 17, 50}) {
      const auto x = Random(static_cast<size_t>(rows * columns), 1);
      std::vector<float> y(x.size());
      GetParam()->transpose(x.data(), rows, columns, y.data());
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) ASSERT_EQ(y[c * rows + r], x[r * columns + c]);
      }
    }
  }
}

TEST_P(KernelSet, SoftmaxKeepsNanAndSurvivesLargeInputs) {
  for (const int64_t columns : {1, 3, 10, 16, 40}) {
    auto x = Random(static_cast<size_t>(2 * columns), 7, -30.0F, 300.0F);
    std::vector<float> p(x.size());
    std::vector<float> log_sum(2);
    GetParam()->softmax_log_sum(x.data(), 2, columns, p.data(), log_sum.data());
    for (int64_t r = 0; r < 2; ++r) {
      double most = -INFINITY;
      double sum = 0.0;
      for (int64_t j = 0; j < columns; ++j) most = std::max<double>(most, x[r * columns + j]);
      for (int64_t j = 0; j < columns; ++j) sum += std::exp(x[r * columns + j] - most);
      EXPECT_NEAR(log_sum[r], most + std::log(sum), 1e-6 * std::abs(most) + 1e-6);
      for (int64_t j = 0; j < columns; ++j) {
        EXPECT_NEAR(p[r * columns + j], std::exp(x[r * columns + j] - most) / sum, 3e-7);
      }
    }
    x[0] = NAN;
    GetParam()->softmax_log_sum(x.data(), 1, columns, p.data(), log_sum.data());
    EXPECT_TRUE(std::isnan(log_sum[0]));
    EXPECT_TRUE(std::isnan(p[0]));
  }
}

TEST_P(KernelSet, ColumnSums) {
  for (const int64_t columns : {1, 5, 16, 33, 64, 100}) {
    for (const int64_t rows : {1, 2, 37}) {
      const auto x = Random(static_cast<size_t>(rows * columns), 11);
      std::vector<float> sums(static_cast<size_t>(columns));
      GetParam()->column_sums(x.data(), rows, columns, sums.data());
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0.0;
        for (int64_t i = 0; i < rows; ++i) sum += x[i * columns + j];
        ASSERT_NEAR(sums[j], sum, 1e-5);
      }
    }
  }
}

// A convolution of 3 x 3 over two images, forward and the windows' gradient, made of Winograd's
// transforms with the products in between in float64, against its definition.
TEST_P(KernelSet, WinogradIsConvolution) {
  struct Case {
    int64_t height, width, in, out, before, out_height, out_width;
  };
  for (const Case& k : {Case{7, 6, 5, 19, 1, 7, 6}, Case{8, 9, 16, 16, 0, 6, 7},
                        Case{5, 5, 33, 3, 1, 5, 5}, Case{3, 4, 17, 32, 0, 1, 2}}) {
    constexpr int64_t kImages = 2;
    const auto x = Random(static_cast<size_t>(kImages * k.height * k.width * k.in), 1);
    const auto g = Random(static_cast<size_t>(9 * k.in * k.out), 2);  // [tap][in][out]
    const auto bias = Random(static_cast<size_t>(k.out), 3);
    const auto outputs = static_cast<size_t>(kImages * k.out_height * k.out_width * k.out);
    const auto dy = Random(outputs, 4);
    const auto before = Random(outputs, 5);
    std::vector<double> want(outputs);
    std::vector<double> want_dg(g.size());
    for (size_t at = 0; at < outputs; ++at) {
      const auto o = static_cast<int64_t>(at) % k.out;
      const int64_t ow = static_cast<int64_t>(at) / k.out % k.out_width;
      const int64_t oh = static_cast<int64_t>(at) / k.out / k.out_width % k.out_height;
      const int64_t image = static_cast<int64_t>(at) / k.out / k.out_width / k.out_height;
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t h = oh - k.before + tap / 3;
        const int64_t w = ow - k.before + tap % 3;
        if (h < 0 || w < 0 || h >= k.height || w >= k.width) continue;
        for (int64_t i = 0; i < k.in; ++i) {
          const double value = x[((image * k.height + h) * k.width + w) * k.in + i];
          want[at] += value * g[(tap * k.in + i) * k.out + o];
          want_dg[(tap * k.in + i) * k.out + o] += value * dy[at];
        }
      }
    }

    TileArgs from;
    from.height = k.height;
    from.width = k.width;
    from.channels = k.in;
    from.rows = (k.out_height + 1) / 2;
    from.columns = (k.out_width + 1) / 2;
    from.before_height = from.before_width = k.before;
    TileArgs to = from;
    to.height = k.out_height;
    to.width = k.out_width;
    to.channels = k.out;
    std::vector<float> u(16 * k.in * k.out);
    std::vector<float> du(u.size());
    std::vector<float> dg(g.size());
    GetParam()->winograd_weights(g.data(), k.in * k.out, u.data());
    for (const bool relu : {false, true}) {
      auto y = before;
      std::fill(du.begin(), du.end(), 0.0F);
      const int64_t tiles = kImages * from.rows * from.columns;
      constexpr int64_t kBlock = 3;
      for (int64_t first = 0; first < tiles; first += kBlock) {
        from.first = to.first = first;
        from.count = to.count = std::min(kBlock, tiles - first);
        const int64_t n = from.count;
        std::vector<float> v(16 * n * k.in);
        std::vector<float> m(16 * n * k.out);
        std::vector<float> z(16 * n * k.out);
        GetParam()->winograd_input(from, x.data(), v.data());
        GetParam()->winograd_gradient(to, dy.data(), z.data());
        for (int64_t cell = 0; cell < 16; ++cell) {
          for (int64_t t = 0; t < n; ++t) {
            for (int64_t o = 0; o < k.out; ++o) {
              double sum = 0.0;
              for (int64_t i = 0; i < k.in; ++i) {
                const double value = v[(cell * n + t) * k.in + i];
                sum += value * u[(cell * k.in + i) * k.out + o];
                du[(cell * k.in + i) * k.out + o] +=
                    static_cast<float>(value * z[(cell * n + t) * k.out + o]);
              }
              m[(cell * n + t) * k.out + o] = static_cast<float>(sum);
            }
          }
        }
        GetParam()->winograd_output(to, m.data(), relu ? bias.data() : nullptr, relu, !relu,
                                    y.data());
      }
      for (size_t at = 0; at < outputs; ++at) {
        const double value = want[at] + (relu ? bias[at % k.out] : before[at]);
        ASSERT_NEAR(y[at], relu ? std::max(0.0, value) : value, 2e-5) << at << " of " << k.out;
      }
    }
    GetParam()->winograd_weights_gradient(du.data(), k.in * k.out, dg.data());
    for (size_t at = 0; at < g.size(); ++at) ASSERT_NEAR(dg[at], want_dg[at], 1e-4) << at;
  }
}

// Calls body(output's place, image's place, cell's place) for all cells that lie inside the image.
template <typename Body>
void ForDepthwiseCells(const DepthwiseArgs& p, const Body& body) {
  for (int64_t oh = 0; oh < p.out_height; ++oh) {
    for (int64_t ow = 0; ow < p.out_width; ++ow) {
      for (int64_t kh = 0; kh < p.kernel_height; ++kh) {
        for (int64_t kw = 0; kw < p.kernel_width; ++kw) {
          const int64_t h = oh * p.stride_height - p.before_height + kh * p.dilation_height;
          const int64_t w = ow * p.stride_width - p.before_width + kw * p.dilation_width;
          if (h < 0 || h >= p.height || w < 0 || w >= p.width) continue;
          body(oh * p.out_width + ow, h * p.width + w, kh * p.kernel_width + kw);
        }
      }
    }
  }
}

// Windows of all kinds, also such as are larger than the image, lie beside it or leave cells out.
TEST_P(KernelSet, DepthwiseConvolutions) {
  const Philox random(9, Purpose::kSearch, 21, 0);
  uint64_t draws = 0;
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random.Below(draws++, static_cast<uint64_t>(n)));
  };
  for (int round = 0; round < 300; ++round) {
    DepthwiseArgs p;
    p.images = 1 + below(3);
    p.height = 1 + below(9);
    p.width = 1 + below(round % 2 == 0 ? 5 : 19);
    p.channels = 1 + below(40);
    p.kernel_height = 1 + below(5);
    p.kernel_width = 1 + below(round % 5 == 0 ? 30 : 5);
    p.stride_height = 1 + below(3);
    p.stride_width = 1 + below(3);
    p.dilation_height = 1 + below(3);
    p.dilation_width = round % 3 == 0 ? 1 + below(7) : 1;
    p.before_height = below(6);
    p.before_width = below(round % 7 == 0 ? 40 : 4);
    p.out_height = 1 + below(7);
    p.out_width = 1 + below(12);
    p.first_channel = 16 * below((p.channels + 15) / 16);
    p.some_channels = p.channels - p.first_channel;
    SCOPED_TRACE(testing::Message() << "round " << round);
    const int64_t n = p.channels;
    const int64_t in = p.height * p.width * n;
    const int64_t out = p.out_height * p.out_width * n;
    const size_t weights = static_cast<size_t>(p.kernel_height * p.kernel_width * n);
    const auto x = Random(static_cast<size_t>(p.images * in), 1);
    const auto dy = Random(static_cast<size_t>(p.images * out), 2);
    const auto kernel = Random(weights, 3);
    const auto bias = Random(static_cast<size_t>(n), 4);
    const auto before = Random(x.size(), 5);
    std::vector<double> want(dy.size());
    std::vector<double> want_dx(x.size());
    std::vector<double> want_sums(weights);
    for (int64_t image = 0; image < p.images; ++image) {
      ForDepthwiseCells(p, [&](int64_t output, int64_t cell, int64_t tap) {
        for (int64_t c = 0; c < n; ++c) {
          const auto o = static_cast<size_t>(image * out + output * n + c);
          const auto i = static_cast<size_t>(image * in + cell * n + c);
          const auto k = static_cast<size_t>(tap * n + c);
          want[o] += static_cast<double>(x[i]) * kernel[k];
          want_dx[i] += static_cast<double>(dy[o]) * kernel[k];
          want_sums[k] += static_cast<double>(dy[o]) * x[i];
        }
      });
    }
    std::vector<float> y(dy.size(), NAN);
    for (const bool relu : {false, true}) {
      GetParam()->depthwise(p, x.data(), kernel.data(), relu ? bias.data() : nullptr, relu,
                            y.data());
      for (size_t at = 0; at < y.size(); ++at) {
        const double value = relu ? std::max(0.0, want[at] + bias[at % n]) : want[at];
        ASSERT_NEAR(y[at], value, 1e-5) << at;
      }
    }
    std::vector<float> dx = before;
    for (const bool accumulate : {true, false}) {
      GetParam()->depthwise_input_gradient(p, dy.data(), kernel.data(), accumulate, dx.data());
      for (size_t at = 0; at < dx.size(); ++at) {
        ASSERT_NEAR(dx[at], want_dx[at] + (accumulate ? before[at] : 0.0F), 1e-5) << at;
      }
    }
    std::vector<float> sums(weights, 0.5F);
    GetParam()->depthwise_kernel_gradient(p, x.data(), dy.data(), sums.data());
    for (size_t at = 0; at < weights; ++at) {
      const bool meant = static_cast<int64_t>(at) % n >= p.first_channel;
      ASSERT_NEAR(sums[at], 0.5 + (meant ? want_sums[at] : 0.0), 1e-5) << at;
    }
  }
}

// A row of images has the same bits whichever images are computed with it.
TEST_P(KernelSet, DepthwiseImagesDoNotDependOnOthers) {
  DepthwiseArgs p;
  p.images = 3;
  p.height = p.out_height = 7;
  p.width = p.out_width = 11;
  p.channels = p.some_channels = 37;
  p.kernel_height = p.kernel_width = 3;
  p.before_height = p.before_width = 1;
  const int64_t size = p.height * p.width * p.channels;
  const auto x = Random(static_cast<size_t>(3 * size), 1);
  const auto kernel = Random(static_cast<size_t>(9 * p.channels), 2);
  std::vector<float> all(x.size());
  GetParam()->depthwise(p, x.data(), kernel.data(), nullptr, false, all.data());
  p.images = 1;
  std::vector<float> one(static_cast<size_t>(size));
  for (int64_t image = 0; image < 3; ++image) {
    GetParam()->depthwise(p, x.data() + image * size, kernel.data(), nullptr, false, one.data());
    EXPECT_EQ(one,
              std::vector<float>(all.begin() + image * size, all.begin() + (image + 1) * size));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelSet, testing::ValuesIn(Sets()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hopper
