#include "schedule/workers.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "model_hopper/limits.h"

namespace hopper {
namespace {

TEST(Workers, ShareTheThreads) {
  EXPECT_EQ(WorkersOf(8, 1), 8);
  EXPECT_EQ(WorkersOf(8, 3), 2);
  EXPECT_EQ(WorkersOf(2, 3), 1);
  EXPECT_EQ(WorkersOf(0, 1), 1);
  EXPECT_EQ(WorkersOf(HOPPER_MAX_THREADS + 5, 1), HOPPER_MAX_THREADS);
}

TEST(Workers, AModelHasNoMoreThreadsThanItsRun) {
  EXPECT_NO_THROW(CheckThreadsPerModel(2, 2));
  for (const int threads : {1, 2}) {
    try {
      CheckThreadsPerModel(threads, 3);
      FAIL() << "three of " << threads;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
      EXPECT_EQ(error.problem().message, "threads_per_model must not be more than threads");
      EXPECT_EQ(error.problem().detail, "It is 3, and the run has " +
                                            std::string(threads == 1 ? "1 thread." : "2 threads."));
      EXPECT_EQ(error.problem().hint, "Lower threads_per_model, or raise threads.");
    }
  }
}

}  // namespace
}  // namespace hopper
