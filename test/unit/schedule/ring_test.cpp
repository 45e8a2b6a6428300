#include "schedule/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"

namespace hopper {
namespace {

TEST(Ring, EveryModelMeetsEveryPartitionOnceAnIteration) {
  for (int partitions = 1; partitions <= 12; ++partitions) {
    // Every set of starts that contains 0, while there are few of them.
    for (int mask = 0; mask < (1 << std::min(partitions - 1, 7)); ++mask) {
      std::vector<int> starts = {0};
      for (int bit = 0; bit < 7; ++bit) {
        if ((mask >> bit & 1) != 0) starts.push_back(bit + 1);
      }
      const Ring ring(partitions, starts);
      for (int key = -3; key <= 30; ++key) {
        std::set<int> met;
        for (int visit = 0; visit < partitions; ++visit) {
          const int p = ring.PartitionOf(key, visit);
          ASSERT_GE(p, 0);
          ASSERT_LT(p, partitions);
          met.insert(p);
        }
        ASSERT_EQ(static_cast<int>(met.size()), partitions);
      }
    }
  }
}

TEST(Ring, StartsByKeyAndGoesUp) {
  const Ring ring(8, {0, 3, 6});
  const int expected[] = {0, 3, 6, 0, 3, 6};
  for (int key = 1; key <= 6; ++key) {
    EXPECT_EQ(ring.FirstPartition(key), expected[key - 1]);
    for (int visit = 0; visit < 8; ++visit) {
      EXPECT_EQ(ring.PartitionOf(key, visit), (expected[key - 1] + visit) % 8);
    }
  }
}

TEST(Ring, SpreadsModelsEvenly) {
  // As many models as runs of partitions: at any visit no two of them want the same partition.
  const Ring ring(4, {0, 1, 2, 3});
  for (int visit = 0; visit < 4; ++visit) {
    std::set<int> wanted;
    for (int key = 1; key <= 4; ++key) wanted.insert(ring.PartitionOf(key, visit));
    EXPECT_EQ(wanted.size(), 4U);
  }
}

TEST(Ring, RefusesStartsThatDoNotFit) {
  EXPECT_THROW(Ring(0, {0}), Error);
  EXPECT_THROW(Ring(4, {}), Error);
  EXPECT_THROW(Ring(4, {1}), Error);
  EXPECT_THROW(Ring(4, {0, 4}), Error);
  EXPECT_THROW(Ring(4, {0, 2, 2}), Error);
  EXPECT_THROW(Ring(4, {0, 3, 2}), Error);
}

}  // namespace
}  // namespace hopper
