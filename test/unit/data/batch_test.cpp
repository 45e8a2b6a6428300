#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "base/philox.h"
#include "data/dataset.h"
#include "data/division_reference.h"
#include "support/data_desc.h"

namespace hopper {
namespace {

TEST(BatchOrder, IsAPermutation) {
  for (int64_t n : {0, 1, 2, 3, 10, 1000}) {
    std::vector<int32_t> order = BatchOrder(7, 2, 5, n, true);
    std::sort(order.begin(), order.end());
    std::vector<int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all);
  }
}

TEST(BatchOrder, WithoutShufflingIsRankOrder) {
  EXPECT_EQ(BatchOrder(7, 2, 5, 4, false), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(BatchOrder, DependsOnSeedPartitionAndPassOnly) {
  const auto base = BatchOrder(7, 2, 5, 100, true);
  EXPECT_EQ(base, BatchOrder(7, 2, 5, 100, true));
  std::set<std::vector<int32_t>> orders = {base};
  orders.insert(BatchOrder(8, 2, 5, 100, true));
  orders.insert(BatchOrder(7 + (uint64_t{1} << 32), 2, 5, 100, true));
  orders.insert(BatchOrder(7, 3, 5, 100, true));
  orders.insert(BatchOrder(7, 2, 6, 100, true));
  orders.insert(BatchOrder(7, 5, 2, 100, true));
  EXPECT_EQ(orders.size(), 6U);
}

// Draw by draw, as it is defined.
TEST(BatchOrder, IsFisherAndYatesWithPhilox) {
  for (const int64_t n : {1, 2, 511, 512, 513, 3000}) {
    std::vector<int32_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const Philox philox(7, Purpose::kShuffle, 2, 5);
    for (int64_t i = n - 1; i > 0; --i) {
      const auto draw = static_cast<uint64_t>(i);
      const uint64_t bits =
          static_cast<uint64_t>(philox.Bits(2 * draw)) << 32 | philox.Bits(2 * draw + 1);
      const auto j = static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * (draw + 1) >> 64);
      EXPECT_EQ(philox.Below(draw, draw + 1), j);
      std::swap(order[draw], order[j]);
    }
    EXPECT_EQ(BatchOrder(7, 2, 5, n, true), order) << n;
  }
}

TEST(BatchOrder, EndsWhenItIsCancelled) {
  const std::atomic<bool> cancel{true};
  EXPECT_TRUE(BatchOrder(7, 2, 5, 100000, true, &cancel).empty());
  BatchOrders orders(1 << 20);
  EXPECT_EQ(orders.Get(7, 2, 5, 100000, true, cancel), nullptr);
  EXPECT_EQ(orders.computed(), 0);
  const std::atomic<bool> go_on{false};
  EXPECT_EQ(*orders.Get(7, 2, 5, 1000, true, go_on), BatchOrder(7, 2, 5, 1000, true));
}

// What is computed does not grow with the number of models.
TEST(BatchOrders, ComputeEachOrderOnceForAllModels) {
  BatchOrders orders(1 << 20);
  const std::atomic<bool> cancel{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int model = 0; model < 50; ++model) {
        for (int visit = 0; visit < 2 * 4; ++visit) {
          const auto order = orders.Get(42, visit % 4, visit / 4, 100, true, cancel);
          EXPECT_EQ(order->size(), 100U);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(orders.computed(), 2 * 4);
  orders.Get(43, 0, 0, 100, true, cancel);
  EXPECT_EQ(orders.computed(), 2 * 4 + 1);
  // In rank order every pass is the same.
  for (int pass = 0; pass < 9; ++pass) orders.Get(42, 1, pass, 100, false, cancel);
  EXPECT_EQ(orders.computed(), 2 * 4 + 2);
}

TEST(BatchOrders, KeepNoMoreThanTheyMay) {
  const std::atomic<bool> cancel{false};
  BatchOrders none;
  const auto held = none.Get(1, 0, 0, 1000, true, cancel);
  EXPECT_EQ(none.Get(1, 0, 0, 1000, true, cancel), held) << "in use, it is shared";
  EXPECT_EQ(none.computed(), 1);
  // Room for three of six that come round again and again: by age, none would be found.
  BatchOrders some(3 * 4300);
  for (int i = 0; i < 600; ++i) some.Get(1, i % 6, 0, 1000, true, cancel);
  EXPECT_LT(some.computed(), 570);
  EXPECT_GT(some.computed(), 150);
}

TEST(BatchOrder, IsUniform) {
  // Each of the 24 orders of 4 examples; chi-squared with 23 degrees of freedom stays below 56
  // with a probability of 0.9999.
  constexpr int kDraws = 24000;
  std::vector<int> counts(256, 0);
  for (int pass = 0; pass < kDraws; ++pass) {
    const auto order = BatchOrder(1, 0, pass, 4, true);
    ++counts[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]];
  }
  double chi = 0.0;
  for (int count : counts) {
    if (count > 0) chi += std::pow(count - kDraws / 24.0, 2) / (kDraws / 24.0);
  }
  EXPECT_EQ(std::count_if(counts.begin(), counts.end(), [](int c) { return c > 0; }), 24);
  EXPECT_LT(chi, 56.0);
}

// A partition of `n` rows of `elements` values.
template <typename T>
Partition PartitionOf(const std::vector<T>& x, const std::vector<T>& y, int64_t n) {
  Partition partition;
  partition.n = n;
  partition.x = AlignedArray<uint8_t>(x.size() * sizeof(T));
  partition.y = AlignedArray<uint8_t>(y.size() * sizeof(T));
  std::memcpy(partition.x.data(), x.data(), partition.x.size());
  std::memcpy(partition.y.data(), y.data(), partition.y.size());
  return partition;
}

DataDesc Pairs(ValueType type, int64_t elements, double constant) {
  DataDesc desc = MakeDesc(type, {elements}, {LabelKind::kArray, type, {2}}, 3);
  desc.normalizing_const = constant;
  return desc;
}

template <typename T>
void ExpectGathered(ValueType type) {
  const DataDesc desc = Pairs(type, 3, 1.0);
  const Partition partition = PartitionOf<T>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6}, 3);
  const int32_t rows[] = {2, 0, 2};
  std::vector<float> x(9);
  GatherFeatures(desc, partition, rows, 3, x.data());
  EXPECT_EQ(x, (std::vector<float>{7, 8, 9, 1, 2, 3, 7, 8, 9}));
  std::vector<float> y(6);
  GatherValues(desc, partition, rows, 3, y.data());
  EXPECT_EQ(y, (std::vector<float>{5, 6, 1, 2, 5, 6}));
  std::vector<float> converted(9);
  // An address that is not aligned.
  std::vector<uint8_t> bytes(partition.x.size() + 1);
  std::memcpy(bytes.data() + 1, partition.x.data(), partition.x.size());
  ConvertFeatures(desc, bytes.data() + 1, 3, converted.data());
  EXPECT_EQ(converted, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Gather, TakesRowsOfEveryType) {
  ExpectGathered<uint8_t>(ValueType::kUint8);
  ExpectGathered<int16_t>(ValueType::kInt16);
  ExpectGathered<int32_t>(ValueType::kInt32);
  ExpectGathered<int64_t>(ValueType::kInt64);
  ExpectGathered<float>(ValueType::kFloat32);
  ExpectGathered<double>(ValueType::kFloat64);
}

// Beyond float32 before the division, and within it afterwards.
TEST(Gather, DividesDoublesBeforeTheyAreNarrowed) {
  const DataDesc desc = Pairs(ValueType::kFloat64, 3, 1e30);
  const Partition partition = PartitionOf<double>({1e60, -3e60, 0.1}, {0, 0}, 1);
  const int32_t rows[] = {0};
  std::vector<float> x(3);
  GatherFeatures(desc, partition, rows, 1, x.data());
  const auto divisor = static_cast<double>(static_cast<float>(1e30));
  EXPECT_EQ(x, (std::vector<float>{static_cast<float>(1e60 / divisor),
                                   static_cast<float>(-3e60 / divisor),
                                   static_cast<float>(0.1 / divisor)}));
}

TEST(Gather, TakesClassesOfEveryIntegerType) {
  const LabelsDesc labels = {LabelKind::kClass, ValueType::kInt16, {}, 300};
  const DataDesc desc = MakeDesc(ValueType::kInt16, {1}, labels, 3);
  const Partition partition = PartitionOf<int16_t>({1, 2, 3}, {299, 0, 7}, 3);
  const int32_t rows[] = {2, 1, 0};
  std::vector<int64_t> classes(3);
  GatherClasses(desc, partition, rows, 3, classes.data());
  EXPECT_EQ(classes, (std::vector<int64_t>{7, 0, 299}));
}

TEST(Gather, DividesAsNumpyDoes) {
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), uint8_t{0});
  for (const DivisionReference& reference : kDivisions) {
    const DataDesc desc = Pairs(ValueType::kUint8, 256, reference.constant);
    std::vector<float> quotients(256);
    ConvertFeatures(desc, all.data(), 1, quotients.data());
    EXPECT_EQ(std::memcmp(quotients.data(), reference.bits, sizeof(reference.bits)), 0)
        << "divided by " << reference.constant;
  }
}

}  // namespace
}  // namespace hopper
