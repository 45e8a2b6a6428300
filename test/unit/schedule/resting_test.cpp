#include "schedule/resting.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace hopper {
namespace {

TEST(RestingModels, TheFirstOtherOneGivesWay) {
  RestingModels resting;
  EXPECT_EQ(resting.FirstBeside(0), -1);
  resting.Set(5, true);
  resting.Set(2, true);
  resting.Set(2, true);
  EXPECT_EQ(resting.FirstBeside(0), 2);
  EXPECT_EQ(resting.FirstBeside(2), 5);
  EXPECT_TRUE(resting.Contains(2));
  resting.Set(2, false);
  resting.Set(7, false);
  EXPECT_FALSE(resting.Contains(2));
  EXPECT_EQ(resting.FirstBeside(0), 5);
  EXPECT_EQ(resting.FirstBeside(5), -1);
}

// Operations are counted, not seconds.
TEST(RestingModels, LookAtFewHoweverManyThereAre) {
  for (const size_t n : {size_t{100}, size_t{100000}}) {
    RestingModels resting;
    for (size_t i = 0; i < n; ++i) resting.Set(i, true);
    for (size_t stint = 0; stint < 1000; ++stint) {
      const int64_t gives = resting.FirstBeside(stint % n);
      ASSERT_GE(gives, 0);
      resting.Set(static_cast<size_t>(gives), false);
      resting.Set(static_cast<size_t>(gives), true);
    }
    EXPECT_LE(resting.looks(), 2000) << n;
  }
}

}  // namespace
}  // namespace hopper
