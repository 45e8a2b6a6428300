#include "schedule/due.h"

#include <gtest/gtest.h>

namespace hopper {
namespace {

TEST(DueModels, AreNextByWorkAndBesideOthersByKind) {
  DueModels due({1, 1});
  due.Add(1);
  due.Set(0, 5.0, "a");
  due.Set(1, 7.0);
  due.Set(2, 6.0, "a");
  EXPECT_EQ(due.ready().Best(1), 1);
  EXPECT_EQ(due.companions().NextOf("a", -1), 0);
  EXPECT_EQ(due.companions().NextOf("a", 0), 2);
  due.Remove(1);
  EXPECT_EQ(due.ready().Best(1), 2);
  due.Set(2, 6.0);
  EXPECT_EQ(due.companions().NextOf("a", 0), -1);
  EXPECT_EQ(due.ready().Best(1), 2);
  due.Remove(2);
  due.Remove(0);
  EXPECT_EQ(due.ready().Best(1), -1);
  EXPECT_EQ(due.companions().NextOf("a", -1), -1);
}

}  // namespace
}  // namespace hopper
