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

TEST_P(KernelSet, FunctionsOfOneElement) {
  struct Function {
    UnaryKind kind;
    std::function<double(double)> exact;
    float low, high;
    double ulps;
  };
  const std::vector<Function> functions = {
      {UnaryKind::kExponential, [](double x) { return std::exp(x); }, -80.0F, 80.0F, 2.0},
      {UnaryKind::kTanh, [](double x) { return std::tanh(x); }, -12.0F, 12.0F, 3.0},
      {UnaryKind::kSigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, -60.0F, 60.0F,
       3.0},
      {UnaryKind::kElu, [](double x) { return x > 0 ? x : std::expm1(x); }, -20.0F, 5.0F, 3.0},
      {UnaryKind::kSoftplus,
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, -60.0F,
       60.0F, 3.0},
      {UnaryKind::kRelu, [](double x) { return std::max(x, 0.0); }, -5.0F, 5.0F, 0.0},
  };
  for (const Function& function : functions) {
    const auto x = Random(10007, 9, function.low, function.high);
    std::vector<float> y(x.size());
    GetParam()->unary(function.kind, 1.0F, x.data(), static_cast<int64_t>(x.size()), y.data());
    double worst = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, Ulps(y[i], function.exact(static_cast<double>(x[i]))));
    }
    EXPECT_LE(worst, function.ulps) << "function " << static_cast<int>(function.kind);
    const std::vector<float> special = {NAN, 0.0F, 1.0F};
    y.assign(3, 0.0F);
    GetParam()->unary(function.kind, 1.0F, special.data(), 3, y.data());
    EXPECT_TRUE(std::isnan(y[0])) << "NaN was lost";
    EXPECT_FALSE(std::isnan(y[1]));
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

INSTANTIATE_TEST_SUITE_P(All, KernelSet, testing::ValuesIn(Sets()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hopper
