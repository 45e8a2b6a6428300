// Normalized rows, and transposes, against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/kernel_sets.h"
#include "kernels/kernels.h"

namespace hopper {
namespace {

TEST_P(KernelSet, CosinesAndSines) {
  for (const float range : {3.0F, 300.0F, 90000.0F}) {
    const auto x = Random(1003, 1, -range, range);
    std::vector<float> cosine(x.size()), sine(x.size()), alone = x;
    GetParam()->cosine(x.data(), static_cast<int64_t>(x.size()), cosine.data(), sine.data());
    GetParam()->cosine(alone.data(), static_cast<int64_t>(x.size()), alone.data(), nullptr);
    EXPECT_EQ(alone, cosine);
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = static_cast<double>(x[i]);
      // What is left of a large argument is known to its last digit only.
      const double error = 2e-7 + std::abs(exact) * 3e-9;
      ASSERT_NEAR(cosine[i], std::cos(exact), error) << x[i];
      ASSERT_NEAR(sine[i], std::sin(exact), error) << x[i];
    }
  }
  float far[] = {1e30F, -INFINITY, NAN};
  GetParam()->cosine(far, 3, far, nullptr);
  EXPECT_LE(std::abs(far[0]), 1.0F);
  EXPECT_LE(std::abs(far[1]), 1.0F);
  EXPECT_TRUE(std::isnan(far[2]));
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

}  // namespace
}  // namespace hopper
