// What a task costs beside its arithmetic does not grow with threads or models: operations are
// counted, not seconds.
#include <gtest/gtest.h>

#include "support/cpu_clock.h"
#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

struct Counts {
  double tasks = 0.0;
  double steps = 0.0;  // a task
  double wakes = 0.0;
};

// Logistic regressions over 16 partitions, each of whose visits is a task of its own.
Counts TrainMany(int models, int threads) {
  PackedTable::Options rows;
  rows.x_shape = {20};
  rows.rows = 1600;
  rows.partitions = 16;
  const PackedTable train{rows};
  RunOptions options;
  options.threads = threads;
  options.iterations = 1;
  options.starts.clear();
  for (int p = 0; p < rows.partitions; ++p) options.starts.push_back(p);
  RunDriver run(options, train, nullptr);
  for (int key = 1; key <= models; ++key) {
    Configuration config;
    config.key = key;
    config.arch =
        KerasSequential({KerasDense("only", 3, "softmax", R"("batch_input_shape": [null, 20])")});
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.01)', metrics=[]";
    config.fit = "batch_size=100, epochs=60";
    run.AddConfig(config);
  }
  run.Start();
  run.WaitToEnd();
  const hopper_run_info info = run.Info();
  Counts counts;
  counts.tasks = static_cast<double>(info.n_tasks);
  counts.steps = static_cast<double>(info.n_steps) / counts.tasks;
  counts.wakes = static_cast<double>(info.n_wakes);
  EXPECT_GE(info.n_tasks, models * 16);
  EXPECT_EQ(info.n_workers, threads);
  return counts;
}

TEST(ManyModels, SixteenThreadsTakeNoMoreStepsATaskThanTwo) {
  const int models = Repetitions(200);
  const Counts two = TrainMany(models, 2);
  const Counts sixteen = TrainMany(models, 16);
  EXPECT_LE(sixteen.steps, 1.5 * two.steps);
  // A woken thread finds a task: threads are idle at the end alone, when fewer models than they are
  // left. A thread woken for each task would be woken thousands of times.
  EXPECT_LE(two.wakes, two.tasks / 20);
  EXPECT_LE(sixteen.wakes, sixteen.tasks / 20);
}

TEST(ManyModels, StepsATaskGrowAsTheLogarithmOfTheModels) {
  const int models = Repetitions(480);
  const Counts few = TrainMany(models / 16, 4);
  const Counts many = TrainMany(models, 4);
  EXPECT_LE(many.steps, 3.0 * few.steps);
}

// Where they do not fit together, which of them follow which is looked at once each.
TEST(ManyModels, ThatWaitForEachOtherArePlannedInATimeThatGrowsAsTheyDo) {
  constexpr int kModels = 6000;
  const PackedTable train{{}};
  Configuration config;
  config.arch =
      KerasSequential({KerasDense("only", 3, "softmax", R"("batch_input_shape": [null, 20])")});
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD()'";
  config.fit = "batch_size=10";
  RunOptions options;
  const auto plan = [&](double* seconds) {
    RunDriver run(RunDriver::Planned{}, options, train, nullptr);
    for (config.key = 1; config.key <= kModels; ++config.key) run.AddConfig(config);
    const double begin = CpuSeconds();
    const hopper_data_plan plan = run.Plan();
    *seconds = CpuSeconds() - begin;
    return plan;
  };
  double seconds = 0.0;
  options.memory_limit = plan(&seconds).bytes_models * 9 / 10;
  EXPECT_GT(plan(&seconds).n_waiting, 0);
  EXPECT_LT(seconds, 0.8);
}

}  // namespace
}  // namespace hopper
