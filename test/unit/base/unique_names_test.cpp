#include "base/unique_names.h"

#include <gtest/gtest.h>

#include "base/cancel.h"
#include "support/cpu_clock.h"

namespace hopper {
namespace {

TEST(UniqueNames, TakeTheFirstThatIsFree) {
  UniqueNames names("_");
  EXPECT_EQ(names.Take("a"), "a");
  EXPECT_EQ(names.Take("a"), "a_2");
  EXPECT_TRUE(names.TakeAsItIs("a_4"));
  EXPECT_FALSE(names.TakeAsItIs("a_4"));
  EXPECT_EQ(names.Take("a"), "a_3");
  EXPECT_EQ(names.Take("a"), "a_5");
  EXPECT_EQ(names.Take("a_3"), "a_3_2");
  names.GiveBack("a_3");
  names.GiveBack("nobody_7");
  EXPECT_EQ(names.Take("a"), "a_3");
  EXPECT_EQ(names.Take("a"), "a_6");
  names.GiveBack("a");
  EXPECT_EQ(names.Take("a"), "a");
}

TEST(UniqueNames, CostTheSameHoweverManyShareOne) {
  UniqueNames names("#");
  const double start = CpuSeconds();
  for (int i = 0; i < 200000; ++i) names.Take("dense/kernel");
  EXPECT_LT(CpuSeconds() - start, 5.0);  // each with each: hours
  EXPECT_EQ(names.Take("dense/kernel"), "dense/kernel#200001");
}

TEST(Cancel, IsSeenWhereItIsAskedFor) {
  LookAtCancel();
  static int asked = 0;
  AskForCancel([] { return ++asked > 2 ? 1 : 0; });
  UniqueNames names("#");
  names.Take("a");
  names.Take("a");
  EXPECT_THROW(names.Take("a"), Cancelled);
  AskForCancel(nullptr);
  EXPECT_EQ(names.Take("a"), "a#3");
}

}  // namespace
}  // namespace hopper
