// Runs that end in the middle and are resumed from checkpoints: each model has the bits and the
// reports that it has in a run that never ends, wherever that was.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/small_runs.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

// Iteration, split and running; values.
using ReportKey = std::tuple<int32_t, int32_t, int32_t>;
using ModelReports = std::map<ReportKey, std::vector<double>>;

void Add(const hopper_event& event, ModelReports* reports) {
  std::vector<double> values = {event.loss};
  values.insert(values.end(), event.metrics, event.metrics + event.n_metrics);
  EXPECT_TRUE(
      reports->emplace(ReportKey{event.iteration, event.split, event.running}, values).second);
}

// What lies on disk: of each model the latest checkpoint, with all that was reported before it.
struct Stored {
  std::vector<uint8_t> state;
  int32_t iterations = 0;
  bool ended = false;
  std::string digest;
  ModelReports reports;
};
using Store = std::map<int32_t, Stored>;

// A run that goes on from the store for some events. True: all models have ended.
class Session {
 public:
  Session(const RunOptions& options, const std::vector<Configuration>& configs,
          const PackedTable& train, const PackedTable* valid, Store* store)
      : store_(*store), run_(RunDriver::Planned{}, options, train, valid) {
    run_.StayOpen();
    for (Configuration config : configs) {
      if (store_[config.key].ended) continue;
      config.state = store_[config.key].state;
      run_.AddConfig(config);
      keys_.push_back(config.key);
    }
    run_.Plan();
    run_.Start();
    for (const int32_t key : keys_) {
      const int32_t done = store_[key].iterations;
      run_.GoOn(key, options.iterations - done, false, done);
    }
  }

  bool Train(int events, std::mt19937* random) {
    size_t ended = 0;
    for (int n = 0; n < events && ended < keys_.size();) {
      run_.Visits();
      if ((*random)() % 8 == 0) run_.HaltForCheckpoints();
      hopper_event event = {};
      if (!run_.NextEvent(&event)) {
        run_.HaltForCheckpoints();
        run_.WaitForEvent();
        continue;
      }
      ++n;
      switch (event.type) {
        case HOPPER_EVENT_LOAD:
          run_.Load(event);
          break;
        case HOPPER_EVENT_STATE:
          run_.AddStates();
          break;
        case HOPPER_EVENT_METRICS:
          Add(event, &pending_[event.mst_key]);
          break;
        case HOPPER_EVENT_CHECKPOINT:
          Keep(event.mst_key);
          ++checkpoints_;
          run_.Release(event.mst_key);
          break;
        case HOPPER_EVENT_MODEL_DONE:
          Keep(event.mst_key);
          store_[event.mst_key].ended = true;
          if (event.take == 1) run_.PutAside(event.mst_key);
          ++ended;
          break;
        case HOPPER_EVENT_MODEL_FAILED:
          ADD_FAILURE() << event.mst_key << ": " << event.message;
          ++ended;
          break;
        default:
          break;
      }
    }
    return ended == keys_.size();
  }
  int checkpoints() const { return checkpoints_; }

 private:
  void Keep(int32_t key) {
    Stored& stored = store_[key];
    // One that ended while others were told to go on may have given way to them.
    stored.state = run_.IsPutAside(key) ? run_.Result(key).state : run_.CopyState(key);
    const ModelResult result = Result(key);
    EXPECT_EQ(stored.state.size(), result.raw.state_size);
    stored.iterations = result.raw.iterations;
    stored.digest = result.raw.digest;
    stored.reports.merge(pending_[key]);
    EXPECT_TRUE(pending_[key].empty()) << "a report came twice";
  }
  ModelResult Result(int32_t key) {
    ModelResult result;
    hopper_error error = {};
    EXPECT_EQ(Api().run.result(run_.raw(), key, &result.raw, &error), 0) << error.message;
    return result;
  }

  Store& store_;
  RunDriver run_;
  std::vector<int32_t> keys_;
  std::map<int32_t, ModelReports> pending_;
  int checkpoints_ = 0;
};

std::vector<Configuration> Configurations() {
  return AllConfigurations(
      {CnnJson(4, 3), CnnJson(6, 3)},
      {"SGD(learning_rate=0.05, momentum=0.9)", "Adam(clipnorm=1.0)"},
      {"batch_size=8", "batch_size=13, epochs=2",
       "batch_size=8, patience=1, monitor='val_loss', min_delta=0.05, restore_best=True",
       "batch_size=16, reduce_lr_on_plateau={'monitor': 'loss', 'patience': 1}"});
}

PackedTable::Options ValidImages() {
  PackedTable::Options options = SmallImages();
  options.seed = 9;
  options.partitions = 2;
  return options;
}

Store Straight(const RunOptions& options, const PackedTable& train, const PackedTable* valid) {
  std::vector<hopper_event> events;
  Store store;
  for (const auto& [key, result] : TrainAll(options, Configurations(), train, valid, &events)) {
    store[key].digest = result.digest;
    store[key].iterations = result.raw.iterations;
  }
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_METRICS) Add(event, &store[event.mst_key].reports);
  }
  return store;
}

// Ends the run again and again, after ever more events.
void ExpectResumedAsStraight(const RunOptions& options, const PackedTable& train,
                             const PackedTable* valid, const Store& straight, uint32_t seed) {
  std::mt19937 random(seed);
  Store store;
  int checkpoints = 0;
  int sessions = 0;
  for (bool ended = false; !ended;) {
    Session session(options, Configurations(), train, valid, &store);
    ended = session.Train(static_cast<int>(random() % 60) + sessions++, &random);
    checkpoints += session.checkpoints();
  }
  EXPECT_GT(sessions, 2);
  EXPECT_GT(checkpoints, 10);
  ASSERT_EQ(store.size(), straight.size());
  for (const auto& [key, expected] : straight) {
    EXPECT_EQ(store[key].digest, expected.digest) << key;
    EXPECT_EQ(store[key].iterations, expected.iterations) << key;
    EXPECT_EQ(store[key].reports, expected.reports) << key;
  }
}

TEST(Checkpoints, ARunThatIsResumedHasTheBitsOfOneThatNeverEnded) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  for (const int frequency : {1, 3}) {
    RunOptions options = SmallRun(1);
    options.iterations = 7;
    options.frequency = frequency;
    const Store straight = Straight(options, train, &valid);
    for (uint32_t seed = 0; seed < Repetitions(6U); ++seed) {
      options.threads = 1 + static_cast<int>(seed % 3);
      ExpectResumedAsStraight(options, train, &valid, straight, seed);
    }
  }
}

TEST(Checkpoints, WhereDataComeInTurns) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  RunOptions options = SmallRun(2);
  options.iterations = 5;
  const Store straight = Straight(options, train, &valid);
  RunDriver whole(RunDriver::Planned{}, options, train, &valid);
  for (const Configuration& config : Configurations()) whole.AddConfig(config);
  const hopper_data_plan plan = whole.Plan();
  options.memory_limit = plan.bytes_models + plan.bytes_data / 2;
  for (uint32_t seed = 0; seed < Repetitions(3U); ++seed) {
    ExpectResumedAsStraight(options, train, &valid, straight, seed);
  }
}

TEST(Checkpoints, AllHaltWhereAllAreAsked) {
  const PackedTable train{SmallImages()};
  RunDriver run(RunDriver::Planned{}, SmallRun(1), train, nullptr);
  run.StayOpen();
  const std::vector<Configuration> configs = AllConfigurations(
      {CnnJson(4, 3)}, {"SGD(learning_rate=0.05)", "Adam()", "RMSprop()"}, {"batch_size=8"});
  for (const Configuration& config : configs) run.AddConfig(config);
  run.Plan();
  run.Start();
  for (const Configuration& config : configs) run.GoOn(config.key, 100000);
  for (int round = 0; round < 3; ++round) {
    run.HaltForCheckpoints(true);
    std::set<int32_t> halted;
    while (halted.size() < configs.size()) {
      hopper_event event = {};
      run.Visits();
      if (!run.NextEvent(&event)) {
        run.WaitForEvent();
      } else if (event.type == HOPPER_EVENT_CHECKPOINT) {
        EXPECT_TRUE(halted.insert(event.mst_key).second);
      }
    }
    for (const int32_t key : halted) run.Release(key);
  }
}

TEST(Checkpoints, EachHaltsAfterEachIteration) {
  const PackedTable train{SmallImages()};
  RunDriver run(RunDriver::Planned{}, SmallRun(2), train, nullptr);
  run.StayOpen();
  const std::vector<Configuration> configs = AllConfigurations(
      {CnnJson(4, 3)}, {"SGD(learning_rate=0.05)", "Adam()", "RMSprop()"}, {"batch_size=8"});
  for (const Configuration& config : configs) run.AddConfig(config);
  run.Plan();
  run.Start();
  run.HaltEach(true);
  for (const Configuration& config : configs) run.GoOn(config.key, 5);
  run.Close();
  std::set<int32_t> halted;
  hopper_event event = {};
  for (int32_t round = 1; round <= 3; ++round, halted.clear()) {
    while (halted.size() < configs.size()) {
      run.Visits();
      if (!run.NextEvent(&event)) {
        run.WaitForEvent();
      } else if (event.type == HOPPER_EVENT_CHECKPOINT) {
        EXPECT_TRUE(halted.insert(event.mst_key).second);
        EXPECT_EQ(event.iteration, round);
      }
    }
    if (round == 3) run.HaltEach(false);
    for (const int32_t key : halted) run.Release(key);
  }
  event = hopper_event();
  while (event.type != HOPPER_EVENT_FINISHED) {
    run.Visits();
    if (!run.NextEvent(&event)) run.WaitForEvent();
    ASSERT_NE(event.type, HOPPER_EVENT_CHECKPOINT);
  }
}

// Each halts somewhere; its weights there, and what it is once it has trained `more` iterations.
void ExpectWeightsAndEnds(int32_t more) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  RunOptions options = SmallRun(1);
  RunDriver run(RunDriver::Planned{}, options, train, &valid);
  run.StayOpen();
  const std::vector<Configuration> configs = Configurations();
  for (const Configuration& config : configs) run.AddConfig(config);
  run.Plan();
  run.Start();
  for (const Configuration& config : configs) run.GoOn(config.key, 4);
  run.Close();
  std::map<int32_t, std::vector<float>> weights;
  std::map<int32_t, int32_t> halted;
  run.HaltForCheckpoints();
  for (bool ended = false; !ended;) {
    hopper_event event = {};
    run.Visits();
    if (!run.NextEvent(&event)) {
      run.WaitForEvent();
      continue;
    }
    ended = event.type == HOPPER_EVENT_FINISHED;
    if (event.type == HOPPER_EVENT_STATE) run.AddStates();
    if (event.type != HOPPER_EVENT_CHECKPOINT) continue;
    const int64_t n = run.Peek(event.mst_key).n_parameters;
    weights[event.mst_key] = run.CopyWeights(event.mst_key, n);
    halted[event.mst_key] = event.iteration;
    run.SetIterations(event.mst_key, more);
    run.Release(event.mst_key);
  }
  EXPECT_GT(halted.size(), configs.size() / 2);
  for (const Configuration& config : configs) {
    if (halted.count(config.key) == 0) continue;
    const ModelResult changed = run.Result(config.key);
    for (const int32_t iterations : {halted[config.key], halted[config.key] + more}) {
      options.iterations = iterations;
      const ModelResult straight = TrainAll(options, {config}, train, &valid).at(config.key);
      if (iterations == halted[config.key]) {
        EXPECT_EQ(weights[config.key], straight.weights) << config.key;
      } else {
        EXPECT_EQ(changed.digest, straight.digest) << config.key;
        EXPECT_EQ(changed.weights, straight.weights) << config.key;
      }
    }
  }
}

TEST(Checkpoints, AModelThatHasHaltedDeliversItsWeightsAndMayEndSooner) { ExpectWeightsAndEnds(1); }

TEST(Checkpoints, AModelThatHasHaltedMayEndLater) { ExpectWeightsAndEnds(6); }

TEST(Checkpoints, AModelThatDoesNotHaltHasNoStateToCopy) {
  const PackedTable train{SmallImages()};
  RunDriver run(RunDriver::Planned{}, SmallRun(1), train, nullptr);
  run.StayOpen();
  run.AddConfig(Configurations()[0]);
  run.Plan();
  run.Start();
  run.GoOn(1, 100000);
  EXPECT_THROW(run.CopyState(1), DriverError);
  EXPECT_THROW(run.Release(1), DriverError);
  EXPECT_THROW(run.CopyState(2), DriverError);
  EXPECT_THROW(run.CopyWeights(1, 1), DriverError);
  EXPECT_THROW(run.SetIterations(1, 1), DriverError);
}

}  // namespace
}  // namespace hopper
