// Models whose first layers are frozen: what these give is computed once and kept, and nothing else
// is to be seen of it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "data/features.h"
#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/run_driver.h"
#include "train/trainer.h"

namespace hopper {
namespace {

constexpr const char* kFrozen = "\"trainable\": false";

// A frozen CNN without its head.
std::vector<std::string> Frozen() {
  return {KerasLayer("Conv2D", "conv",
                     R"("batch_input_shape": [null, 8, 8, 1], "filters": 8, "kernel_size": [3, 3],
                        "padding": "same", "activation": "relu", "trainable": false)"),
          KerasLayer("BatchNormalization", "norm", kFrozen),
          KerasLayer("MaxPooling2D", "pool", "\"pool_size\": [2, 2]"),
          KerasLayer("Conv2D", "conv2",
                     R"("filters": 8, "kernel_size": [3, 3], "activation": "relu",
                        "trainable": false)"),
          KerasLayer("Flatten", "flat", "")};
}

// Heads that differ in layers, optimizers and batches.
Configuration Head(int32_t key) {
  std::vector<std::string> layers = Frozen();
  if (key % 2 == 0) layers.push_back(KerasLayer("Dropout", "drop", "\"rate\": 0.25"));
  if (key % 3 == 0) layers.push_back(KerasDense("more", 8, "relu"));
  layers.push_back(KerasDense("last", 3, "softmax"));
  Configuration config;
  config.key = key;
  config.arch = KerasSequential(layers);
  config.compile = std::string("loss='sparse_categorical_crossentropy', optimizer='") +
                   (key % 2 == 0 ? "Adam(lr=0.01)" : "SGD(lr=0.1)") + "', metrics=['accuracy']";
  config.fit = key % 2 == 0 ? "batch_size=16, epochs=1" : "batch_size=11, epochs=2";
  return config;
}

std::vector<Configuration> Heads(int n) {
  std::vector<Configuration> heads;
  for (int key = 1; key <= n; ++key) heads.push_back(Head(key));
  return heads;
}

PackedTable::Options Images(int32_t partitions, uint64_t seed = 1) {
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 503;  // more than a batch of the frozen part in a partition, and no multiple of it
  options.partitions = partitions;
  options.seed = seed;
  return options;
}

RunOptions FrozenOptions() {
  RunOptions options;
  options.training_metrics = HOPPER_METRICS_EVERY;
  return options;
}

struct FrozenOutcome {
  std::map<int32_t, std::string> digests;
  std::map<int32_t, std::vector<float>> weights;
  std::map<std::string, double> metrics;  // by model, iteration and split
  hopper_data_plan plan = {};
  int64_t computed = 0;  // partitions
};

FrozenOutcome TrainFrozen(const RunOptions& options, const std::vector<Configuration>& configs,
                          const PackedTable& train, const PackedTable* valid) {
  FrozenOutcome outcome;
  const int64_t before = FeatureStore::computed();
  RunDriver run(RunDriver::Planned{}, options, train, valid);
  for (const Configuration& config : configs) run.AddConfig(config);
  outcome.plan = run.Plan();
  run.Start();
  for (const hopper_event& event : run.WaitToEnd()) {
    if (event.type != HOPPER_EVENT_METRICS) continue;
    outcome.metrics[std::to_string(event.mst_key) + "/" + std::to_string(event.iteration) + "/" +
                    std::to_string(event.split)] = event.loss;
  }
  for (const Configuration& config : configs) {
    const ModelResult result = run.Result(config.key);
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    outcome.digests[config.key] = result.digest;
    outcome.weights[config.key] = result.weights;
  }
  outcome.computed = FeatureStore::computed() - before;
  return outcome;
}

class WithoutFrozenPrefixes {
 public:
  WithoutFrozenPrefixes() { UseFrozenPrefixes(false); }
  ~WithoutFrozenPrefixes() { UseFrozenPrefixes(true); }
  WithoutFrozenPrefixes(const WithoutFrozenPrefixes&) = delete;
  WithoutFrozenPrefixes& operator=(const WithoutFrozenPrefixes&) = delete;
};

TEST(Frozen, IsComputedOnceForAllHeads) {
  const PackedTable train{Images(4)};
  const PackedTable valid{Images(3, 5)};
  for (const int threads : {1, 3}) {
    RunOptions options = FrozenOptions();
    options.threads = threads;
    EXPECT_EQ(TrainFrozen(options, Heads(6), train, &valid).computed, 4 + 3) << threads;
  }
  // Other weights of it are another one.
  std::vector<Configuration> heads = Heads(2);
  heads[1].fit += ", seed=7";
  EXPECT_EQ(TrainFrozen(FrozenOptions(), heads, train, nullptr).computed, 2 * 4);
}

// The weights of the frozen part do not change: to find what it gave they are looked at once.
TEST(Frozen, WeightsAreDigestedOnceAModel) {
  const PackedTable train{Images(4)};
  const PackedTable valid{Images(3, 5)};
  for (const int threads : {1, 3}) {
    RunOptions options = FrozenOptions();
    options.threads = threads;
    const int64_t before = FrozenDigests();
    TrainFrozen(options, Heads(6), train, &valid);
    EXPECT_EQ(FrozenDigests() - before, 6) << threads;
  }
}

TEST(Frozen, TheWholeModelTrainsTheSame) {
  const PackedTable train{Images(4)};
  const PackedTable valid{Images(3, 5)};
  const std::vector<Configuration> heads = Heads(6);
  const FrozenOutcome apart = TrainFrozen(FrozenOptions(), heads, train, &valid);
  const WithoutFrozenPrefixes without;
  const FrozenOutcome whole = TrainFrozen(FrozenOptions(), heads, train, &valid);
  EXPECT_EQ(whole.computed, 0);
  EXPECT_EQ(apart.metrics.size(), whole.metrics.size());
  for (const auto& [at, loss] : whole.metrics) {
    EXPECT_NEAR(apart.metrics.at(at), loss, 1e-5) << at;
  }
  for (const auto& [key, weights] : whole.weights) {
    const std::vector<float>& others = apart.weights.at(key);
    ASSERT_EQ(others.size(), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_NEAR(others[i], weights[i], 1e-5) << key << ", weight " << i;
    }
  }
}

TEST(Frozen, BitsDoNotDependOnWhatIsKept) {
  const PackedTable train{Images(4)};
  const PackedTable valid{Images(3, 5)};
  const std::vector<Configuration> heads = Heads(5);
  RunOptions options = FrozenOptions();
  const FrozenOutcome all = TrainFrozen(options, heads, train, &valid);
  // All data and models, and nothing more; then less data.
  const int64_t least = all.plan.bytes_models + all.plan.bytes_data;
  for (const int64_t limit :
       {least, least + 30000, least - all.plan.bytes_data / 2, all.plan.bytes_models * 3 / 4}) {
    options.memory_limit = limit;
    const FrozenOutcome some = TrainFrozen(options, heads, train, &valid);
    EXPECT_EQ(some.digests, all.digests) << limit;
    EXPECT_EQ(some.metrics, all.metrics) << limit;
    EXPECT_GT(some.computed, all.computed) << limit;
  }
}

TEST(Frozen, SegmentsTrainTheSame) {
  const PackedTable train{Images(4)};
  const std::vector<Configuration> heads = Heads(3);
  RunOptions options = FrozenOptions();
  const FrozenOutcome here = TrainFrozen(options, heads, train, nullptr);
  struct Case {
    int64_t limit;
    int64_t computed;  // 0: more than once
  };
  for (const Case& one : {Case{int64_t{1} << 30, 4}, Case{here.plan.bytes_models, 0}}) {
    options.memory_limit = one.limit;
    options.starts = {0, 2};
    const int64_t before = FeatureStore::computed();
    GroupDriver groups(options, train, nullptr, {0, 0, 1, 1}, {}, heads, /*planned=*/true);
    const std::map<int32_t, ModelResult> results = groups.Train();
    const int64_t computed = FeatureStore::computed() - before;
    if (one.computed > 0) {
      EXPECT_EQ(computed, one.computed);
    } else {
      EXPECT_GT(computed, 4);
    }
    RunOptions same = options;
    same.memory_limit = int64_t{1} << 30;
    const FrozenOutcome there = TrainFrozen(same, heads, train, nullptr);
    for (const auto& [key, result] : results) EXPECT_EQ(result.digest, there.digests.at(key));
  }
}

TEST(Frozen, WeightsThatCameAreThereAtTheEnd) {
  const PackedTable train{Images(4)};
  std::vector<Configuration> heads = Heads(2);
  FrozenOutcome first = TrainFrozen(FrozenOptions(), heads, train, nullptr);
  std::vector<std::vector<float>> given;
  for (Configuration& head : heads) {
    head.weights = first.weights.at(head.key);
    // Another frozen part for each.
    for (size_t i = 0; i < 72; ++i) head.weights[i] += 0.01F * static_cast<float>(head.key);
    given.push_back(head.weights);
  }
  const FrozenOutcome second = TrainFrozen(FrozenOptions(), heads, train, nullptr);
  for (size_t i = 0; i < heads.size(); ++i) {
    const std::vector<float>& weights = second.weights.at(heads[i].key);
    const size_t frozen = 72 + 8 + 32 + 576 + 8;
    EXPECT_EQ(0, std::memcmp(weights.data(), given[i].data(), frozen * sizeof(float)));
    EXPECT_NE(0, std::memcmp(weights.data(), given[i].data(), weights.size() * sizeof(float)));
    // Nobody has taken the other's features.
    EXPECT_EQ(TrainFrozen(FrozenOptions(), {heads[i]}, train, nullptr).digests.at(heads[i].key),
              second.digests.at(heads[i].key));
  }
}

// A run of its own computes what it would have computed beside others.
TEST(Frozen, BitsDoNotDependOnOtherHeads) {
  const PackedTable train{Images(4)};
  const std::vector<Configuration> heads = Heads(4);
  const FrozenOutcome together = TrainFrozen(FrozenOptions(), heads, train, nullptr);
  for (const Configuration& head : heads) {
    EXPECT_EQ(TrainFrozen(FrozenOptions(), {head}, train, nullptr).digests.at(head.key),
              together.digests.at(head.key));
  }
}

}  // namespace
}  // namespace hopper
