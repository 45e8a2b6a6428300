// Plans serve all models of one architecture and loss that a thread comes by, and leave no traces.
#include <gtest/gtest.h>

#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/run_driver.h"
#include "train/plan_cache.h"

namespace hopper {
namespace {

std::string Arch() {
  return KerasSequential(
      {KerasLayer("Conv2D", "conv",
                  R"("batch_input_shape": [null, 8, 8, 1], "filters": 4, "kernel_size": [3, 3],
                     "activation": "relu")"),
       KerasLayer("BatchNormalization", "norm", ""), KerasLayer("Dropout", "drop", "\"rate\": 0.5"),
       KerasLayer("Flatten", "flat", ""), KerasDense("last", 3, "softmax")});
}

std::vector<Configuration> PlannedConfigurations() {
  static const char* const kOptimizers[] = {"Adam()", "SGD(lr=0.05, momentum=0.9)",
                                            "Adam(lr=0.01)"};
  static const char* const kLosses[] = {"sparse_categorical_crossentropy",
                                        "SparseCategoricalCrossentropy(from_logits=True)"};
  static const char* const kFits[] = {"batch_size=32", "batch_size=32, class_weight={0: 3.0}",
                                      "batch_size=32, seed=7", "batch_size=20"};
  std::vector<Configuration> configs;
  for (int key = 1; key <= 12; ++key) {
    Configuration config;
    config.key = key;
    config.arch = Arch();
    config.compile = std::string("loss='") + kLosses[key % 2] + "', optimizer='" +
                     kOptimizers[key % 3] + "', metrics=['accuracy']";
    if (key % 2 == 1) {
      config.compile = std::string("loss=") + kLosses[1] + ", optimizer='" + kOptimizers[key % 3] +
                       "', metrics=['accuracy']";
    }
    config.fit = kFits[key % 4];
    configs.push_back(config);
  }
  return configs;
}

PackedTable PlannedImages() {
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 301;
  return PackedTable(options);
}

TEST(Plans, SharedOnesGiveTheBitsOfOnesOwn) {
  const PackedTable train = PlannedImages();
  const std::vector<Configuration> configs = PlannedConfigurations();
  for (const char* precision : {"fp32", "bf16"}) {
    RunOptions options;
    options.precision = precision;
    options.threads = 1;
    RunDriver together(options, train, nullptr);
    for (const Configuration& config : configs) together.AddConfig(config);
    together.Start();
    together.WaitToEnd();
    for (const Configuration& config : configs) {
      RunDriver alone(options, train, nullptr);
      alone.AddConfig(config);
      alone.Start();
      alone.WaitToEnd();
      const ModelResult one = alone.Result(config.key);
      const ModelResult other = together.Result(config.key);
      ASSERT_EQ(one.raw.status, HOPPER_MODEL_DONE) << one.raw.error;
      EXPECT_EQ(one.digest, other.digest) << config.key << " " << precision;
      EXPECT_EQ(one.weights, other.weights) << config.key;
    }
  }
}

// Models of so many architectures, by turns.
std::vector<Configuration> PlannedMlps(int models, int architectures) {
  std::vector<Configuration> configs;
  for (int key = 1; key <= models; ++key) {
    Configuration config;
    config.key = key;
    config.arch = MlpJson(20, 4 + key % architectures, 3);
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=0.0" +
                     std::to_string(key) + ")', metrics=['accuracy']";
    config.fit = "batch_size=16";
    configs.push_back(config);
  }
  return configs;
}

// Of a step and of an evaluation, for partitions of two sizes.
constexpr int kPlansOfOne = 3;

// However many models there are, a thread plans each step once.
TEST(Plans, AreMadeOnceAThread) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 1;
  options.iterations = 3;
  for (const int architectures : {1, 40}) {
    const int64_t before = PlanCache::made();
    TrainAll(options, PlannedMlps(80, architectures), train);
    EXPECT_LE(PlanCache::made() - before, kPlansOfOne * architectures) << architectures;
  }
}

// Hop after hop, on each segment.
TEST(Plans, AreMadeOnceASegmentsThread) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 1;
  options.iterations = 3;
  for (const int architectures : {1, 40}) {
    const int64_t before = PlanCache::made();
    GroupDriver groups(options, train, nullptr, {10, 10, 20, 20}, {},
                       PlannedMlps(80, architectures), /*planned=*/true);
    groups.Train();
    EXPECT_LE(PlanCache::made() - before, 2 * kPlansOfOne * architectures) << architectures;
  }
}

// What a segment keeps is shared by the threads that work: where there are fewer models, these
// alone.
TEST(Plans, OfOneModelHaveTheRoomOfAllThreads) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 16;
  options.threads_per_model = 1;
  options.iterations = 3;
  options.memory_limit = 64 * 100000;
  const int64_t before = PlanCache::made();
  GroupDriver groups(options, train, nullptr, {10, 10, 20, 20}, {}, PlannedMlps(1, 1),
                     /*planned=*/true);
  for (const auto& [key, result] : groups.Train()) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
  }
  EXPECT_LE(PlanCache::made() - before, 2 * kPlansOfOne);
}

// Of several threads a segment has no more than it has models, which are others in each hop; teams
// of threads end with a hop, and what knows them.
TEST(Plans, GoFromHopToHopWithTheSameBits) {
  const PackedTable train{{}};
  const std::vector<Configuration> configs = PlannedMlps(7, 3);
  for (const int threads_per_model : {1, 2}) {
    RunOptions options;
    options.threads = 4;
    options.threads_per_model = threads_per_model;
    options.iterations = 3;
    const auto expected = TrainAll(options, configs, train);
    GroupDriver groups(options, train, nullptr, {10, 20, 20, 30}, {}, configs, /*planned=*/true);
    for (const auto& [key, result] : groups.Train()) {
      EXPECT_EQ(result.digest, expected.at(key).digest) << key << " " << threads_per_model;
    }
  }
}

// The least recently used go where there is no room for all.
TEST(Plans, StayWithinTheirBytes) {
  const PackedTable train{{}};
  RunOptions options;
  options.threads = 1;
  options.iterations = 4;
  // Room for the plans of a few, of which all wait for their turn again.
  options.memory_limit = 64 * 200000;
  const int64_t before = PlanCache::made();
  const auto results = TrainAll(options, PlannedMlps(40, 40), train);
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
  }
  EXPECT_GT(PlanCache::made() - before, kPlansOfOne * 40);
}

}  // namespace
}  // namespace hopper
