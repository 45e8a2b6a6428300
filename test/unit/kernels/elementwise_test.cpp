// Functions of one element and of a row, and their derivatives, against float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/kernel_sets.h"
#include "kernels/kernels.h"

namespace hopper {
namespace {

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
    std::vector<float> y(x.size()), derivative(x.size());
    GetParam()->activate(form, x.data(), n, y.data(), derivative.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<double>(x[i]);
      ASSERT_NEAR(y[i], function.exact(at), 3e-7 * std::max(1.0, std::abs(at)))
          << at << " of " << function.name;
      constexpr double kStep = 1e-5;
      const double above = function.exact(at + kStep), below = function.exact(at - kStep);
      const bool corner = function.name == "relu" || function.name == "hard_silu";
      const double second = (above - 2.0 * function.exact(at) + below) / kStep;
      if (corner && std::abs(second) > 1e-3) continue;
      ASSERT_NEAR(derivative[i], (above - below) / (2.0 * kStep), 2e-6)
          << "derivative at " << at << " of " << function.name;
    }
    // In place and without derivatives: the same bits.
    auto in_place = x;
    GetParam()->activate(form, in_place.data(), n, in_place.data(), nullptr);
    EXPECT_EQ(in_place, y);
    const std::vector<float> special = {NAN, 0.0F, 1.0F};
    GetParam()->activate(form, special.data(), 3, y.data(), derivative.data());
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

}  // namespace
}  // namespace hopper
