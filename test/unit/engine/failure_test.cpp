// One bad configuration never ends a run; and a run can be ended at any time.
#include "engine/torch/failure.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/number_text.h"
#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration Good(int32_t key, int units = 16) {
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, units, 3);
  config.compile =
      "loss='sparse_categorical_crossentropy', optimizer='Adam(lr=0.01)', metrics=['accuracy']";
  config.fit = "batch_size=8, epochs=1";
  return config;
}

const hopper_event* EventOf(const std::vector<hopper_event>& events, int32_t type, int32_t key) {
  for (const hopper_event& event : events) {
    if (event.type == type && event.mst_key == key) return &event;
  }
  return nullptr;
}

int ThreadCount() {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(folder);
  return count;
}

// Trains a good configuration beside `bad`, whose failure event is returned; the good one must
// end as it does alone.
hopper_event FailsAlone(const Configuration& bad, const RunOptions& options) {
  const PackedTable train{{}};
  std::vector<hopper_event> events;
  const auto results = TrainAll(options, {Good(1), bad}, train, nullptr, &events);
  const auto alone = TrainAll(options, {Good(1)}, train);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE);
  EXPECT_EQ(results.at(1).digest, alone.at(1).digest);
  const hopper_model_result& raw = results.at(bad.key).raw;
  EXPECT_EQ(raw.status, HOPPER_MODEL_FAILED);
  EXPECT_EQ(raw.state_size, 0U);
  EXPECT_EQ(raw.n_weights, 0);
  EXPECT_EQ(events.back().type, HOPPER_EVENT_FINISHED);
  EXPECT_EQ(events.back().n_live, 1);
  const hopper_event* failure = EventOf(events, HOPPER_EVENT_MODEL_FAILED, bad.key);
  if (failure == nullptr) {
    ADD_FAILURE() << "no failure was reported";
    return {};
  }
  EXPECT_STREQ(raw.error, failure->message);
  EXPECT_EQ(raw.reason_size, failure->reason_size);
  return *failure;
}

TEST(Failure, ALossThatBecomesNaNFailsAlone) {
  Configuration bad = Good(2);
  bad.arch = KerasSequential({KerasDense("first", 16, "relu", "\"batch_input_shape\": [null, 20]"),
                              KerasDense("second", 16, "relu"), KerasDense("last", 3, "linear")});
  bad.compile = "loss='mse', optimizer='SGD(lr=1e20)'";
  const hopper_event event = FailsAlone(bad, {});
  const std::string message = event.message;
  EXPECT_TRUE(message.rfind("loss became ", 0) == 0) << message;
  EXPECT_NE(message.find(" with learning rate 1e+20"), std::string::npos) << message;
  EXPECT_EQ(message.substr(static_cast<size_t>(event.reason_size), 7), " after ");
  EXPECT_NE(std::string(event.hint).find("Lower the learning rate or set clipnorm"),
            std::string::npos);
}

TEST(Failure, TheLearningRateIsNotBlamedForTheFirstLoss) {
  Configuration bad = Good(2);
  bad.compile = "loss='expr: log(-1 - abs(y - p))', optimizer='SGD(lr=0.1)'";
  const hopper_event event = FailsAlone(bad, {});
  EXPECT_STREQ(event.message, "loss became NaN before the first update of the weights");
  EXPECT_EQ(event.reason_size, static_cast<int32_t>(std::strlen(event.message)));
  EXPECT_NE(std::string(event.hint).find("Look at the loss"), std::string::npos) << event.hint;
}

TEST(Failure, OneAboveTheMemoryLimitFailsAlone) {
  RunOptions options;
  options.memory_limit = 16 << 20;
  const hopper_event event = FailsAlone(Good(2, 200000), options);
  EXPECT_STREQ(event.message, "configuration does not fit into memory");
  EXPECT_NE(std::string(event.detail).find("of hopper.memory_limit are free"), std::string::npos)
      << event.detail;
}

TEST(Failure, AnImpossibleOneFailsAlone) {
  Configuration wrong_input = Good(2);
  wrong_input.arch = MlpJson(21, 16, 3);
  const hopper_event event = FailsAlone(wrong_input, {});
  EXPECT_NE(std::string(event.message).find("input of shape 21"), std::string::npos)
      << event.message;

  // More classes than outputs: libtorch notices while it trains.
  Configuration few_outputs = Good(2);
  few_outputs.arch = MlpJson(20, 16, 2);
  const std::string message = FailsAlone(few_outputs, {}).message;
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find("Exception raised from"), std::string::npos) << message;

  Configuration no_json = Good(2);
  no_json.arch = "{";
  EXPECT_STRNE(FailsAlone(no_json, {}).message, "");

  Configuration no_optimizer = Good(2);
  no_optimizer.compile = "loss='mse', optimizer='Adamm(lr=1)'";
  EXPECT_STRNE(FailsAlone(no_optimizer, {}).message, "");
}

// Wherever it trains.
TEST(Failure, ABufferOfASplitThatThereIsNotIsRefused) {
  const PackedTable train{{}};
  const PackedTable valid{{}};
  for (const PackedTable* validation : {static_cast<const PackedTable*>(nullptr), &valid}) {
    RunDriver run({}, train, validation);
    GroupDriver group({}, train, validation, {10, 10, 10, 10}, {10, 10, 10, 10}, {});
    for (const int32_t split : {-1, 1, 2, 1000}) {
      if (split == HOPPER_SPLIT_VALID && validation != nullptr) continue;
      hopper_buffer buffer = train.buffers()[0];
      buffer.split = split;
      const std::string expected = "the run has no split " + std::to_string(split);
      EXPECT_EQ(group.AddBuffer(buffer), expected);
      try {
        run.AddBuffer(buffer);
        ADD_FAILURE() << split;
      } catch (const DriverError& error) {
        EXPECT_EQ(error.what(), expected);
      }
    }
  }
}

TEST(Failure, ARunOfOnlyBadOnesFinishes) {
  const PackedTable train{{}};
  Configuration bad = Good(1);
  bad.arch = "[]";
  std::vector<hopper_event> events;
  const auto results = TrainAll({}, {bad}, train, nullptr, &events);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_FAILED);
  EXPECT_EQ(events.back().n_live, 0);
}

TEST(Failure, MemoryThatIsShortMakesTasksWait) {
  // Room for one task at a time: all finish, with the same bits.
  const PackedTable train{{}};
  std::vector<Configuration> configs;
  for (int key = 1; key <= 4; ++key) configs.push_back(Good(key, 4096));
  RunOptions options;
  options.threads = 4;
  const auto roomy = TrainAll(options, configs, train);
  options.memory_limit = 12 << 20;
  const auto tight = TrainAll(options, configs, train);
  for (int key = 1; key <= 4; ++key) {
    EXPECT_EQ(tight.at(key).raw.status, HOPPER_MODEL_DONE) << tight.at(key).raw.error;
    EXPECT_EQ(tight.at(key).digest, roomy.at(key).digest);
  }
}

TEST(WarmStart, ADamagedStateIsAnError) {
  const PackedTable train{{}};
  Configuration config = Good(1);
  config.state = TrainAll({}, {config}, train).at(1).state;
  config.state[config.state.size() / 2] ^= 1;
  RunDriver run({}, train, nullptr);
  EXPECT_THROW(run.AddConfig(config), std::runtime_error);
  EXPECT_EQ(run.error().code, HOPPER_CORRUPT);
}

TEST(WarmStart, AnotherArchitectureFailsAlone) {
  const PackedTable train{{}};
  Configuration bad = Good(2);
  bad.state = TrainAll({}, {Good(2, 17)}, train).at(2).state;
  EXPECT_STREQ(FailsAlone(bad, {}).message, "stored model state belongs to another architecture");
}

TEST(WarmStart, AnotherOptimizerStartsItsSlotsAtZero) {
  const PackedTable train{{}};
  Configuration config = Good(1);
  config.state = TrainAll({}, {config}, train).at(1).state;
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.01, momentum=0.9)'";
  std::vector<hopper_event> events;
  const auto results = TrainAll({}, {config}, train, nullptr, &events);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE);
  EXPECT_EQ(results.at(1).raw.iterations, 4);
  const hopper_event* warning = EventOf(events, HOPPER_EVENT_WARNING, 1);
  ASSERT_NE(warning, nullptr);
  EXPECT_STREQ(warning->message, "configuration 1 changed its optimizer from Adam to SGD");
}

TEST(WarmStart, AnotherNumericsClassIsRefusedUnlessAskedFor) {
  const PackedTable train{{}};
  Configuration config = Good(1);
  std::vector<uint8_t> state = TrainAll({}, {config}, train).at(1).state;
  // Another class of the same length, with a checksum that fits.
  const std::string text(state.begin(), state.end());
  const size_t at = text.find("kernels ");
  ASSERT_NE(at, std::string::npos);
  state[at + 8] = '9';
  const Digest checksum = Hash(state.data(), state.size() - 16, 0x484f5053);
  std::copy(checksum.bytes.begin(), checksum.bytes.end(), state.end() - 16);
  config.state = state;
  {
    RunDriver run({}, train, nullptr);
    EXPECT_THROW(run.AddConfig(config), std::runtime_error);
    EXPECT_STREQ(run.error().message, "state of configuration 1 is of another numerics class");
  }
  RunOptions options;
  options.mix_numerics = 1;
  std::vector<hopper_event> events;
  const auto results = TrainAll(options, {config}, train, nullptr, &events);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_DONE);
  EXPECT_EQ(results.at(1).raw.mixed, 1);
  const hopper_event* warning = EventOf(events, HOPPER_EVENT_WARNING, 1);
  ASSERT_NE(warning, nullptr);
  EXPECT_STREQ(warning->message, "states are of another numerics class");
  // Said once and kept: what goes on from here needs no leave, and is still of several classes.
  config.state = results.at(1).state;
  events.clear();
  const auto later = TrainAll({}, {config}, train, nullptr, &events);
  EXPECT_EQ(later.at(1).raw.mixed, 1);
  EXPECT_EQ(EventOf(events, HOPPER_EVENT_WARNING, 1), nullptr);
  EXPECT_EQ(TrainAll({}, {Good(2)}, train).at(2).raw.mixed, 0);
}

// In one run, too: a model of planned steps goes on where there is no libtorch, or another one.
TEST(WarmStart, AClassNamesLibtorchWhereItComputesAPart) {
  const PackedTable train{{}};
  Configuration by_autograd = Good(2);
  by_autograd.compile = "loss='expr: mean(square(y - p))', optimizer='Adam(lr=0.01)'";
  const auto results = TrainAll({}, {Good(1), by_autograd}, train);
  const auto names_libtorch = [&](int32_t key) {
    const std::vector<uint8_t>& state = results.at(key).state;
    return std::string(state.begin(), state.end()).find("torch ") != std::string::npos;
  };
  EXPECT_FALSE(names_libtorch(1));
  EXPECT_TRUE(names_libtorch(2));
}

// A run that would take minutes.
class LongRun : public ::testing::Test {
 protected:
  LongRun() : train_(TableOptions()), run_(Options(), train_, nullptr) {
    for (int key = 1; key <= 8; ++key) {
      Configuration config = Good(key, 64);
      config.fit = "batch_size=1, epochs=1";
      run_.AddConfig(config);
    }
  }
  static PackedTable::Options TableOptions() {
    PackedTable::Options options;
    options.rows = 20000;
    return options;
  }
  static RunOptions Options() {
    RunOptions options;
    options.iterations = 1000;
    options.threads = 5;
    return options;
  }
  PackedTable train_;
  RunDriver run_;
};

// By workers: the thread that drives looks with each call.
std::atomic<int64_t> looks_of_workers{0};
thread_local bool drives = false;

// Looks are between the layers of a batch, of which a visit has thousands.
TEST_F(LongRun, StopsWithinABatch) {
  drives = true;
  looks_of_workers = 0;
  ObserveLooks([] { looks_of_workers += drives ? 0 : 1; });
  run_.Start();
  while (looks_of_workers.load() < 1000) std::this_thread::yield();
  run_.Cancel();
  const int64_t before = looks_of_workers.load();
  const std::vector<hopper_event> events = run_.WaitToEnd();
  ObserveLooks(nullptr);
  drives = false;
  EXPECT_LE(looks_of_workers.load(), before + 2 * Options().threads);
  EXPECT_EQ(events.back().type, HOPPER_EVENT_FINISHED);
  EXPECT_EQ(run_.Result(1).raw.status, HOPPER_MODEL_TRAINING);
  EXPECT_TRUE(run_.Result(1).state.empty());
}

TEST_F(LongRun, CanBeAskedWhileItTrains) {
  run_.Start();
  for (int i = 0; i < 20; ++i) {
    const ModelResult result = run_.Result(1 + i % 8);
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_TRAINING);
    EXPECT_EQ(run_.Info().bytes_data, 20000 * 22);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(RunFree, LeavesNoThread) {
  const PackedTable train{{}};
  const int before = ThreadCount();
  TrainAll({}, {Good(1)}, train);
  EXPECT_EQ(ThreadCount(), before);
  for (int i = 0; i < 5; ++i) {
    RunOptions options;
    options.threads = 5;
    options.iterations = 1000;
    RunDriver run(options, train, nullptr);
    run.AddConfig(Good(1));
    run.AddConfig(Good(2));
    run.Start();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_GT(ThreadCount(), before);
  }  // freed in the middle
  EXPECT_EQ(ThreadCount(), before);
}

TEST(RunFree, WorkersBlockAllSignals) {
  const PackedTable train{{}};
  RunOptions options;
  options.iterations = 1000;
  RunDriver run(options, train, nullptr);
  run.AddConfig(Good(1));
  DIR* folder = opendir("/proc/self/task");
  std::vector<std::string> known;
  while (const dirent* entry = readdir(folder)) known.push_back(entry->d_name);
  run.Start();
  rewinddir(folder);
  int workers = 0;
  while (const dirent* entry = readdir(folder)) {
    if (std::count(known.begin(), known.end(), entry->d_name) != 0) continue;
    ++workers;
    const std::string path = std::string("/proc/self/task/") + entry->d_name + "/status";
    FILE* file = fopen(path.c_str(), "r");
    ASSERT_NE(file, nullptr);
    char line[256];
    while (fgets(line, sizeof(line), file) != nullptr) {
      unsigned long long blocked = 0;
      if (sscanf(line, "SigBlk: %llx", &blocked) != 1) continue;
      // All but SIGKILL, SIGSTOP and the two that the C library keeps to itself.
      EXPECT_EQ(blocked | (1ULL << 8) | (1ULL << 18) | (3ULL << 31), ~0ULL) << line;
    }
    fclose(file);
  }
  closedir(folder);
  EXPECT_EQ(workers, 2);
}

// As pg_size_pretty() of PostgreSQL 15 gives them, which messages of the glue come from.
TEST(Failure, SizesAreWrittenAsTheServerDoes) {
  const std::vector<std::pair<int64_t, std::string>> sizes = {
      {0, "0 bytes"},         {10239, "10239 bytes"}, {10240, "10 kB"},
      {10751, "10 kB"},       {10752, "11 kB"},       {1048576, "1024 kB"},
      {10485247, "10239 kB"}, {10485248, "10 MB"},    {10486272, "10 MB"},
      {117440512, "112 MB"},  {10736893952, "10 GB"}, {1500000000000, "1397 GB"},
      {INT64_MAX, "8192 PB"},
  };
  for (const auto& [bytes, text] : sizes) EXPECT_EQ(BytesText(bytes), text) << bytes;
}

}  // namespace
}  // namespace hopper
