#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "data/dataset.h"

namespace hopper {
namespace {

TEST(PartitionRange, CutsAllRowsIntoNeighboursOfNearlyEqualSize) {
  for (int64_t rows : {0, 1, 2, 7, 16, 100, 1797}) {
    for (int32_t partitions = 1; partitions <= 20; ++partitions) {
      int64_t next = 0;
      int64_t smallest = rows;
      int64_t largest = 0;
      for (int32_t p = 0; p < partitions; ++p) {
        const RankRange range = PartitionRange(rows, partitions, p);
        EXPECT_EQ(range.first, next);
        next += range.count;
        smallest = std::min(smallest, range.count);
        largest = std::max(largest, range.count);
      }
      EXPECT_EQ(next, rows);
      EXPECT_LE(largest - smallest, 1);
    }
  }
}

TEST(PartitionRange, SurvivesLargeTables) {
  const int64_t rows = int64_t{1} << 60;
  const RankRange last = PartitionRange(rows, 1000, 999);
  EXPECT_EQ(last.first + last.count, rows);
}

TEST(PartitionRange, RefusesPartitionsThatDoNotExist) {
  EXPECT_THROW(PartitionRange(10, 4, 4), Error);
  EXPECT_THROW(PartitionRange(10, 4, -1), Error);
  EXPECT_THROW(PartitionRange(10, 0, 0), Error);
}

TEST(DefaultPartitions, FollowsTheSize) {
  const int64_t mb = 1 << 20;
  EXPECT_EQ(DefaultPartitions(0, 1000), 4);
  EXPECT_EQ(DefaultPartitions(1024 * mb, 1000), 4);
  EXPECT_EQ(DefaultPartitions(1024 * mb + 1, 1000), 5);
  EXPECT_EQ(DefaultPartitions(25600 * mb, 1000), 100);
  EXPECT_EQ(DefaultPartitions(100, 3), 3);
  EXPECT_EQ(DefaultPartitions(0, 0), 1);
}

TEST(RowKey, IsAFunctionOfSeedAndContent) {
  const std::string x = "features";
  const std::string y = "labels";
  const Digest key = RowKey(1, x.data(), x.size(), y.data(), y.size());
  EXPECT_EQ(key, RowKey(1, x.data(), x.size(), y.data(), y.size()));
  EXPECT_EQ(key, Hash("featureslabels", 14, 1));
  EXPECT_NE(key, RowKey(2, x.data(), x.size(), y.data(), y.size()));
  EXPECT_NE(key, RowKey(1, "Features", x.size(), y.data(), y.size()));
  EXPECT_NE(key, RowKey(1, x.data(), x.size(), "Labels", y.size()));
}

TEST(BufferChecksum, DependsOnEverything) {
  std::set<std::string> digests;
  const std::string x = "0123456789";
  const std::string y = "abcd";
  const auto add = [&](int32_t p, int32_t b, int32_t n, size_t cut) {
    // `cut` moves a byte from the features to the labels without changing the sequence.
    const std::string all = x + y;
    digests.insert(
        BufferChecksum(p, b, n, all.data(), cut, all.data() + cut, all.size() - cut).Hex());
  };
  add(0, 0, 2, x.size());
  add(1, 0, 2, x.size());
  add(0, 1, 2, x.size());
  add(0, 0, 3, x.size());
  add(0, 0, 2, x.size() - 1);
  EXPECT_EQ(digests.size(), 5U);
}

}  // namespace
}  // namespace hopper
