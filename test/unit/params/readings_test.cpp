#include "params/readings.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "params/problems.h"

namespace hopper {
namespace {

TEST(Readings, TenThousandConfigurationsAreReadOnce) {
  Readings& readings = ProcessReadings();
  readings.Forget();
  const int64_t before = readings.count();
  constexpr int kConfigurations = 10000;
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < kConfigurations; ++i) {
      std::vector<ParamProblem> problems;
      const std::string rate = std::to_string(1 + i) + "e-6";
      const CompileParams compile = ParseCompileParams(
          "loss='sparse_categorical_crossentropy', optimizer='Adam(learning_rate=" + rate +
              ")', metrics=['accuracy', 'top_k_categorical_accuracy']",
          &problems);
      ASSERT_DOUBLE_EQ(compile.optimizer.learning_rate, (1 + i) * 1e-6);
      const FitParams fit =
          ParseFitParams("batch_size=" + std::to_string(1 + i) + ", epochs=3", &problems);
      ASSERT_EQ(fit.batch_size, 1 + i);
      ASSERT_TRUE(problems.empty());
    }
  }
  EXPECT_EQ(readings.count() - before, 2 * kConfigurations);
  EXPECT_LE(readings.compile.bytes(), Readings::kBytes);
}

// Beside a run they hold little of what it may take, whatever was read before it.
TEST(Readings, AreBoundedByARunsMemory) {
  Readings& readings = ProcessReadings();
  readings.Forget();
  const auto read = [] {
    for (int i = 0; i < 3000; ++i) {
      std::vector<ParamProblem> problems;
      ParseCompileParams("loss='mse', optimizer='SGD(learning_rate=" + std::to_string(1 + i) + ")'",
                         &problems);
      ParseFitParams("batch_size=" + std::to_string(1 + i), &problems);
    }
  };
  read();
  constexpr int64_t kLimit = int64_t{16} << 20;
  const auto held = [&] {
    return readings.compile.bytes() + readings.fit.bytes() + readings.models.bytes();
  };
  EXPECT_GT(held(), kLimit / 20);
  readings.Bound(kLimit);
  EXPECT_LE(held(), kLimit / 20);
  read();
  EXPECT_LE(held(), kLimit / 20);
  EXPECT_GT(held(), 0);
  readings.Bound(std::numeric_limits<int64_t>::max());
}

TEST(Readings, TellTheSameProblemsEachTime) {
  const std::string compile = "loss='mse', optimizer='Adam(lr=-1)', metrics=['acuracy'], steps=2";
  const std::string fit = "batch_size=0, epoks=2, shuffle='batch'";
  ProcessReadings().Forget();
  const auto found = [&] {
    std::vector<ParamProblem> problems;
    ParseCompileParams(compile, &problems);
    ParseFitParams(fit, &problems);
    return problems;
  };
  const std::vector<std::string> first = Describe(found());
  EXPECT_GE(first.size(), 5U);
  EXPECT_EQ(Describe(found()), first);
}

// What one caller does with its copy is no other's.
TEST(Readings, AreNobodysToChange) {
  const std::string text =
      "loss={'a': 'mse', 'b': 'mae'}, optimizer='SGD()', metrics={'a': ['mae']}";
  std::vector<ParamProblem> problems;
  CompileParams one = ParseCompileParams(text, &problems);
  ASSERT_TRUE(FitToOutputs({"a", "b"}, false, &one, &problems));
  CompileParams other = ParseCompileParams(text, &problems);
  ASSERT_TRUE(FitToOutputs({"b", "a"}, false, &other, &problems));
  EXPECT_EQ(one.losses[0].loss, LossKind::kMeanSquaredError);
  EXPECT_EQ(other.losses[0].loss, LossKind::kMeanAbsoluteError);
  EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace hopper
