#include "schedule/companions.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hopper {
namespace {

std::vector<int64_t> AllOf(const Companions& companions, const std::string& kind) {
  std::vector<int64_t> all;
  for (int64_t at = -1; (at = companions.NextOf(kind, at)) >= 0;) all.push_back(at);
  return all;
}

TEST(Companions, AreThoseOfOneKindInTheirOrder) {
  Companions companions;
  for (const size_t model : {5, 1, 3}) companions.Set(model, "a");
  companions.Set(2, "b");
  EXPECT_EQ(AllOf(companions, "a"), (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(AllOf(companions, "b"), (std::vector<int64_t>{2}));
  EXPECT_EQ(AllOf(companions, "c"), std::vector<int64_t>());
  companions.Set(3, "b");
  companions.Set(3, "b");
  companions.Remove(1);
  companions.Remove(1);
  companions.Remove(100);
  EXPECT_EQ(AllOf(companions, "a"), (std::vector<int64_t>{5}));
  EXPECT_EQ(AllOf(companions, "b"), (std::vector<int64_t>{2, 3}));
}

// Operations are counted, not seconds.
TEST(Companions, LookAtFewHoweverManyThereAre) {
  for (const size_t n : {size_t{100}, size_t{100000}}) {
    Companions companions;
    for (size_t i = 0; i < n; ++i) companions.Set(i, i % 50 == 49 ? "rare" : "frequent");
    int64_t last = -1;
    for (int task = 0; task < 2; ++task) {
      last = companions.NextOf("rare", last);
      ASSERT_GE(last, 0);
    }
    EXPECT_LE(companions.looks(), 2) << n;
  }
}

}  // namespace
}  // namespace hopper
