#include "schedule/common_iterations.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

void ExpectSpan(CommonIterations* iterations, int64_t first, int64_t last) {
  const auto span = iterations->Next();
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->first, first);
  EXPECT_EQ(span->last, last);
}

TEST(CommonIterations, AreThoseOfTheSlowestThatCounts) {
  CommonIterations iterations;
  EXPECT_FALSE(iterations.Next().has_value());
  iterations.Set(0, 0, 0);
  iterations.Set(1, 0, 0);
  iterations.Set(0, 3, 0);
  EXPECT_FALSE(iterations.Next().has_value());
  iterations.Set(1, 2, 0);
  ExpectSpan(&iterations, 1, 2);
  EXPECT_FALSE(iterations.Next().has_value());
  iterations.Remove(1);
  iterations.Remove(1);
  ExpectSpan(&iterations, 3, 3);
  iterations.Remove(0);
  EXPECT_FALSE(iterations.Next().has_value());
}

TEST(CommonIterations, AreCountedFromTheLongestWarmStart) {
  CommonIterations iterations;
  iterations.Set(0, 1, 4);
  iterations.Set(1, 2, 7);
  ExpectSpan(&iterations, 8, 8);
  iterations.Set(1, 2, 9);  // as before: nothing has changed
  iterations.Set(0, 2, 4);
  ExpectSpan(&iterations, 9, 9);
}

}  // namespace
}  // namespace hopper
