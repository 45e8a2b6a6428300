// Data above the memory limit: the same bits as with all data in memory, from as few readings as
// the sweep promises, for one model and many, with and without evaluations; and all ways to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration WindowMlp(int32_t key, int units = 12) {
  static const std::array<const char*, 3> kOptimizers = {
      "Adam(lr=0.01)", "SGD(lr=0.05, momentum=0.9)", "RMSprop(lr=0.002)"};
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, units, 3);
  config.compile = std::string("loss='sparse_categorical_crossentropy', optimizer='") +
                   kOptimizers[static_cast<size_t>(key) % kOptimizers.size()] +
                   "', metrics=['accuracy']";
  config.fit = key % 2 == 0 ? "batch_size=16, epochs=1" : "batch_size=8, epochs=2";
  return config;
}

std::vector<Configuration> WindowMlps(int n) {
  std::vector<Configuration> configs;
  for (int key = 1; key <= n; ++key) configs.push_back(WindowMlp(key));
  return configs;
}

PackedTable::Options Rows(int64_t rows, int32_t partitions, uint64_t seed = 1) {
  PackedTable::Options options;
  options.rows = rows;
  options.partitions = partitions;
  options.seed = seed;
  return options;
}

int64_t PartitionBytes(const PackedTable& table) {
  return PartitionRange(table.desc().n_rows, table.desc().n_partitions, 0).count * 22;
}

struct WindowOutcome {
  std::map<int32_t, std::string> digests;
  std::map<std::string, double> metrics;  // by model, iteration, split and kind
  std::array<int, 2> loads = {0, 0};
  hopper_run_info info = {};
};

WindowOutcome Finish(RunDriver* run, const std::vector<Configuration>& configs) {
  WindowOutcome outcome;
  for (const Configuration& config : configs) run->AddConfig(config);
  run->Plan();
  run->Start();
  for (const hopper_event& event : run->WaitToEnd()) {
    if (event.type == HOPPER_EVENT_LOAD) ++outcome.loads[static_cast<size_t>(event.split)];
    if (event.type != HOPPER_EVENT_METRICS) continue;
    const std::string at = std::to_string(event.mst_key) + "/" + std::to_string(event.iteration) +
                           "/" + std::to_string(event.split) + "/" + std::to_string(event.running);
    EXPECT_EQ(outcome.metrics.count(at), 0U) << at;
    outcome.metrics[at] = event.loss + 1000.0 * event.metrics[0];
  }
  for (const Configuration& config : configs) {
    const ModelResult result = run->Result(config.key);
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    outcome.digests[config.key] = result.digest;
  }
  outcome.info = run->Info();
  return outcome;
}

WindowOutcome TrainInWindow(const RunOptions& options, const std::vector<Configuration>& configs,
                            const PackedTable& train, const PackedTable* valid) {
  RunDriver run(RunDriver::Planned{}, options, train, valid);
  return Finish(&run, configs);
}

// The limit that leaves `bytes` for data beside the models.
int64_t LimitWith(int64_t bytes, const RunOptions& options,
                  const std::vector<Configuration>& configs, const PackedTable& train,
                  const PackedTable* valid) {
  RunDriver run(RunDriver::Planned{}, options, train, valid);
  for (const Configuration& config : configs) run.AddConfig(config);
  const hopper_data_plan plan = run.Plan();
  EXPECT_EQ(plan.resident, 1);
  EXPECT_EQ(plan.max_reads, 1);
  return plan.bytes_models + bytes;
}

TEST(DataWindow, SameBitsAndFewReadings) {
  struct Case {
    int models;
    int32_t train, valid;
    int slots;  // of training partitions
    hopper_training_metrics metrics;
    int32_t iterations, frequency, threads;
    std::vector<int32_t> starts;
  };
  const std::vector<Case> cases = {
      {1, 4, 0, 1, HOPPER_METRICS_RUNNING, 3, 1, 2, {0, 1, 2, 3}},
      {1, 4, 2, 2, HOPPER_METRICS_FINAL, 2, 1, 2, {0, 1, 2, 3}},
      {2, 7, 0, 2, HOPPER_METRICS_EVERY, 2, 1, 3, {0, 3}},
      {3, 5, 1, 1, HOPPER_METRICS_EVERY, 3, 2, 1, {0, 2, 3}},
      {5, 3, 4, 1, HOPPER_METRICS_FINAL, 3, 1, 4, {0, 1, 2}},
      {8, 6, 0, 3, HOPPER_METRICS_RUNNING, 2, 1, 2, {0, 1, 2, 3, 4, 5}},
      {8, 6, 6, 1, HOPPER_METRICS_EVERY, 3, 1, 5, {0, 2, 4}},
      {8, 6, 3, 4, HOPPER_METRICS_FINAL, 3, 3, 2, {0}},
  };
  for (const Case& one : cases) {
    const PackedTable train{Rows(203, one.train)};
    const PackedTable valid{Rows(97, std::max(one.valid, 1), 5)};
    const PackedTable* validation = one.valid > 0 ? &valid : nullptr;
    const std::vector<Configuration> configs = WindowMlps(one.models);
    RunOptions options;
    options.iterations = one.iterations;
    options.frequency = one.frequency;
    options.threads = one.threads;
    options.training_metrics = one.metrics;
    options.starts = one.starts;
    const WindowOutcome resident = TrainInWindow(options, configs, train, validation);
    EXPECT_EQ(resident.loads[0], 0);
    EXPECT_EQ(resident.info.n_loads, one.train + one.valid);
    const int64_t window = std::max(one.slots * PartitionBytes(train),
                                    validation == nullptr ? 0 : PartitionBytes(valid));
    options.memory_limit = LimitWith(window, options, configs, train, validation);
    const WindowOutcome windowed = TrainInWindow(options, configs, train, validation);
    const std::string text = std::to_string(one.models) + " models, " + std::to_string(one.train) +
                             "+" + std::to_string(one.valid) + " partitions, " +
                             std::to_string(one.slots) + " slots";
    EXPECT_EQ(windowed.digests, resident.digests) << text;
    EXPECT_EQ(windowed.metrics, resident.metrics) << text;
    EXPECT_GE(windowed.loads[0], one.train) << text;
    EXPECT_GT(windowed.loads[0] + windowed.loads[1], one.train + one.valid) << text;
    const int evaluations = one.metrics == HOPPER_METRICS_RUNNING ? 0 : 1;
    EXPECT_LE(windowed.loads[0], one.train * (one.iterations + 1 + evaluations)) << text;
    EXPECT_LE(windowed.loads[1], one.valid * (one.iterations + 1)) << text;
    EXPECT_EQ(windowed.info.n_loads, windowed.loads[0] + windowed.loads[1]) << text;
    EXPECT_GT(windowed.info.bytes_read, resident.info.bytes_read) << text;
    EXPECT_LE(windowed.info.bytes_data, window) << text;
  }
}

TEST(DataWindow, AWarmStartGoesOn) {
  const PackedTable train{Rows(203, 4)};
  RunOptions options;
  options.iterations = 3;
  const auto whole = TrainAll(options, WindowMlps(3), train);
  options.iterations = 1;
  std::vector<Configuration> configs = WindowMlps(3);
  options.memory_limit = LimitWith(PartitionBytes(train), options, configs, train, nullptr);
  RunDriver first(RunDriver::Planned{}, options, train, nullptr);
  Finish(&first, configs);
  for (Configuration& config : configs) config.state = first.Result(config.key).state;
  options.iterations = 2;
  for (const auto& [key, digest] : TrainInWindow(options, configs, train, nullptr).digests) {
    EXPECT_EQ(digest, whole.at(key).digest);
  }
}

TEST(DataWindow, AFailedModelDoesNotHoldTheOthersUp) {
  const PackedTable train{Rows(203, 5)};
  const PackedTable valid{Rows(97, 3, 5)};
  RunOptions options;
  options.iterations = 3;
  options.training_metrics = HOPPER_METRICS_EVERY;
  std::vector<Configuration> configs = WindowMlps(4);
  const auto alone = TrainInWindow(options, configs, train, &valid);
  Configuration bad = WindowMlp(5);
  bad.arch = KerasSequential({KerasDense("first", 16, "relu", "\"batch_input_shape\": [null, 20]"),
                              KerasDense("second", 16, "relu"), KerasDense("last", 3, "linear")});
  bad.compile = "loss='mse', optimizer='SGD(lr=1e20)'";
  Configuration impossible = WindowMlp(6);
  impossible.arch = "{";
  configs.push_back(bad);
  configs.push_back(impossible);
  options.memory_limit = LimitWith(PartitionBytes(train), options, configs, train, &valid);
  RunDriver run(RunDriver::Planned{}, options, train, &valid);
  for (const Configuration& config : configs) run.AddConfig(config);
  EXPECT_EQ(run.Plan().resident, 0);
  run.Start();
  run.WaitToEnd();
  EXPECT_EQ(run.Result(5).raw.status, HOPPER_MODEL_FAILED);
  EXPECT_EQ(run.Result(6).raw.status, HOPPER_MODEL_FAILED);
  for (const auto& [key, digest] : alone.digests) EXPECT_EQ(run.Result(key).digest, digest);
}

// Of this process.
int Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  }
  return 0;
}

TEST(DataWindow, CanBeCancelledWhileItWaitsForData) {
  const PackedTable train{Rows(203, 4)};
  RunOptions options;
  options.iterations = 1000;
  options.memory_limit = LimitWith(PartitionBytes(train), options, WindowMlps(2), train, nullptr);
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : WindowMlps(2)) run.AddConfig(config);
  run.Plan();
  run.Start();
  int asked = 0;
  for (bool finished = false; !finished;) {
    hopper_event event = {};
    while (run.NextEvent(&event)) {
      finished = finished || event.type == HOPPER_EVENT_FINISHED;
      if (event.type != HOPPER_EVENT_LOAD) continue;
      // The third is never answered.
      if (++asked < 3) run.Load(event);
      if (asked == 3) run.Cancel();
    }
    if (!finished) run.WaitForEvent();
  }
  EXPECT_GE(asked, 3);
  for (const Configuration& config : WindowMlps(2)) {
    EXPECT_EQ(run.Result(config.key).raw.status, HOPPER_MODEL_TRAINING) << "it went on to its end";
  }
}

TEST(DataWindow, CanBeDroppedWhileItWaitsForData) {
  const PackedTable train{Rows(203, 4)};
  RunOptions options;
  options.threads = 2;
  options.memory_limit = LimitWith(PartitionBytes(train), options, WindowMlps(2), train, nullptr);
  const int before = Threads();
  {
    RunDriver run(RunDriver::Planned{}, options, train, nullptr);
    for (const Configuration& config : WindowMlps(2)) run.AddConfig(config);
    run.Plan();
    run.Start();
    run.WaitForEvent();
    hopper_event event = {};
    ASSERT_TRUE(run.NextEvent(&event));
    EXPECT_EQ(event.type, HOPPER_EVENT_LOAD);
    EXPECT_GT(Threads(), before);
  }
  EXPECT_EQ(Threads(), before) << "threads are left";
}

// Whether the first load that comes after `n` others is refused with this code.
template <typename Spoil>
int32_t SpoilLoad(int n, const Spoil& spoil) {
  const PackedTable train{Rows(203, 4)};
  RunOptions options;
  options.memory_limit = LimitWith(PartitionBytes(train), options, WindowMlps(2), train, nullptr);
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  for (const Configuration& config : WindowMlps(2)) run.AddConfig(config);
  run.Plan();
  run.Start();
  for (;;) {
    hopper_event event = {};
    while (run.NextEvent(&event)) {
      if (event.type == HOPPER_EVENT_FINISHED) return HOPPER_OK;
      if (event.type != HOPPER_EVENT_LOAD) continue;
      if (n-- > 0) {
        run.Load(event);
        continue;
      }
      try {
        spoil(&run, train, event);
      } catch (const std::runtime_error&) {
        return run.error().code;
      }
      return HOPPER_OK;
    }
    run.WaitForEvent();
  }
}

TEST(DataWindow, DamagedPartitionsAreFound) {
  EXPECT_EQ(
      SpoilLoad(2, [](RunDriver* run, const PackedTable& /*train*/,
                      const hopper_event& event) { run->EndLoad(event.split, event.partition); }),
      HOPPER_CORRUPT);
  EXPECT_EQ(SpoilLoad(1,
                      [](RunDriver* run, const PackedTable& train, const hopper_event& event) {
                        for (hopper_buffer buffer : train.buffers()) {
                          if (buffer.partition_id != event.partition) continue;
                          const std::vector<uint8_t> zero(16, 0);
                          buffer.checksum = zero.data();
                          run->AddBuffer(buffer);
                        }
                      }),
            HOPPER_CORRUPT);
  // One that nobody asked for.
  EXPECT_EQ(SpoilLoad(0,
                      [](RunDriver* run, const PackedTable& train, const hopper_event& event) {
                        for (const hopper_buffer& buffer : train.buffers()) {
                          if (buffer.partition_id != event.partition) run->AddBuffer(buffer);
                        }
                      }),
            HOPPER_INTERNAL);
}

TEST(DataWindow, ATableThatChangedBetweenTwoReadingsIsFound) {
  const auto others = [](RunDriver* run, const PackedTable& /*train*/, const hopper_event& event) {
    const PackedTable other{Rows(203, 4, 99)};
    for (const hopper_buffer& buffer : other.buffers()) {
      if (buffer.partition_id == event.partition) run->AddBuffer(buffer);
    }
    run->EndLoad(event.split, event.partition);
  };
  EXPECT_EQ(SpoilLoad(3, others), HOPPER_OK);  // its first reading
  EXPECT_EQ(SpoilLoad(5, others), HOPPER_NOT_READY);
}

TEST(DataWindow, ConfigurationsComeBeforeData) {
  // Models that would not fit beside all data fit beside one partition of it.
  const PackedTable train{Rows(40000, 8)};
  const std::vector<Configuration> configs = WindowMlps(2);
  RunOptions options;
  const WindowOutcome resident = TrainInWindow(options, configs, train, nullptr);
  options.memory_limit = LimitWith(2 * PartitionBytes(train), options, configs, train, nullptr);
  EXPECT_EQ(TrainInWindow(options, configs, train, nullptr).digests, resident.digests);
}

TEST(DataWindow, WithoutRoomForOnePartitionItIsRefused) {
  const PackedTable train{Rows(200000, 2)};
  RunOptions options;
  options.starts = {0, 1};
  options.memory_limit = 2 << 20;
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.AddConfig(WindowMlp(1));
  EXPECT_THROW(run.Plan(), std::runtime_error);
  EXPECT_EQ(run.error().code, HOPPER_OUT_OF_MEMORY);
  EXPECT_STREQ(run.error().message, "no partition of \"synthetic_packed\" fits into memory");
  const std::string detail = run.error().detail;
  EXPECT_NE(detail.find("The largest one takes 2148 kB"), std::string::npos) << detail;
  EXPECT_NE(detail.find("hopper.memory_limit is 2048 kB"), std::string::npos) << detail;
  const std::string hint = run.error().hint;
  const size_t at = hint.find("pack the data again into ");
  ASSERT_NE(at, std::string::npos) << hint;
  // Packed as the hint says, it fits.
  const int partitions = std::stoi(hint.substr(at + 25));
  EXPECT_GT(partitions, 2);
  const PackedTable smaller{Rows(200000, partitions)};
  RunDriver second(RunDriver::Planned{}, options, smaller, nullptr);
  second.AddConfig(WindowMlp(1));
  EXPECT_EQ(second.Plan().resident, 0);
}

TEST(DataWindow, AModelThatIsTooLargeAloneFailsAlone) {
  const PackedTable train{Rows(203, 4)};
  RunOptions options;
  options.memory_limit = LimitWith(PartitionBytes(train), options, {WindowMlp(1)}, train, nullptr);
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.AddConfig(WindowMlp(1));
  run.AddConfig(WindowMlp(2, 200000));
  EXPECT_EQ(run.Plan().resident, 0);
  run.Start();
  run.WaitToEnd();
  EXPECT_EQ(run.Result(1).raw.status, HOPPER_MODEL_DONE);
  EXPECT_EQ(run.Result(2).raw.status, HOPPER_MODEL_FAILED);
  EXPECT_STREQ(run.Result(2).raw.error, "configuration does not fit into memory");
}

// The segments' groups: each reads its own partitions in turns, and keeps what it has from one
// visit to the next.
TEST(DataWindow, GroupsGiveTheSameBits) {
  struct Case {
    int models;
    std::vector<int32_t> keys, valid_keys;
    std::vector<int32_t> starts;
    hopper_training_metrics metrics;
    int slots, threads;
  };
  const std::vector<Case> cases = {
      {1, {0, 0, 0, 0}, {}, {0, 1, 2, 3}, HOPPER_METRICS_RUNNING, 1, 2},
      {4, {7, 7, 7, 9, 9, 9}, {9, 7}, {0, 3}, HOPPER_METRICS_FINAL, 1, 2},
      {5, {1, 1, 2, 2, 1, 1}, {1, 1, 2}, {0, 2, 4}, HOPPER_METRICS_EVERY, 2, 3},
      // Models that start inside a segment's run, and a segment without validation data.
      {6, {1, 1, 1, 1, 2, 2, 2}, {1, 1, 1, 1}, {0, 2, 4, 5}, HOPPER_METRICS_EVERY, 1, 1},
  };
  for (const Case& one : cases) {
    const PackedTable train{Rows(203, static_cast<int32_t>(one.keys.size()))};
    const PackedTable valid{Rows(97, std::max<int32_t>(one.valid_keys.size(), 1), 5)};
    const PackedTable* validation = one.valid_keys.empty() ? nullptr : &valid;
    const std::vector<Configuration> configs = WindowMlps(one.models);
    RunOptions options;
    options.iterations = 3;
    options.threads = one.threads;
    options.training_metrics = one.metrics;
    options.starts = one.starts;
    const WindowOutcome expected = TrainInWindow(options, configs, train, validation);
    GroupDriver roomy(options, train, validation, one.keys, one.valid_keys, configs, true);
    int64_t models = 0;
    for (const auto& [key, plan] : roomy.plans()) {
      EXPECT_EQ(plan.resident, 1);
      models = std::max(models, plan.bytes_models);
    }
    options.memory_limit = models + std::max(one.slots * PartitionBytes(train),
                                             validation == nullptr ? 0 : PartitionBytes(valid));
    GroupDriver groups(options, train, validation, one.keys, one.valid_keys, configs, true);
    for (const auto& [key, plan] : groups.plans()) EXPECT_EQ(plan.resident, 0);
    std::vector<hopper_event> events;
    const auto results = groups.Train(&events);
    for (const auto& [key, digest] : expected.digests) EXPECT_EQ(results.at(key).digest, digest);
    std::map<std::string, double> metrics;
    for (const hopper_event& event : events) {
      if (event.type != HOPPER_EVENT_METRICS) continue;
      metrics[std::to_string(event.mst_key) + "/" + std::to_string(event.iteration) + "/" +
              std::to_string(event.split) + "/" + std::to_string(event.running)] =
          event.loss + 1000.0 * event.metrics[0];
    }
    EXPECT_EQ(metrics, expected.metrics);
    EXPECT_GT(groups.loads(), static_cast<int64_t>(one.keys.size() + one.valid_keys.size()));
  }
}

// Early stopping: a model that waits for its validation leaves the sweep and comes back.
TEST(DataWindow, ModelsThatWaitForTheirValidationGoOn) {
  const PackedTable train{Rows(203, 6)};
  const PackedTable valid{Rows(97, 3, 5)};
  std::vector<Configuration> configs = WindowMlps(5);
  for (Configuration& config : configs) {
    if (config.key % 2 == 1) {
      config.fit += ", callbacks=[EarlyStopping(monitor='val_loss', patience=1)]";
    }
  }
  RunOptions options;
  options.iterations = 6;
  options.starts = {0, 2, 4};
  for (const int slots : {1, 3}) {
    options.memory_limit = int64_t{1} << 30;
    const WindowOutcome resident = TrainInWindow(options, configs, train, &valid);
    options.memory_limit =
        LimitWith(slots * PartitionBytes(train), options, configs, train, &valid);
    const WindowOutcome windowed = TrainInWindow(options, configs, train, &valid);
    EXPECT_EQ(windowed.digests, resident.digests);
    EXPECT_EQ(windowed.metrics, resident.metrics);
    EXPECT_GT(windowed.loads[0], 6);
  }
}

}  // namespace
}  // namespace hopper
