// Partitions that come and go: what is read how often, and that every run ends.
#include "schedule/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "schedule/window_simulation.h"
#include "support/random_runs.h"

namespace hopper {
namespace {

std::array<int, 2> LoadsOf(const Setting& setting) {
  Simulation run(setting);
  EXPECT_EQ(run.Run(), "") << setting.Text();
  return run.loads();
}

TEST(Window, AModelAloneReadsEachPartitionOnceAnIteration) {
  Setting setting;
  setting.models = 1;
  setting.iterations = 4;
  for (const int64_t budget : {10, 20}) {
    setting.budget = budget;
    EXPECT_EQ(LoadsOf(setting)[0], 4 * 5);
  }
}

TEST(Window, WhatFitsIsReadOnce) {
  Setting setting;
  setting.models = 4;
  setting.starts = Starts(5, 1);
  setting.budget = 50;
  setting.iterations = 9;
  EXPECT_EQ(LoadsOf(setting)[0], 5);
}

// Memory for more than the two partitions in work keeps others from one round to the next.
TEST(Window, MoreMemoryReadsLess) {
  Setting setting;
  setting.models = 1;
  setting.train = 10;
  setting.iterations = 10;
  int last = 1000;
  for (int64_t slots = 2; slots <= 10; slots += 2) {
    setting.budget = slots * setting.train_bytes;
    const int loads = LoadsOf(setting)[0];
    EXPECT_LT(loads, last) << slots;
    EXPECT_LE(loads, 10 + 9 * (12 - slots)) << slots;
    last = loads;
  }
}

TEST(Window, ServesAllThatIsDueAndReadsNothingTooOften) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (uint32_t i = 0; i < 4000; ++i) {
    Setting setting;
    setting.seed = i;
    setting.models = draw(1, 9);
    setting.train = draw(1, 8);
    setting.valid = draw(0, 4);
    setting.train_bytes = draw(1, 10);
    setting.valid_bytes = draw(1, 10);
    const int largest = std::max(setting.train_bytes, setting.valid == 0 ? 0 : setting.valid_bytes);
    setting.budget = draw(largest, largest * 6);
    setting.iterations = draw(1, 4);
    setting.workers = draw(1, 4);
    setting.evaluate_train = draw(0, 1) == 1;
    setting.evaluate_valid = setting.valid > 0;
    setting.waits = setting.evaluate_valid && draw(0, 3) == 0;
    setting.starts = Starts(setting.train, draw(1, 3));
    const std::array<int, 2> loads = LoadsOf(setting);
    if (HasFailure()) FAIL() << setting.Text();
    // A model that waits for a validation may miss the sweep.
    if (setting.waits) continue;
    const int rounds = setting.iterations + 1;
    EXPECT_LE(loads[0], setting.train * (rounds + (setting.evaluate_train ? 1 : 0)))
        << setting.Text();
    EXPECT_LE(loads[1], setting.valid * rounds) << setting.Text();
  }
}

// A budget of one partition: as many loads as there are steps of the sweep, and not one more.
TEST(Window, OneSlotWorks) {
  Setting setting;
  setting.budget = 10;
  setting.models = 8;
  setting.starts = Starts(5, 1);
  setting.iterations = 6;
  setting.valid = 2;
  setting.evaluate_valid = true;
  setting.evaluate_train = true;
  const std::array<int, 2> loads = LoadsOf(setting);
  EXPECT_LE(loads[0], 5 * 8);
  EXPECT_LE(loads[1], 2 * 7);
}

// Four partitions, room for three. B's metrics are known after the sweep has passed over a
// partition that it will need: it has to wait for the next time round.
TEST(Window, NobodyBoardsBeforeAGap) {
  enum { kB = 1, kC, kD };
  PartitionWindow window({1, 1, 1, 1}, {}, 3);
  std::vector<int> loads;
  const auto load_all = [&] {
    PartitionWindow::Place load;
    std::vector<PartitionWindow::Place> dropped;
    while (window.NextLoad(&load, &dropped)) {
      loads.push_back(load.partition);
      window.FinishLoad();
    }
  };
  window.SetRider(kC, 1, 1);
  window.SetRider(kD, 3, 4);
  load_all();
  EXPECT_EQ(loads, (std::vector<int>{1, 3, 0}));
  window.SetRider(kB, 1, 4);
  window.SetRider(kC, 2, 0);
  window.SetRider(kB, 2, 3);
  window.SetRider(kD, 0, 3);
  load_all();
  window.SetRider(kD, 1, 2);
  load_all();
  window.SetRider(kD, 2, 1);
  load_all();
  EXPECT_TRUE(window.IsLoaded(0, 2)) << "B and D wait for ever";
}

// As on a segment that has no training data.
TEST(Window, ValidationPartitionsAloneComeInTurns) {
  PartitionWindow window({}, {5, 5, 5}, 10);
  for (int p = 0; p < 3; ++p) window.Want(1, p);
  PartitionWindow::Place load;
  std::vector<PartitionWindow::Place> dropped;
  std::vector<int> loads;
  while (window.NextLoad(&load, &dropped)) {
    EXPECT_EQ(load.split, 1);
    loads.push_back(load.partition);
    window.FinishLoad();
    window.Pin(1, load.partition);
    window.Unwant(1, load.partition);
    window.Unpin(1, load.partition);
  }
  EXPECT_EQ(loads, (std::vector<int>{0, 1, 2}));
}

// As many as HOPPER_RANDOM_RUNS says, for bench/random_runs.
TEST(Window, RandomRunsEnd) {
  const RandomSeeds seeds = SeedsOfRandomRuns(10000);
  Tally tally;
  std::mt19937 random(11 + static_cast<uint32_t>(seeds.first));
  for (int64_t i = seeds.first; i < seeds.last; ++i) {
    const Setting setting = RandomSetting(&random);
    ASSERT_EQ(Simulation(setting).Run(), "") << "run " << i << ": " << setting.Text();
    tally.Count("runs");
  }
}

}  // namespace
}  // namespace hopper
