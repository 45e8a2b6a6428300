// Runs of one process that train at the same time, each on data of its own.
#include "engine/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/small_runs.h"

namespace hopper {
namespace {

// Until as many wait as are expected.
void PauseForTurns() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

TEST(Turns, AreGivenToWhoHasMostWorkLeft) {
  Turns turns(2);
  const std::atomic<bool> goes_on{false};
  Turn first(&turns);
  Turn second(&turns);
  first.Begin(1.0, goes_on);
  second.Begin(1.0, goes_on);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (const int work : {1, 5, 3, 4, 2}) {
    threads.emplace_back([&, work] {
      Turn turn(&turns);
      turn.Begin(work, goes_on);
      const std::lock_guard<std::mutex> lock(mutex);
      order.push_back(work);
    });
  }
  PauseForTurns();
  EXPECT_TRUE(order.empty());
  first.End();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{5, 4, 3, 2, 1}));
}

TEST(Turns, AreNoMoreThanThereAre) {
  Turns turns(3);
  const std::atomic<bool> goes_on{false};
  std::atomic<int> working{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 40; ++n) {
        Turn turn(&turns);
        turn.Begin((i * 7 + n) % 5, goes_on);
        const int now = ++working;
        int before = most.load();
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        --working;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most.load(), 3);
}

TEST(Turns, WhoIsCancelledWaitsNoLongerAndTakesNone) {
  Turns turns(1);
  const std::atomic<bool> goes_on{false};
  std::atomic<bool> cancelled{false};
  Turn held(&turns);
  held.Begin(1.0, goes_on);
  std::thread leaves([&] { Turn(&turns).Begin(9.0, cancelled); });
  std::thread stays([&] { Turn(&turns).Begin(1.0, goes_on); });
  PauseForTurns();
  cancelled = true;
  turns.WakeAll();
  leaves.join();
  held.End();
  stays.join();
  held.Begin(1.0, goes_on);
}

TEST(Turns, AreKeptForAWhileAndThenLeftToOthers) {
  Turns turns(1);
  const std::atomic<bool> goes_on{false};
  const Stopwatch watch;
  Turn kept(&turns);
  kept.Begin(1.0, goes_on);
  std::atomic<double> after{0.0};
  std::thread other([&] {
    Turn turn(&turns);
    turn.Begin(0.0, goes_on);
    after = watch.Seconds();
  });
  while (after == 0.0) kept.Begin(9.0, goes_on);
  other.join();
  EXPECT_GT(after, Turn::kSeconds);
}

std::vector<Configuration> TwoForTurns() {
  return AllConfigurations({MlpJson(20, 16, 3)}, {"Adam(lr=0.01)"},
                           {"batch_size=8", "batch_size=32"});
}

PackedTable::Options TableForTurns(uint64_t seed) {
  PackedTable::Options options;
  options.rows = 300 + 40 * static_cast<int64_t>(seed);
  options.seed = seed;
  return options;
}

struct RunsInTurns {
  std::deque<PackedTable> tables;
  std::deque<RunDriver> runs;

  RunsInTurns(const RunOptions& options, int n) {
    for (int i = 0; i < n; ++i) {
      tables.emplace_back(TableForTurns(static_cast<uint64_t>(i)));
      runs.emplace_back(options, tables.back(), nullptr);
      if (i > 0) runs.back().TakeTurnsWith(runs.front());
      for (const Configuration& config : TwoForTurns()) runs.back().AddConfig(config);
      runs.back().Start();
    }
  }
};

TEST(Turns, RunsHaveTheBitsThatEachHasAlone) {
  RunOptions options;
  options.iterations = 4;
  std::vector<std::map<int32_t, std::string>> alone;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    alone.push_back(DigestsOf(TrainAll(options, TwoForTurns(), PackedTable(TableForTurns(seed)))));
  }
  for (const int threads : {1, 2, 5}) {
    options.threads = threads;
    RunsInTurns together(options, 4);
    for (size_t i = 0; i < together.runs.size(); ++i) {
      together.runs[i].WaitToEnd();
      std::map<int32_t, ModelResult> results;
      for (const Configuration& config : TwoForTurns()) {
        results[config.key] = together.runs[i].Result(config.key);
      }
      EXPECT_EQ(DigestsOf(results), alone[i]) << threads;
    }
  }
}

// With one turn at a time the seconds of all visits add up to no more than the clock shows.
TEST(Turns, RunsHaveAsManyWorkersAtATimeAsTheFirstOne) {
  RunOptions options;
  options.iterations = 300;
  options.threads = 1;
  const Stopwatch watch;
  RunsInTurns together(options, 3);
  double trained = 0.0;
  for (RunDriver& run : together.runs) {
    run.WaitToEnd();
    for (const hopper_visit& visit : run.Visits()) trained += visit.train + visit.evaluate;
  }
  EXPECT_LE(trained, watch.Seconds());
}

TEST(Turns, OneThatEndsBeforeItsTimeKeepsNoneFromTheOthers) {
  RunOptions options;
  options.iterations = 200;
  RunsInTurns together(options, 4);
  together.runs[2].Cancel();
  together.runs[2].WaitToEnd();
  together.runs.pop_back();  // freed while it trains
  for (const size_t i : {0, 1}) {
    together.runs[i].WaitToEnd();
    EXPECT_EQ(together.runs[i].Result(1).raw.status, HOPPER_MODEL_DONE);
  }
}

}  // namespace
}  // namespace hopper
