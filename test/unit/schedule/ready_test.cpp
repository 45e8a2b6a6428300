// Against looking at all of them.
#include "schedule/ready.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hopper {
namespace {

TEST(ReadyModels, FindWhatALookAtAllFinds) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int run = 0; run < 300; ++run) {
    auto n = static_cast<size_t>(draw(0, 20));
    std::vector<int64_t> needs(n);
    for (int64_t& need : needs) need = draw(1, 4);
    std::vector<double> work(n, -1.0);
    ReadyModels ready(needs);
    for (int step = 0; step < 60; ++step) {
      if (draw(0, 9) == 0) {
        needs.push_back(draw(1, 4));
        work.push_back(-1.0);
        ready.Add(needs.back());
        ++n;
      }
      if (n > 0) {
        const auto model = static_cast<size_t>(draw(0, static_cast<int>(n) - 1));
        work[model] = draw(0, 2) == 0 ? -1.0 : draw(0, 5);
        work[model] < 0.0 ? ready.Remove(model) : ready.Set(model, work[model]);
      }
      const int64_t room = draw(0, 5);
      int64_t best = -1;
      for (size_t i = 0; i < n; ++i) {
        if (work[i] < 0.0 || needs[i] > room) continue;
        if (best < 0 || work[i] > work[static_cast<size_t>(best)]) best = static_cast<int64_t>(i);
      }
      ASSERT_EQ(ready.Best(room), best);
    }
  }
}

// Operations are counted, not seconds.
TEST(ReadyModels, LookAtFewHoweverManyThereAre) {
  for (const size_t n : {size_t{100}, size_t{100000}}) {
    std::vector<int64_t> needs(n);
    for (size_t i = 0; i < n; ++i) needs[i] = static_cast<int64_t>(i % 7);
    ReadyModels ready(needs);
    for (size_t i = 0; i < n; ++i) ready.Set(i, static_cast<double>(i % 1000));
    const int64_t before = ready.looks();
    for (int task = 0; task < 1000; ++task) {
      const auto model = static_cast<size_t>(ready.Best(3 + task % 4));
      ready.Remove(model);
      ready.Set(model, static_cast<double>(task % 500));
    }
    EXPECT_LT((ready.looks() - before) / 1000, 100) << n;
  }
}

// Looks at models that enter one after another.
TEST(ReadyModels, AddingLooksAtFewHoweverManyThereAre) {
  for (const size_t n : {size_t{1000}, size_t{20000}}) {
    ReadyModels ready({});
    for (size_t i = 0; i < n; ++i) {
      ready.Add(static_cast<int64_t>(i % 7));
      ready.Set(i, static_cast<double>(i % 1000));
      ASSERT_GE(ready.Best(3 + static_cast<int64_t>(i % 4)), -1);
    }
    EXPECT_LT(ready.looks() / static_cast<int64_t>(n), 400) << n;
  }
}

}  // namespace
}  // namespace hopper
