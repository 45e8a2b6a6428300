// Runs whose models do not fit into the memory limit together: some wait, and nothing else changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/batch.h"
#include "engine/configuration.h"
#include "engine/memory_plan.h"
#include "engine/torch/backend.h"
#include "model/planned/step_plan.h"
#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"
#include "train/stepper.h"

namespace hopper {
namespace {

Configuration Mlp(int key, int units, const std::string& fit = "batch_size=16") {
  static const char* const kOptimizers[] = {"Adam()", "SGD(lr=0.05, momentum=0.9)",
                                            "Adam(lr=0.01, use_ema=True)"};
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, units, 3);
  config.compile = std::string("loss='sparse_categorical_crossentropy', optimizer='") +
                   kOptimizers[key % 3] + "', metrics=['accuracy']";
  config.fit = fit;
  return config;
}

std::vector<Configuration> Mlps(int n, int units) {
  std::vector<Configuration> configs;
  for (int key = 1; key <= n; ++key) configs.push_back(Mlp(key, units));
  return configs;
}

struct Outcome {
  std::map<int32_t, ModelResult> results;
  std::set<std::string> metrics;
  hopper_data_plan plan = {};
  int failed = 0;
  int taken = 0;
  int states = 0;
};

Outcome Train(const RunOptions& options, const std::vector<Configuration>& configs,
              const PackedTable& train, const PackedTable* valid = nullptr) {
  Outcome outcome;
  RunDriver run(RunDriver::Planned{}, options, train, valid);
  for (const Configuration& config : configs) run.AddConfig(config);
  outcome.plan = run.Plan();
  run.Start();
  for (const hopper_event& event : run.WaitToEnd()) {
    outcome.taken += event.type == HOPPER_EVENT_MODEL_DONE && event.take == 1 ? 1 : 0;
    if (event.type != HOPPER_EVENT_METRICS) continue;
    outcome.metrics.insert(std::to_string(event.mst_key) + " " + std::to_string(event.iteration) +
                           " " + std::to_string(event.split) + " " + std::to_string(event.running) +
                           " " + std::to_string(event.loss));
  }
  for (const Configuration& config : configs) {
    outcome.results[config.key] = run.Result(config.key);
    outcome.failed += outcome.results[config.key].raw.status == HOPPER_MODEL_FAILED ? 1 : 0;
  }
  outcome.states = run.states_added();
  return outcome;
}

void ExpectSame(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.metrics, b.metrics);
  for (const auto& [key, result] : a.results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(result.digest, b.results.at(key).digest) << key;
    EXPECT_EQ(result.weights, b.results.at(key).weights) << key;
    EXPECT_EQ(result.state, b.results.at(key).state) << key;
  }
}

// The least limit at which `configs` alone are trained.
int64_t LeastLimit(RunOptions options, const std::vector<Configuration>& configs,
                   const PackedTable& train) {
  options.memory_limit = int64_t{1} << 40;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : configs) run.AddConfig(config);
  const hopper_data_plan plan = run.Plan();
  return plan.bytes_models + plan.bytes_data;
}

TEST(Memory, ModelsThatDoNotFitTogetherWait) {
  const PackedTable train{{}};
  PackedTable::Options other;
  other.seed = 5;
  const PackedTable valid{other};
  for (const auto metrics : {HOPPER_METRICS_RUNNING, HOPPER_METRICS_FINAL, HOPPER_METRICS_EVERY}) {
    RunOptions options;
    options.threads = 3;
    options.training_metrics = metrics;
    const std::vector<Configuration> configs = Mlps(9, 600);
    const Outcome roomy = Train(options, configs, train, &valid);
    EXPECT_EQ(roomy.plan.n_waiting, 0);
    EXPECT_EQ(roomy.taken, 0);
    for (const double share : {0.9, 0.5, 0.3}) {
      if (kUnderThreadSanitizer && share != 0.5) continue;
      options.memory_limit = static_cast<int64_t>(
          static_cast<double>(roomy.plan.bytes_models + roomy.plan.bytes_data) * share);
      const Outcome tight = Train(options, configs, train, &valid);
      EXPECT_GT(tight.plan.n_waiting, 0) << share;
      EXPECT_GT(tight.taken, 0) << share;
      ExpectSame(roomy, tight);
    }
  }
}

// Also where each has only room by itself, and their data come in turns.
TEST(Memory, OneAfterTheOther) {
  PackedTable::Options rows;
  rows.rows = Repetitions(20000);
  rows.partitions = 10;
  const PackedTable train{rows};
  RunOptions options;
  options.threads = 2;
  options.starts = {0, 3, 7};
  std::vector<Configuration> configs = Mlps(4, 300);
  configs[1].fit +=
      ", callbacks=[EarlyStopping(monitor='loss', patience=1,"
      " restore_best_weights=True)]";
  const Outcome roomy = Train(options, configs, train);
  int64_t largest = 0;
  for (const Configuration& config : configs) {
    largest = std::max(largest, LeastLimit(options, {config}, train));
  }
  options.memory_limit = largest - roomy.plan.bytes_data / 2;
  const Outcome tight = Train(options, configs, train);
  EXPECT_EQ(tight.plan.resident, 0);
  EXPECT_GT(tight.plan.n_waiting, 0);
  ExpectSame(roomy, tight);
}

// Near the limit it is always the same ones that fail: those that are too large alone.
TEST(Memory, WhoFailsDependsOnSizesOnly) {
  const PackedTable train{{}};
  std::vector<Configuration> configs = Mlps(6, 500);
  configs[2] = Mlp(3, 40000);
  RunOptions options;
  options.threads = 4;
  options.memory_limit = LeastLimit(options, {configs[0], configs[1]}, train);
  std::string first;
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = Train(options, configs, train);
    EXPECT_EQ(outcome.failed, 1);
    const hopper_model_result& failed = outcome.results.at(3).raw;
    EXPECT_STREQ(failed.error, "configuration does not fit into memory");
    std::string all = failed.error_detail;
    for (const auto& [key, result] : outcome.results) all += " " + result.digest;
    if (i == 0) first = all;
    EXPECT_EQ(all, first);
  }
}

// What configurations of one seed share takes no room that was promised to their training.
TEST(Memory, SharedInitialWeightsTakeOnlyWhatIsLeft) {
  PackedTable::Options rows;
  rows.rows = Repetitions(rows.rows);
  const PackedTable train{rows};
  std::vector<Configuration> configs;
  for (int key = 1; key <= 6; ++key) {
    configs.push_back(Mlp(key, 4000, "batch_size=2"));
    configs.back().compile =
        "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.01)', metrics=['accuracy']";
  }
  for (const int threads : {1, 2}) {
    RunOptions options;
    options.threads = threads;
    const Outcome roomy = Train(options, configs, train);
    options.memory_limit = LeastLimit(
        options, std::vector<Configuration>(configs.begin(), configs.begin() + threads), train);
    const Outcome tight = Train(options, configs, train);
    EXPECT_EQ(tight.failed, 0) << threads;
    EXPECT_GT(tight.plan.n_waiting, 0) << threads;
    ExpectSame(roomy, tight);
  }
}

TEST(Memory, InitialWeightsAreKeptWhereNobodyWantsTheRoom) {
  ModelMemory model;
  model.state = int64_t{100} << 20;
  model.task = int64_t{50} << 20;
  const std::vector<ModelMemory> models(3, model);
  constexpr int64_t kData = int64_t{10} << 20;
  constexpr int64_t kShared = int64_t{80} << 20;
  const DataMemory kWhole = {kData, kData, 0};
  const int64_t least = PlanMemory(int64_t{1} << 40, 2, models, kWhole).models + kData;
  EXPECT_EQ(PlanMemory(least, 2, models, kWhole, kShared).initial, 0);
  EXPECT_EQ(PlanMemory(2 * least, 2, models, kWhole, kShared).initial, kShared);
  // Also where models wait, or data come in turns.
  for (const int64_t limit : {least / 2, least - kData / 2, least + kShared / 2, 2 * least}) {
    const MemoryPlan plan = PlanMemory(limit, 2, models, {kData, kData / 5, 0}, kShared);
    const int64_t busy = plan.together ? plan.models : 2 * model.alone();
    EXPECT_TRUE(plan.initial == 0 || plan.fixed() + busy <= limit) << limit;
  }
}

// The server holds a copy of a buffer while it is read: beside models that are trained meanwhile,
// that is memory of the run.
TEST(Memory, WhatReadingTakesIsCountedWhereDataComeInTurns) {
  constexpr int64_t kMegabyte = 1 << 20;
  ModelMemory model;
  model.state = kMegabyte;
  model.task = 4 * kMegabyte;
  const DataMemory data = {64 * kMegabyte, 2 * kMegabyte, 4 * kMegabyte};
  for (const int64_t limit : {24, 30, 60, 72}) {
    for (const size_t n : {1, 2, 8, 100}) {
      const std::vector<ModelMemory> models(n, model);
      const MemoryPlan plan = PlanMemory(limit * kMegabyte, 2, models, data);
      ASSERT_FALSE(plan.resident);
      EXPECT_EQ(plan.reading, data.reading);
      const int64_t busy = plan.together ? plan.models : 2 * model.alone();
      EXPECT_LE(plan.fixed() + busy, limit * kMegabyte) << limit << " MB, " << n << " models";
    }
  }
  // A model that fits beside a partition, but not beside its reading as well, is trained.
  model.task = 9 * kMegabyte;
  for (const int64_t limit : {21, 23, 30}) {
    const MemoryPlan plan = PlanMemory(limit * kMegabyte, 2, {model}, data);
    EXPECT_TRUE(plan.fits[0]) << limit;
    EXPECT_TRUE(plan.together) << limit;
    EXPECT_EQ(plan.reading, std::min(data.reading, (limit - 21) * kMegabyte)) << limit;
    EXPECT_EQ(plan.window + plan.orders + plan.plans + plan.reading, (limit - 19) * kMegabyte)
        << limit;
  }
  // One partition alone is there before training begins.
  const DataMemory one = {2 * kMegabyte, 2 * kMegabyte, 4 * kMegabyte};
  EXPECT_EQ(PlanMemory(25 * kMegabyte, 2, {model}, one).reading, 0);
}

// They have the square of the classes' number, for each partition of each evaluation.
TEST(Memory, SumsOfMetricsAreCounted) {
  const PackedTable train{{}};
  constexpr int kClasses = 400;
  Configuration plain = Mlp(1, 8);
  plain.arch = MlpJson(20, 8, kClasses);
  Configuration squares = plain;
  const size_t at = squares.compile.find("['accuracy']");
  squares.compile.replace(at, 12, "['accuracy', MeanIoU(num_classes=400)]");
  RunOptions options;
  options.training_metrics = HOPPER_METRICS_RUNNING;
  const int64_t without = LeastLimit(options, {plain}, train);
  const int64_t sums = int64_t{8} * kClasses * kClasses;
  EXPECT_GE(LeastLimit(options, {squares}, train) - without, 2 * sums);
  options.training_metrics = HOPPER_METRICS_FINAL;
  EXPECT_GE(LeastLimit(options, {squares}, train) - without,
            (2 + train.desc().n_partitions) * sums);
}

// Of very many classes and partitions they are more than a number can tell.
TEST(Memory, SumsBeyondAllMemoryAreNotTakenForFew) {
  const PackedTable train{{}};
  const DataDesc desc = FromC(train.desc());
  const std::string arch = MlpJson(20, 1, 1 << 20);
  ConfigSource config;
  config.model_arch = arch;
  config.compile_params =
      "loss='sparse_categorical_crossentropy', optimizer='SGD()', "
      "metrics=['accuracy', MeanIoU(num_classes=1048576)]";
  config.fit_params = "batch_size=8";
  const TorchBackend backend;
  Networks networks(backend);
  const auto trainer = MakeTrainer(config, desc, 1, Precision::kFp32, &networks);
  ASSERT_EQ(trainer->SumsBytes() >> 43, 1);
  for (const int evaluations : {1, 1 << 20, (1 << 20) + 1, 20000000}) {
    const ModelMemory memory = MemoryOf(*trainer, 1, evaluations);
    EXPECT_GE(memory.kept, int64_t{1} << 43) << evaluations;
    EXPECT_GE(memory.travelling, int64_t{1} << 43) << evaluations;
    EXPECT_GE(memory.alone(), memory.kept) << evaluations;
  }
}

// Orders of examples and plans that are kept for later tasks are part of the limit.
TEST(Memory, WhatIsKeptForLaterIsCounted) {
  PackedTable::Options rows;
  rows.rows = 200000;
  rows.partitions = 10;
  const PackedTable train{rows};
  RunOptions options;
  const std::vector<Configuration> configs = {Mlp(1, 10)};
  options.memory_limit = LeastLimit(options, configs, train) * 3 / 4;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.AddConfig(configs[0]);
  const hopper_data_plan plan = run.Plan();
  EXPECT_EQ(plan.resident, 0);
  EXPECT_LE(plan.bytes_models + plan.bytes_window + KeptOrderBytes(options.memory_limit),
            options.memory_limit);
}

// Stored states are looked at before anything is trained, and read again when their turn comes.
TEST(Memory, WarmStartsWaitToo) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 2;
  std::vector<Configuration> configs = Mlps(6, 500);
  const Outcome first = Train(options, configs, train);
  for (Configuration& config : configs) config.state = first.results.at(config.key).state;
  const Outcome roomy = Train(options, configs, train);
  EXPECT_EQ(roomy.states, 6);
  options.memory_limit = (roomy.plan.bytes_models + roomy.plan.bytes_data) / 2;
  const Outcome tight = Train(options, configs, train);
  EXPECT_GT(tight.plan.n_waiting, 0);
  EXPECT_EQ(tight.states, 6 + tight.plan.n_waiting);
  ExpectSame(roomy, tight);

  // The damaged one is the last that would be admitted: it is found before the start.
  configs.back().state[configs.back().state.size() / 2] ^= 1;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : configs) run.AddConfig(config);
  EXPECT_THROW(run.Plan(), std::runtime_error);
  EXPECT_EQ(run.error().code, HOPPER_CORRUPT);
}

// Of a wide model and small batches the state is larger than what a step takes beside it.
TEST(Memory, AModelThatTravelsIsPackedWithinTheLimit) {
  PackedTable::Options rows;
  rows.rows = 16;
  const PackedTable train{rows};
  Configuration config = Mlp(1, 40000);
  config.compile = "loss='sparse_categorical_crossentropy', metrics=[], optimizer='Adam()'";
  config.fit = "batch_size=1";
  RunOptions options;
  options.threads = 1;
  options.starts = {0};
  const std::vector<int32_t> keys(static_cast<size_t>(train.desc().n_partitions), 1);
  GroupDriver group(options, train, nullptr, keys, {}, {config}, /*planned=*/true);
  const auto state = static_cast<int64_t>(group.Train().at(1).raw.state_size);
  EXPECT_GE(group.plans().at(1).bytes_models, 2 * state);
}

// Of both engines: without a promise what other tasks left in a thread's cache would take the room
// of those that run beside it, now and then. So a tensor without one is an error.
TEST(Memory, ATaskIsToldWhatItWasPromised) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = Mlps(3, 20);
  RunOptions options;
  options.starts = {0};
  UsePlannedSteps(false);  // steps of autograd take tensors
  const Outcome here = Train(options, configs, train);
  const std::vector<int32_t> keys(static_cast<size_t>(train.desc().n_partitions), 1);
  GroupDriver group(options, train, nullptr, keys, {}, configs, /*planned=*/true);
  const std::map<int32_t, ModelResult> there = group.Train();
  UsePlannedSteps(true);
  for (const auto& [key, result] : here.results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(there.at(key).raw.status, HOPPER_MODEL_DONE) << there.at(key).raw.error;
  }
}

// What a hop brings to a segment is counted by what it writes, not by what threads work with.
TEST(Memory, AHopBringsWhatItsEnvelopesHold) {
  PackedTable::Options rows;
  rows.rows = 600;
  rows.partitions = 4;
  const PackedTable train{rows};
  const std::vector<int32_t> keys = {1, 1, 2, 2};
  RunOptions options;
  options.iterations = 2;
  options.starts = {0, 2};
  std::vector<Configuration> configs = Mlps(5, 3000);
  for (Configuration& config : configs) config.fit = "batch_size=128";
  GroupDriver group(options, train, &train, keys, keys, configs, /*planned=*/true);
  group.HopOnce();
  // Models that start on one segment, with keys of one parity, travel together.
  std::map<int, int64_t> written;
  for (const Configuration& config : configs) {
    written[config.key % 2] += static_cast<int64_t>(group.Bytes(config.key)->size());
  }
  const int64_t most = std::max(written[0], written[1]);
  for (const auto& [key, plan] : group.plans()) {
    EXPECT_GE(plan.bytes_aside, most) << key;
    EXPECT_LE(plan.bytes_aside, most + most / 20) << key;
    EXPECT_GT(plan.bytes_models, 2 * plan.bytes_aside) << key;
  }
}

TEST(Memory, InitialWeightsOfTheUserWaitToo) {
  const PackedTable train{{}};
  RunOptions options;
  std::vector<Configuration> configs = Mlps(5, 500);
  const Outcome first = Train(options, configs, train);
  for (Configuration& config : configs) config.weights = first.results.at(config.key).weights;
  const Outcome roomy = Train(options, configs, train);
  options.memory_limit = (roomy.plan.bytes_models + roomy.plan.bytes_data) * 3 / 4;
  const Outcome tight = Train(options, configs, train);
  EXPECT_GT(tight.plan.n_waiting, 0);
  ExpectSame(roomy, tight);
}

TEST(Memory, AResultIsTakenOnceAndInOrder) {
  const PackedTable train{{}};
  RunDriver run({}, train, nullptr);
  run.AddConfig(Mlp(1, 10));
  run.Start();
  run.WaitToEnd();
  run.Result(1);
  hopper_error error = {};
  uint8_t byte = 0;
  size_t taken = 0;
  float weight = 0.0F;
  EXPECT_NE(Api().run.take_state(run.raw(), 1, &byte, 1, &taken, &error), 0);
  EXPECT_NE(Api().run.take_weights(run.raw(), 1, &weight, 1, &error), 0);
  EXPECT_NE(Api().run.take_state(run.raw(), 2, &byte, 1, &taken, &error), 0);
}

}  // namespace
}  // namespace hopper
