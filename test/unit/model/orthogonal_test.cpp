#include "model/weights/orthogonal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "support/cpu_clock.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

Eigen::MatrixXd SomeMatrix(Eigen::Index rows, Eigen::Index columns) {
  Eigen::MatrixXd matrix(rows, columns);
  for (Eigen::Index j = 0; j < columns; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      matrix(i, j) =
          static_cast<double>((i * 7919 + j * 40503 + i * j * 31) % 10007) / 5003.5 - 1.0;
    }
  }
  return matrix;
}

Eigen::MatrixXd OrthogonalOf(Eigen::MatrixXd matrix) {
  const std::atomic<bool> never{false};
  Eigen::MatrixXd q;
  EXPECT_TRUE(OrthogonalColumns(never, &matrix, &q));
  return q;
}

bool SameBits(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(double)) == 0;
}

// Matrices of more than 65536 rows are added up in blocks of rows.
TEST(Orthogonal, GivesTheDecompositionOfTheMatrix) {
  using Size = std::pair<Eigen::Index, Eigen::Index>;
  for (const auto& [rows, columns] :
       {Size{1, 1}, Size{7, 1}, Size{2, 2}, Size{100, 47}, Size{100, 48}, Size{120, 49},
        Size{150, 150}, Size{300, 97}, Size{70000, 20}, Size{66000, 48}, Size{70000, 113}}) {
    if (kUnderAddressSanitizer && rows > 300 && columns > 20) continue;
    const Eigen::MatrixXd matrix = SomeMatrix(rows, columns);
    Eigen::MatrixXd decomposed = matrix;
    const std::atomic<bool> never{false};
    Eigen::MatrixXd q;
    ASSERT_TRUE(OrthogonalColumns(never, &decomposed, &q));
    const Eigen::MatrixXd r = decomposed.topRows(columns).triangularView<Eigen::Upper>();
    EXPECT_LT((q * r - matrix).cwiseAbs().maxCoeff(), 1e-11) << rows << " " << columns;
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(columns, columns);
    EXPECT_LT((q.transpose() * q - identity).cwiseAbs().maxCoeff(), 1e-12)
        << rows << " " << columns;
  }
}

// A processor with another first cache adds up in the same order.
TEST(Orthogonal, BitsAreThoseOfAnyCache) {
  const Eigen::MatrixXd matrix = SomeMatrix(600, 130);
  const Eigen::MatrixXd q = OrthogonalOf(matrix);
  EXPECT_TRUE(kMatrixBlocksAreFixed);
  Eigen::setCpuCacheSizes(48 << 10, 2 << 20, 32 << 20);
  const Eigen::MatrixXd other = OrthogonalOf(matrix);
  Eigen::setCpuCacheSizes(32 << 10, 256 << 10, 2 << 20);
  EXPECT_FALSE(SameBits(q, other)) << "it did not matter";
  EXPECT_TRUE(SameBits(q, OrthogonalOf(matrix))) << "caches are not as they are set at the start";
}

// However few columns there are, whose steps go over all rows.
TEST(Orthogonal, EndsInAMomentWhenCancelled) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "the arithmetic between two looks is slow here";
  using Size = std::pair<Eigen::Index, Eigen::Index>;
  for (const auto& [rows, columns] : {Size{1000000, 47}, Size{1000000, 48}, Size{300000, 200}}) {
    Eigen::MatrixXd matrix = SomeMatrix(rows, columns);
    Eigen::MatrixXd q;
    std::atomic<bool> cancel{false};
    double asked = 0.0;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      cancel.store(true);
      asked = CpuSeconds();
    });
    EXPECT_FALSE(OrthogonalColumns(cancel, &matrix, &q));
    canceller.join();
    const double ended = CpuSeconds();
    EXPECT_LT(ended - asked, 0.3) << rows << " " << columns;
  }
}

}  // namespace
}  // namespace hopper
