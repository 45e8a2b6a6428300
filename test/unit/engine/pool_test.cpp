// Runs that models enter and leave while they run: each model has the bits that it has alone,
// whoever else is there, however often it rests, and wherever its state lies meanwhile.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/small_runs.h"
#include "support/random_runs.h"
#include "support/repetitions.h"

namespace hopper {
namespace {

// What a model is to do: the lengths of its stints.
struct Plan {
  Configuration config;
  std::vector<int> stints;
};

struct PoolOutcome {
  std::map<int32_t, ModelResult> results;
  std::set<int32_t> failed;
  std::map<int32_t, std::vector<std::string>> metrics;  // by model, in their order
  std::set<int32_t> not_planned;                        // larger than what the run has planned
  int put_aside = 0;
  int states_added = 0;
};

std::string MetricsText(const hopper_event& event) {
  std::string text = std::to_string(event.iteration) + " " + std::to_string(event.split) + " " +
                     std::to_string(event.running) + " " + std::to_string(event.loss);
  for (int i = 0; i < event.n_metrics; ++i) text += " " + std::to_string(event.metrics[i]);
  return text;
}

// Every model enters when one before it has ended a stint, two at the start.
class PoolDriver {
 public:
  PoolDriver(const RunOptions& options, const PackedTable& train, const PackedTable* valid)
      : run_(RunDriver::Planned{}, options, train, valid) {
    run_.StayOpen();
  }
  RunDriver& run() { return run_; }

  PoolOutcome Train(const std::vector<Plan>& plans, uint32_t seed = 1) {
    std::mt19937 random(seed);
    for (const Plan& plan : plans) left_[plan.config.key] = plan.stints;
    size_t entered = 0;
    for (; entered < std::min<size_t>(plans.size(), 2); ++entered) {
      run_.AddConfig(plans[entered].config);
    }
    run_.Plan();
    run_.Start();
    for (size_t i = 0; i < entered; ++i) Begin(plans[i].config.key);
    std::vector<int32_t> resting;
    while (running_ > 0) {
      hopper_event event = {};
      run_.Visits();
      if (!run_.NextEvent(&event)) {
        run_.WaitForEvent();
        continue;
      }
      switch (event.type) {
        case HOPPER_EVENT_LOAD:
          run_.Load(event);
          break;
        case HOPPER_EVENT_STATE:
          run_.AddStates();
          break;
        case HOPPER_EVENT_METRICS:
          outcome_.metrics[event.mst_key].push_back(MetricsText(event));
          break;
        case HOPPER_EVENT_MODEL_FAILED:
          outcome_.failed.insert(event.mst_key);
          left_.erase(event.mst_key);
          --running_;
          break;
        case HOPPER_EVENT_MODEL_DONE:
          --running_;
          if (event.take == 1) run_.PutAside(event.mst_key);
          if (!left_[event.mst_key].empty()) resting.push_back(event.mst_key);
          break;
        default:
          break;
      }
      if (event.type != HOPPER_EVENT_MODEL_DONE && event.type != HOPPER_EVENT_MODEL_FAILED) {
        continue;
      }
      while (entered < plans.size() && !Enter(plans[entered++].config)) {
      }
      // Some of those that rest go on, all where nobody runs.
      std::shuffle(resting.begin(), resting.end(), random);
      while (!resting.empty() && (running_ == 0 || random() % 2 == 0)) {
        Begin(resting.back());
        resting.pop_back();
      }
    }
    run_.Close();
    run_.WaitToEnd();
    for (const Plan& plan : plans) {
      if (outcome_.not_planned.count(plan.config.key) != 0) continue;
      const ModelResult result = run_.Result(plan.config.key);
      if (result.raw.status == HOPPER_MODEL_DONE) outcome_.results[plan.config.key] = result;
    }
    outcome_.put_aside = run_.put_aside();
    outcome_.states_added = run_.states_added();
    return outcome_;
  }

 private:
  bool Enter(const Configuration& config) {
    try {
      run_.AddConfig(config);
    } catch (const std::runtime_error&) {
      if (run_.error().code != HOPPER_LIMIT_EXCEEDED) throw;
      outcome_.not_planned.insert(config.key);
      return false;
    }
    Begin(config.key);
    return true;
  }
  void Begin(int32_t key) {
    std::vector<int>& left = left_[key];
    const int stint = left.front();
    left.erase(left.begin());
    ++running_;
    run_.GoOn(key, stint);
  }

  RunDriver run_;
  std::map<int32_t, std::vector<int>> left_;
  int running_ = 0;
  PoolOutcome outcome_;
};

// The plans' stints by runs that start warm, one model alone in each.
PoolOutcome ByWarmStarts(RunOptions options, const std::vector<Plan>& plans,
                         const PackedTable& train, const PackedTable* valid) {
  PoolOutcome outcome;
  for (const Plan& plan : plans) {
    Configuration config = plan.config;
    for (const int stint : plan.stints) {
      options.iterations = stint;
      std::vector<hopper_event> events;
      const ModelResult result = TrainAll(options, {config}, train, valid, &events).at(config.key);
      for (const hopper_event& event : events) {
        if (event.type == HOPPER_EVENT_METRICS) {
          outcome.metrics[config.key].push_back(MetricsText(event));
        }
      }
      config.state = result.state;
      outcome.results[config.key] = result;
      if (result.raw.status == HOPPER_MODEL_DONE) continue;
      outcome.results.erase(config.key);
      outcome.failed.insert(config.key);
      break;
    }
  }
  return outcome;
}

// What the largest of them takes alone, on one thread.
int64_t MostAlone(RunOptions options, const std::vector<Plan>& plans, const PackedTable& train,
                  const PackedTable* valid, int64_t* bytes_data = nullptr) {
  options.threads = 1;
  int64_t most = 0;
  int64_t data = 0;
  for (const Plan& plan : plans) {
    RunDriver run(RunDriver::Planned{}, options, train, valid);
    run.AddConfig(plan.config);
    const hopper_data_plan memory = run.Plan();
    most = std::max(most, memory.bytes_models);
    data = memory.bytes_data;
  }
  if (bytes_data != nullptr) *bytes_data = data;
  return most;
}

// Two evaluations of one iteration may be told in either order.
void Sort(PoolOutcome* outcome) {
  for (auto& [key, texts] : outcome->metrics) std::sort(texts.begin(), texts.end());
}

void ExpectSameReports(PoolOutcome expected, PoolOutcome found) {
  for (const int32_t key : found.not_planned) {
    expected.metrics.erase(key);
    expected.results.erase(key);
    expected.failed.erase(key);
  }
  // Whether the evaluation of one that fails meanwhile comes first is a matter of time.
  for (const int32_t key : expected.failed) expected.metrics.erase(key);
  for (const int32_t key : found.failed) found.metrics.erase(key);
  Sort(&expected);
  Sort(&found);
  EXPECT_EQ(expected.metrics, found.metrics);
  EXPECT_EQ(expected.failed, found.failed);
  ASSERT_EQ(expected.results.size(), found.results.size());
  for (const auto& [key, result] : expected.results) {
    EXPECT_EQ(result.digest, found.results.at(key).digest) << key;
    EXPECT_EQ(result.state, found.results.at(key).state) << key;
    EXPECT_EQ(result.weights, found.results.at(key).weights) << key;
    EXPECT_EQ(result.raw.iterations, found.results.at(key).raw.iterations) << key;
    EXPECT_EQ(result.raw.stopped, found.results.at(key).raw.stopped) << key;
  }
}

// Some watch their metrics, and stop early, restore their best weights, or train more slowly.
std::vector<Plan> Plans() {
  const std::vector<std::string> fits = {
      "batch_size=8", "batch_size=13, epochs=2",
      "batch_size=8, patience=0, monitor='val_loss', min_delta=0.05, restore_best=True",
      "batch_size=16, reduce_lr_on_plateau={'monitor': 'loss', 'patience': 1}"};
  const std::vector<std::vector<int>> stints = {{1, 2}, {3}, {2, 1}, {1, 1, 1}, {1}};
  std::vector<Plan> plans;
  for (const Configuration& config :
       AllConfigurations({CnnJson(4, 3), CnnJson(6, 3)},
                         {"SGD(learning_rate=0.05, momentum=0.9)", "Adam(clipnorm=1.0)"}, fits)) {
    plans.push_back({config, stints[plans.size() % stints.size()]});
  }
  return plans;
}

PackedTable::Options ValidImages() {
  PackedTable::Options options = SmallImages();
  options.seed = 9;
  options.partitions = 2;
  return options;
}

TEST(Pool, AModelThatRestsHasTheBitsOfOneThatDoesNot) {
  const PackedTable train{SmallImages()};
  std::vector<Configuration> configs;
  std::vector<Plan> plans;
  for (const Plan& plan : Plans()) {
    if (plan.config.fit.find('{') != std::string::npos) continue;
    if (plan.config.fit.find("patience") != std::string::npos) continue;
    configs.push_back(plan.config);
    plans.push_back(
        {plan.config, plans.size() % 2 == 0 ? std::vector<int>{1, 2} : std::vector<int>{2, 1}});
  }
  const auto straight = DigestsOf(TrainAll(SmallRun(2), configs, train));
  for (const int threads : {1, 2, 5}) {
    PoolDriver pool(SmallRun(threads), train, nullptr);
    EXPECT_EQ(DigestsOf(pool.Train(plans).results), straight) << threads;
  }
}

TEST(Pool, LegsAreWarmStarts) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  const PoolOutcome expected = ByWarmStarts(SmallRun(1), Plans(), train, &valid);
  for (const int threads : {1, 3}) {
    PoolDriver pool(SmallRun(threads), train, &valid);
    const PoolOutcome found = pool.Train(Plans());
    EXPECT_EQ(found.put_aside, 0);
    ExpectSameReports(expected, found);
  }
}

TEST(Pool, WhereMemoryIsShortSomeArePutAside) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  RunOptions options = SmallRun(2);
  const PoolOutcome expected = ByWarmStarts(options, Plans(), train, &valid);
  int64_t data = 0;
  const int64_t most = MostAlone(options, Plans(), train, &valid, &data);
  int put_aside = 0;
  for (const int64_t models : {2, 3, 4}) {
    options.memory_limit = data + models * most;
    PoolDriver pool(options, train, &valid);
    const PoolOutcome found = pool.Train(Plans());
    ExpectSameReports(expected, found);
    put_aside += found.put_aside;
    EXPECT_EQ(found.not_planned, std::set<int32_t>());
    EXPECT_LE(found.states_added, found.put_aside);
  }
  EXPECT_GT(put_aside, 0);
}

// As population based training has it: another configuration, from a state that was put aside.
TEST(Pool, AModelEntersWithAnothersState) {
  const PackedTable train{SmallImages()};
  Configuration parent = Plans()[0].config;
  Configuration child = parent;
  child.key = 5;
  child.compile.replace(child.compile.find("0.05"), 4, "0.01");
  RunOptions options = SmallRun(2);
  options.iterations = 2;
  const ModelResult first = TrainAll(options, {parent}, train).at(parent.key);
  Configuration expected = child;
  expected.state = first.state;

  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.StayOpen();
  run.AddConfig(parent);
  run.Plan();
  run.Start();
  const auto wait_for = [&](int32_t key) {
    for (hopper_event event = {}; event.type != HOPPER_EVENT_MODEL_DONE || event.mst_key != key;) {
      while (!run.NextEvent(&event)) run.WaitForEvent();
      if (event.type == HOPPER_EVENT_STATE) run.AddStates();
    }
  };
  run.GoOn(1, 2);
  wait_for(1);
  run.PutAside(1);
  child.state = first.state;
  run.AddConfig(child);
  run.GoOn(5, 2);
  run.GoOn(1, 1);  // its parent goes on beside it
  wait_for(5);
  run.Close();
  run.WaitToEnd();
  EXPECT_EQ(run.Result(5).digest, TrainAll(options, {expected}, train).at(5).digest);
}

TEST(Pool, AStateIsDroppedAndAModelBeginsAnew) {
  const PackedTable train{SmallImages()};
  const Configuration config = Plans()[1].config;
  RunOptions options = SmallRun(2);
  options.iterations = 2;
  const ModelResult expected = TrainAll(options, {config}, train).at(config.key);
  RunDriver run(options, train, nullptr);
  run.StayOpen();
  run.AddConfig(config);
  run.Start();
  const auto wait = [&] {
    for (hopper_event event = {}; event.type != HOPPER_EVENT_MODEL_DONE;) {
      while (!run.NextEvent(&event)) run.WaitForEvent();
    }
  };
  run.GoOn(config.key, 1);
  wait();
  const int64_t before = run.Info().bytes_models;
  // All of its state, which nobody keeps: its weights are left.
  hopper_error error = {};
  std::vector<uint8_t> bytes(1 << 20);
  for (size_t taken = 1; taken > 0;) {
    ASSERT_EQ(
        Api().run.take_state(run.raw(), config.key, bytes.data(), bytes.size(), &taken, &error), 0);
  }
  EXPECT_GT(before, 0);
  const hopper_stint stint = {config.key, 1, 0, 0};
  int32_t must_take = 0;
  int32_t take = 0;
  EXPECT_NE(Api().run.go_on(run.raw(), &stint, &must_take, &take, &error), 0);
  run.GoOn(config.key, 2, /*restart=*/true);
  wait();
  run.Close();
  run.WaitToEnd();
  EXPECT_EQ(run.Result(config.key).digest, expected.digest);
}

TEST(Pool, OneAboveTheLimitFailsAloneAndOneAboveThePlanSaysSo) {
  const PackedTable train{{}};
  Configuration small = Plans()[0].config;
  small.arch = MlpJson(20, 8, 3);
  Configuration large = small;
  large.key = 2;
  large.arch = MlpJson(20, 2000, 3);
  Configuration huge = small;
  huge.key = 3;
  huge.arch = MlpJson(20, 200000, 3);
  RunOptions options;
  options.threads = 1;
  {
    RunDriver run(RunDriver::Planned{}, options, train, nullptr);
    run.AddConfig(large);
    const hopper_data_plan plan = run.Plan();
    options.memory_limit = plan.bytes_models + plan.bytes_data / 2;
  }
  RunDriver run(RunDriver::Planned{}, options, train, nullptr);
  run.StayOpen();
  run.AddConfig(small);
  ASSERT_EQ(run.Plan().resident, 1);
  run.Start();
  EXPECT_THROW(run.AddConfig(large), std::runtime_error);
  EXPECT_EQ(run.error().code, HOPPER_LIMIT_EXCEEDED);
  run.AddConfig(huge);
  run.GoOn(small.key, 1);
  run.GoOn(huge.key, 1);
  run.Close();
  std::multiset<int32_t> failed;
  for (const hopper_event& event : run.WaitToEnd()) {
    if (event.type == HOPPER_EVENT_MODEL_FAILED) failed.insert(event.mst_key);
  }
  // When it enters, and whenever it is to train.
  EXPECT_EQ(failed, (std::multiset<int32_t>{3, 3}));
  EXPECT_EQ(run.Result(1).raw.status, HOPPER_MODEL_DONE);
}

// Then all that train are known when the data are planned: as in a run that nobody enters.
TEST(Pool, OneThatIsClosedBeforeItStartsIsPlannedForAll) {
  const PackedTable train{SmallImages()};
  const PackedTable valid{ValidImages()};
  std::vector<Configuration> configs;
  for (const Plan& plan : Plans()) configs.push_back(plan.config);
  RunOptions options = SmallRun(2);
  options.iterations = 1;
  configs[1].state = TrainAll(options, {configs[1]}, train, &valid).at(configs[1].key).state;
  configs[3].compile = "optimizer='none'";
  options.iterations = 3;
  const auto train_all = [&](bool open, hopper_data_plan* plan) {
    RunDriver run(RunDriver::Planned{}, options, train, &valid);
    if (open) run.StayOpen();
    for (const Configuration& config : configs) run.AddConfig(config);
    for (const Configuration& config : configs) {
      if (open) run.GoOn(config.key, options.iterations);
    }
    if (open) run.Close();
    *plan = run.Plan();
    run.Start();
    PoolOutcome outcome;
    for (const hopper_event& event : run.WaitToEnd()) {
      if (event.type == HOPPER_EVENT_MODEL_FAILED) {
        EXPECT_TRUE(outcome.failed.insert(event.mst_key).second) << "told once";
      }
      if (event.type == HOPPER_EVENT_METRICS) {
        outcome.metrics[event.mst_key].push_back(MetricsText(event));
      }
    }
    for (const Configuration& config : configs) {
      const ModelResult result = run.Result(config.key);
      if (result.raw.status == HOPPER_MODEL_DONE) outcome.results[config.key] = result;
    }
    outcome.states_added = run.states_added();
    return outcome;
  };
  int64_t data = 0;
  const int64_t most = MostAlone(options, Plans(), train, &valid, &data);
  int waited = 0;
  for (const int64_t limit : {int64_t{0}, data + 3 * most, most + data / 2}) {
    if (limit > 0) options.memory_limit = limit;
    hopper_data_plan expected_plan = {};
    hopper_data_plan plan = {};
    const PoolOutcome expected = train_all(false, &expected_plan);
    const PoolOutcome found = train_all(true, &plan);
    ExpectSameReports(expected, found);
    EXPECT_EQ(expected.failed, (std::set<int32_t>{configs[3].key}));
    EXPECT_EQ(plan.resident, expected_plan.resident) << limit;
    EXPECT_EQ(plan.bytes_models, expected_plan.bytes_models) << limit;
    EXPECT_EQ(plan.bytes_window, expected_plan.bytes_window) << limit;
    EXPECT_EQ(plan.max_reads, expected_plan.max_reads) << limit;
    EXPECT_EQ(plan.n_waiting, expected_plan.n_waiting) << limit;
    EXPECT_EQ(plan.bytes_aside, expected_plan.bytes_aside) << limit;
    EXPECT_EQ(found.states_added, expected.states_added) << limit;
    waited += plan.n_waiting;
  }
  EXPECT_GT(waited, 0);
}

TEST(Pool, EndsWithNobodyAndWhenItIsCancelled) {
  const PackedTable train{SmallImages()};
  for (const bool cancels : {false, true}) {
    RunDriver run(SmallRun(3), train, nullptr);
    run.StayOpen();
    run.AddConfig(Plans()[0].config);
    run.Start();
    if (cancels) {
      run.GoOn(1, 100000);
      run.Cancel();
    } else {
      run.Close();
    }
    EXPECT_EQ(run.WaitToEnd().back().type, HOPPER_EVENT_FINISHED);
    EXPECT_THROW(run.GoOn(1, 1), std::runtime_error);
  }
}

// As many as HOPPER_RANDOM_RUNS says, for bench/random_runs.
TEST(RandomPools, End) {
  const RandomSeeds seeds = SeedsOfRandomRuns(Repetitions(300));
  Tally tally;
  for (int64_t i = seeds.first; i < seeds.last; ++i) {
    SCOPED_TRACE("run " + std::to_string(i));
    std::mt19937 random(static_cast<uint32_t>(i));
    const auto draw = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    PackedTable::Options table;
    table.x_shape = {4};
    table.rows_per_buffer = 9;
    table.partitions = draw(1, 6);
    table.rows = draw(table.partitions, 40);
    const PackedTable train{table};
    table.seed = 2;
    const PackedTable valid{table};
    RunOptions options;
    options.threads = draw(1, 4);
    options.frequency = draw(1, 2);
    options.training_metrics = static_cast<hopper_training_metrics>(draw(1, 3));
    options.starts = {0};
    std::vector<Plan> plans;
    const int n = draw(1, 8);
    for (int key = 1; key <= n; ++key) {
      Plan plan;
      plan.config.key = key;
      plan.config.arch =
          KerasSequential({KerasDense("only", 3, "softmax", R"("batch_input_shape": [null, 4])")});
      plan.config.compile =
          std::string("loss='sparse_categorical_crossentropy', metrics=['accuracy'], optimizer=") +
          (draw(0, 7) == 0 ? "'SGD(lr=1e38)'" : "'Adam(lr=0.05)'");
      plan.config.fit = "batch_size=" + std::to_string(draw(1, 9));
      if (draw(0, 3) == 0) {
        plan.config.fit += ", patience=0, monitor='val_loss', min_delta=0.05, restore_best=True";
      }
      const int stints = draw(1, 4);
      for (int stint = 0; stint < stints; ++stint) plan.stints.push_back(draw(1, 3));
      plans.push_back(plan);
    }
    if (draw(0, 3) > 0) {
      options.memory_limit =
          MostAlone(options, plans, train, &valid) * draw(1, 3) + 240 * draw(1, 4);
    }
    PoolDriver pool(options, train, &valid);
    PoolOutcome found;
    ASSERT_NO_THROW(found = pool.Train(plans, static_cast<uint32_t>(i)));
    tally.Count("runs");
    tally.Count("with-little-memory", options.memory_limit < RunOptions().memory_limit);
    tally.Count("with-models-put-aside", found.put_aside > 0);
    tally.Count("compared", i % 10 == 0);
    if (i % 10 != 0) continue;
    options.memory_limit = int64_t{1} << 30;
    ExpectSameReports(ByWarmStarts(options, plans, train, &valid), found);
  }
}

}  // namespace
}  // namespace hopper
