#include "base/log_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace hopper {
namespace {

TEST(LogQueue, FirstInFirstOutAndDropsWhatDoesNotFit) {
  LogQueue<std::string> queue(2);
  std::string entry;
  EXPECT_FALSE(queue.Pop(&entry));
  EXPECT_TRUE(queue.Push("a"));
  EXPECT_TRUE(queue.Push("b"));
  EXPECT_FALSE(queue.Push("c"));
  EXPECT_EQ(queue.dropped(), 1u);
  EXPECT_TRUE(queue.Pop(&entry));
  EXPECT_EQ(entry, "a");
  EXPECT_TRUE(queue.Push("d"));
  EXPECT_TRUE(queue.Pop(&entry));
  EXPECT_EQ(entry, "b");
  EXPECT_TRUE(queue.Pop(&entry));
  EXPECT_EQ(entry, "d");
  EXPECT_FALSE(queue.Pop(&entry));
}

TEST(LogQueue, ThreadsLoseNothing) {
  constexpr int kThreads = 4, kEntries = 2000;
  LogQueue<int> queue(kThreads * kEntries);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&queue, t] {
      for (int i = 0; i < kEntries; ++i) queue.Push(t * kEntries + i);
    });
  }
  std::vector<int> last(kThreads, -1);
  int popped = 0, entry = 0;
  while (popped < kThreads * kEntries) {
    if (!queue.Pop(&entry)) {
      std::this_thread::yield();
      continue;
    }
    ++popped;
    // One thread's entries stay in order.
    EXPECT_LT(last[entry / kEntries], entry);
    last[entry / kEntries] = entry;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(queue.dropped(), 0u);
}

TEST(Clock, RunsForward) {
  const Stopwatch stopwatch;
  const double start = MonotonicSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(MonotonicSeconds() - start, 0.02);
  EXPECT_GE(stopwatch.Seconds(), 0.02);
}

}  // namespace
}  // namespace hopper
