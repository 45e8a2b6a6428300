// Against sorting all of them.
#include "schedule/largest_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace hopper {
namespace {

int64_t SumOf(std::vector<int64_t> numbers, int64_t n) {
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  const auto end = std::min<size_t>(numbers.size(), static_cast<size_t>(n));
  return std::accumulate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(end),
                         int64_t{0});
}

TEST(LargestSum, IsWhatSortingAllGives) {
  std::mt19937 random(5);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int run = 0; run < 300; ++run) {
    const int64_t n = draw(0, 5);
    LargestSum sum(n);
    std::vector<int64_t> numbers;
    for (int step = 0; step < 60; ++step) {
      const int64_t number = draw(0, 6);
      if (draw(0, 2) > 0) {
        numbers.push_back(number);
        sum.Add(number);
      } else {
        const auto found = std::find(numbers.begin(), numbers.end(), number);
        if (found != numbers.end()) numbers.erase(found);
        sum.Remove(number);
      }
      ASSERT_EQ(sum.sum(), SumOf(numbers, n));
      std::vector<int64_t> more = numbers;
      more.insert(more.end(), 2, number);
      ASSERT_EQ(sum.SumWith(number, 2), SumOf(more, n));
    }
  }
}

// Operations are counted, not seconds.
TEST(LargestSum, LooksAtFewHoweverManyThereAre) {
  for (const int64_t n : {int64_t{100}, int64_t{100000}}) {
    LargestSum sum(16);
    for (int64_t i = 0; i < n; ++i) sum.Add(i % 1000);
    const int64_t before = sum.looks();
    for (int64_t task = 0; task < 1000; ++task) {
      sum.Remove(task);
      EXPECT_GT(sum.SumWith(task % 500, 2), 0);
      sum.Add(task);
    }
    EXPECT_LE((sum.looks() - before) / 1000, 4) << n;
  }
}

}  // namespace
}  // namespace hopper
