// What a run has to tell waits in bounded queues: where nobody takes it, nobody goes on.
#include "engine/events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

TEST(LibtorchWarnings, AreToldOnceAndNotTooMany) {
  LibtorchWarnings warnings;
  Problem problem;
  ASSERT_TRUE(warnings.IsNew("slow path\nat line 7", &problem));
  EXPECT_EQ(problem.message, "libtorch: slow path");
  EXPECT_FALSE(warnings.IsNew("slow path\nat line 7", &problem));
  int told = 0;
  for (int i = 0; i < 100; ++i) told += warnings.IsNew(std::to_string(i), &problem) ? 1 : 0;
  EXPECT_EQ(told, 19);
}

// Since it was asked last.
uint64_t TimesWoken(const EventFd& fd) {
  uint64_t count = 0;
  return read(fd.fd(), &count, sizeof(count)) < 0 ? uint64_t{0} : count;
}

TEST(EventQueue, SaysWhenItIsFullAndWhenItHasRoomAgain) {
  EventQueue queue(-1);
  Event event;
  for (; !queue.IsFull(); ++event.n_live) queue.Push(event);
  EXPECT_LE(event.n_live, 10000);
  queue.Push(event);
  bool again = false;
  ASSERT_TRUE(queue.Pop(&event, &again));
  EXPECT_FALSE(again) << "it is still full";
  ASSERT_TRUE(queue.Pop(&event, &again));
  EXPECT_TRUE(again);
  EXPECT_FALSE(queue.IsFull());
  ASSERT_TRUE(queue.Pop(&event, &again));
  EXPECT_FALSE(again);
}

TEST(EventQueue, WakesTheReaderOnceForAllThatItFinds) {
  const EventFd fd;
  EventQueue queue(fd.fd());
  const auto woken = [&] { return TimesWoken(fd); };
  Event event;
  bool again = false;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) queue.Push(event);
    EXPECT_EQ(woken(), 1U);
    ASSERT_TRUE(queue.Pop(&event, &again));
    queue.Push(event);
    EXPECT_EQ(woken(), 0U) << "the reader is still at it";
    while (queue.Pop(&event, &again)) {
    }
  }
  queue.Push(event);
  queue.PushLast(event);
  EXPECT_EQ(woken(), 2U);
}

// A reader that only writes them down is not woken for each: with many small models waking it took
// a third of what a task cost beside its steps.
TEST(EventQueue, MetricsWakeTheReaderOnceThereAreMany) {
  const EventFd fd;
  EventQueue queue(fd.fd());
  const auto woken = [&] { return TimesWoken(fd); };
  Event event;
  bool again = false;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 255; ++i) queue.PushQuietly(event);
    EXPECT_EQ(woken(), 0U);
    for (int i = 0; i < 10; ++i) queue.PushQuietly(event);
    EXPECT_EQ(woken(), 1U);
    while (queue.Pop(&event, &again)) {
    }
  }
  queue.PushQuietly(event);
  queue.Push(event);
  EXPECT_EQ(woken(), 1U) << "what is to be acted on wakes at once";
}

TEST(EventQueue, HandsOnEveryField) {
  EventQueue queue(-1);
  Event sent;
  sent.type = EventType::kMetrics;
  sent.mst_key = 2;
  sent.iteration = 3;
  sent.split = 1;
  sent.running = true;
  sent.n_live = 6;
  sent.loss = 7.5;
  sent.metrics = {0.5, 8.5};
  sent.elapsed = 9.5;
  sent.partition = 10;
  sent.take = true;
  queue.Push(sent);
  sent.problem.message = "loss became NaN";
  queue.Push(sent);
  sent.problem.message = "";
  sent.problem.hint = "lower the learning rate";
  queue.Push(sent);
  for (const char* hint : {"", "", "lower the learning rate"}) {
    Event taken;
    bool again = false;
    ASSERT_TRUE(queue.Pop(&taken, &again));
    EXPECT_EQ(taken.problem.hint, hint);
    EXPECT_EQ(taken.mst_key, 2);
    EXPECT_EQ(taken.iteration, 3);
    EXPECT_EQ(taken.metrics, sent.metrics);
    EXPECT_EQ(taken.elapsed, 9.5);
    EXPECT_EQ(taken.partition, 10);
    EXPECT_TRUE(taken.take);
  }
}

TEST(EventQueue, KeepsManyIterationsInOnePlace) {
  EventQueue queue(-1);
  Event event;
  event.type = EventType::kIteration;
  event.iteration = 3;
  queue.PushIterations(event, 1000000);
  EXPECT_FALSE(queue.IsFull());
  bool again = false;
  for (int32_t i = 3; i <= 1000000; ++i) {
    ASSERT_TRUE(queue.Pop(&event, &again));
    ASSERT_EQ(event.iteration, i);
  }
  EXPECT_FALSE(queue.Pop(&event, &again));
}

TEST(Events, WorkersWaitForTheReader) {
  constexpr int kModels = 40;
  constexpr int kIterations = 120;
  PackedTable::Options table;
  table.x_shape = {4};
  table.rows = 32;
  table.partitions = 16;
  const PackedTable train{table};
  RunOptions options;
  options.iterations = kIterations;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  options.starts = {0};
  RunDriver run(options, train, nullptr);
  for (int key = 1; key <= kModels; ++key) {
    Configuration config;
    config.key = key;
    config.arch =
        KerasSequential({KerasDense("only", 3, "softmax", R"("batch_input_shape": [null, 4])")});
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.01)'";
    config.fit = "batch_size=2, epochs=1";
    run.AddConfig(config);
  }
  run.Start();
  // Visits are taken, events are not: until the workers stand still, which on a slow machine they
  // may seem to do before there is a reason.
  constexpr size_t kLeast = 60000;
  size_t visits = 0;
  int64_t tasks = 0;
  int still = 0;
  for (int looks = 0; looks < 3000 && (visits < kLeast || still < 10); ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    visits += run.Visits().size();
    const int64_t taken = run.Info().n_tasks;
    still = taken == tasks ? still + 1 : 0;
    tasks = taken;
  }
  EXPECT_GE(visits, kLeast);
  EXPECT_LT(visits, 66000U) << "about 4096 events of 4920";
  int metrics = 0;
  int iterations = 0;
  for (const hopper_event& event : run.WaitToEnd()) {
    metrics += event.type == HOPPER_EVENT_METRICS ? 1 : 0;
    if (event.type != HOPPER_EVENT_ITERATION) continue;
    EXPECT_EQ(event.iteration, ++iterations);
  }
  EXPECT_EQ(metrics, kModels * kIterations);
  EXPECT_EQ(iterations, kIterations);
  EXPECT_EQ(visits + run.Visits().size(), size_t{kModels} * kIterations * 16);
}

}  // namespace
}  // namespace hopper
