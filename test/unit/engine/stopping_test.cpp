// Early stopping, ReduceLROnPlateau and best weights in runs: what models do next depends on what
// they reached, and on nothing else.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

constexpr int kIterations = 12;

// Validation data are of another problem: what is learnt soon makes it worse.
struct Tables {
  PackedTable train{Options(1)};
  PackedTable valid{Options(7)};
  static PackedTable::Options Options(uint64_t seed) {
    PackedTable::Options options;
    options.rows = 120;
    options.seed = seed;
    return options;
  }
};

Configuration Config(int32_t key, const std::string& fit, double rate = 0.05) {
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, 12, 3);
  config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam(learning_rate=" +
                   std::to_string(rate) + ")', metrics=['accuracy']";
  config.fit = "batch_size=16" + fit;
  return config;
}

RunOptions Options(int iterations = kIterations, int threads = 2) {
  RunOptions options;
  options.iterations = iterations;
  options.threads = threads;
  return options;
}

// The validation losses in the order of iterations, and the training values that were evaluated.
struct Told {
  std::map<int32_t, double> valid;
  std::map<int32_t, double> evaluated;
  int32_t stopped_at = 0;
  std::string reason;
};

Told ToldOf(const std::vector<hopper_event>& events, int32_t key) {
  Told told;
  for (const hopper_event& event : events) {
    if (event.mst_key != key) continue;
    if (event.type == HOPPER_EVENT_METRICS && event.split == HOPPER_SPLIT_VALID) {
      told.valid[event.iteration] = event.loss;
    } else if (event.type == HOPPER_EVENT_METRICS && event.running == 0) {
      told.evaluated[event.iteration] = event.loss;
    } else if (event.type == HOPPER_EVENT_MODEL_STOPPED) {
      EXPECT_EQ(told.stopped_at, 0) << "told twice";
      told.stopped_at = event.iteration;
      told.reason = event.message;
    }
  }
  return told;
}

// patience=2: the second iteration in a row that does not improve is the last one.
void ExpectedEnd(const std::map<int32_t, double>& losses, int32_t* best, int32_t* last) {
  *best = 1;
  *last = kIterations;
  int wait = 0;
  for (const auto& [iteration, loss] : losses) {
    if (iteration == 1) continue;
    wait = loss < losses.at(*best) ? 0 : wait + 1;
    if (wait == 0) *best = iteration;
    if (wait < 2) continue;
    *last = iteration;
    return;
  }
}

TEST(EarlyStopping, EndsAModelAndKeepsItsBestWeights) {
  const Tables data;
  std::vector<hopper_event> events;
  const Configuration stops = Config(1, ", patience=2, restore_best=True");
  const Configuration goes_on = Config(2, "");
  auto results = TrainAll(Options(), {stops, goes_on}, data.train, &data.valid, &events);
  const Told told = ToldOf(events, 1);
  const ModelResult& result = results.at(1);
  int32_t best = 0, last = 0;
  ExpectedEnd(told.valid, &best, &last);
  ASSERT_LT(last, kIterations) << "the data do not make it stop";
  EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
  EXPECT_EQ(result.raw.stopped, 1);
  EXPECT_EQ(result.raw.iterations, last);
  EXPECT_EQ(result.raw.best_iteration, best);
  EXPECT_EQ(result.raw.kept_iteration, best);
  EXPECT_EQ(told.stopped_at, last);
  EXPECT_EQ(told.reason.find("val_loss has not improved on "), 0U) << told.reason;
  EXPECT_EQ(told.valid.rbegin()->first, last);
  EXPECT_EQ(results.at(2).raw.iterations, kIterations);
  EXPECT_EQ(results.at(2).raw.stopped, 0);
  EXPECT_EQ(results.at(2).raw.kept_iteration, kIterations);

  // The weights are those of a model that trained as long as the best one.
  std::vector<hopper_event> plain_events;
  const Configuration plain = Config(1, "");
  const auto as_best = TrainAll(Options(best), {plain}, data.train, &data.valid, &plain_events);
  EXPECT_EQ(result.weights, as_best.at(1).weights);
  // So is the evaluation of the training data.
  ASSERT_EQ(told.evaluated.size(), 1U);
  EXPECT_EQ(told.evaluated.begin()->first, best);
  EXPECT_EQ(told.evaluated.begin()->second, ToldOf(plain_events, 1).evaluated.begin()->second);

  // Without restore_best they are the last ones.
  auto without = TrainAll(Options(), {Config(1, ", patience=2")}, data.train, &data.valid);
  const auto as_last = TrainAll(Options(last), {plain}, data.train, &data.valid);
  EXPECT_EQ(without.at(1).weights, as_last.at(1).weights);
  EXPECT_EQ(without.at(1).raw.kept_iteration, last);
  EXPECT_EQ(without.at(1).raw.best_iteration, best);
}

// Every second iteration the rate is halved: as a warm start with that rate.
TEST(ReduceLrOnPlateau, TrainsOnWithTheReducedRate) {
  const Tables data;
  const std::string fit =
      ", reduce_lr_on_plateau={'monitor': 'loss', 'mode': 'max', 'patience': 0, 'factor': 0.5}";
  // The training loss falls, so that each iteration but the first is no improvement.
  const auto reduced = TrainAll(Options(3), {Config(1, fit, 0.01)}, data.train);
  EXPECT_FLOAT_EQ(static_cast<float>(reduced.at(1).raw.learning_rate), 0.0025F);
  const auto two = TrainAll(Options(2), {Config(1, "", 0.01)}, data.train);
  Configuration slower = Config(1, "", 0.005);
  slower.state = two.at(1).state;
  const auto third = TrainAll(Options(1), {slower}, data.train);
  EXPECT_EQ(reduced.at(1).weights, third.at(1).weights);
  EXPECT_NE(reduced.at(1).weights,
            TrainAll(Options(3), {Config(1, "", 0.01)}, data.train).at(1).weights);
}

std::vector<Configuration> Several() {
  return {Config(1, ", patience=2, restore_best=True"),
          Config(2, ", patience=1, monitor='val_accuracy'"),
          Config(3, ""),
          Config(4, ", restore_best=True, reduce_lr_on_plateau={'patience': 1, 'factor': 0.3}"),
          Config(5, ", patience=1, monitor='loss', mode='max'"),
          Config(6, ", reduce_lr_on_plateau={'monitor': 'val_loss', 'patience': 1}")};
}

void ExpectAlike(const std::map<int32_t, ModelResult>& a, const std::map<int32_t, ModelResult>& b) {
  for (const auto& [key, result] : a) {
    SCOPED_TRACE("configuration " + std::to_string(key));
    const ModelResult& other = b.at(key);
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(result.digest, other.digest);
    EXPECT_EQ(result.weights, other.weights);
    EXPECT_EQ(result.raw.iterations, other.raw.iterations);
    EXPECT_EQ(result.raw.stopped, other.raw.stopped);
    EXPECT_EQ(result.raw.best_iteration, other.raw.best_iteration);
    EXPECT_EQ(result.raw.kept_iteration, other.raw.kept_iteration);
    EXPECT_EQ(result.raw.learning_rate, other.raw.learning_rate);
  }
}

TEST(EarlyStopping, DoesNotDependOnThreadsAndWarmStarts) {
  const Tables data;
  const auto whole = TrainAll(Options(kIterations, 1), Several(), data.train, &data.valid);
  EXPECT_EQ(whole.at(1).raw.stopped + whole.at(2).raw.stopped + whole.at(5).raw.stopped, 3);
  EXPECT_EQ(whole.at(3).raw.iterations, kIterations);
  EXPECT_LT(whole.at(4).raw.learning_rate, 0.05);
  EXPECT_LT(whole.at(1).raw.kept_iteration, whole.at(1).raw.iterations);
  ExpectAlike(whole, TrainAll(Options(kIterations, 4), Several(), data.train, &data.valid));

  // In pieces; who has been stopped stays so.
  std::vector<Configuration> configs = Several();
  std::map<int32_t, ModelResult> pieces;
  for (const int n : {1, 2, 4, 5}) {
    pieces = TrainAll(Options(n, 3), configs, data.train, &data.valid);
    for (Configuration& config : configs) config.state = pieces.at(config.key).state;
  }
  ExpectAlike(whole, pieces);
}

TEST(EarlyStopping, IsTheSameOnSegments) {
  const Tables data;
  for (const auto metrics : {HOPPER_METRICS_FINAL, HOPPER_METRICS_EVERY}) {
    RunOptions options = Options();
    options.training_metrics = metrics;
    options.starts = {0, 2};
    std::vector<hopper_event> run_events, group_events;
    const auto local = TrainAll(options, Several(), data.train, &data.valid, &run_events);
    GroupDriver group(options, data.train, &data.valid, {10, 10, 20, 20}, {10, 20, 20, 20},
                      Several());
    ExpectAlike(local, group.Train(&group_events));
    for (int32_t key = 1; key <= 6; ++key) {
      SCOPED_TRACE("configuration " + std::to_string(key));
      const Told a = ToldOf(run_events, key), b = ToldOf(group_events, key);
      EXPECT_EQ(a.valid, b.valid);
      EXPECT_EQ(a.evaluated, b.evaluated);
      EXPECT_EQ(a.stopped_at, b.stopped_at);
      EXPECT_EQ(a.reason, b.reason);
    }
  }
}

TEST(EarlyStopping, SegmentsGoOnWithAState) {
  const Tables data;
  RunOptions options = Options(5);
  options.starts = {0, 2};
  std::vector<Configuration> configs = Several();
  const auto first = TrainAll(options, configs, data.train, &data.valid);
  for (Configuration& config : configs) config.state = first.at(config.key).state;
  options.iterations = 7;
  GroupDriver group(options, data.train, &data.valid, {10, 10, 20, 20}, {10, 20, 20, 20}, configs);
  options.iterations = kIterations;
  ExpectAlike(TrainAll(options, Several(), data.train, &data.valid), group.Train());
}

TEST(EarlyStopping, NeedsTheDataThatItWatches) {
  const Tables data;
  const auto results =
      TrainAll(Options(2), {Config(1, ", patience=2"), Config(2, ", patience=2, monitor='loss'")},
               data.train);
  EXPECT_EQ(results.at(1).raw.status, HOPPER_MODEL_FAILED);
  EXPECT_STREQ(results.at(1).raw.error,
               "validation data is watched but there is no validation table");
  EXPECT_EQ(results.at(2).raw.status, HOPPER_MODEL_DONE) << results.at(2).raw.error;
}

}  // namespace
}  // namespace hopper
