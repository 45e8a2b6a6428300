// The same bits: a model's state depends on data, seed, configuration and key alone.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/sequential_loop.h"
#include "support/keras_models.h"
#include "support/run_driver.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {
namespace {

PackedTable::Options Images() {
  PackedTable::Options options;
  options.x_shape = {8, 8, 1};
  options.rows = 150;
  options.partitions = 5;
  return options;
}

const std::vector<std::string>& Optimizers() {
  static const std::vector<std::string> all = {
      "SGD(learning_rate=0.05, momentum=0.9, nesterov=True)",
      "RMSprop(learning_rate=0.002, momentum=0.5, centered=True)",
      "Adam(learning_rate=0.004, decay=0.01, clipnorm=1.0)",
      "SGD(learning_rate=0.1, clipvalue=0.05)",
  };
  return all;
}

// Two architectures, with batch norm and dropout, by all optimizers by two batch sizes.
std::vector<Configuration> Sixteen() {
  std::vector<Configuration> configs;
  for (const std::string& arch : {CnnJson(4, 3), CnnJson(6, 3)}) {
    for (const std::string& optimizer : Optimizers()) {
      for (const char* fit : {"batch_size=8, epochs=1", "batch_size=13, epochs=2"}) {
        Configuration config;
        config.key = static_cast<int32_t>(configs.size()) + 1;
        config.arch = arch;
        config.compile = "loss='sparse_categorical_crossentropy', optimizer='" + optimizer +
                         "', metrics=['accuracy']";
        config.fit = fit;
        configs.push_back(config);
      }
    }
  }
  return configs;
}

RunOptions Options(int threads) {
  RunOptions options;
  options.iterations = 3;
  options.threads = threads;
  options.starts = {0, 2, 3};
  return options;
}

std::map<int32_t, std::string> DigestsOf(const std::map<int32_t, ModelResult>& results) {
  std::map<int32_t, std::string> digests;
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << key << ": " << result.raw.error;
    digests[key] = result.digest;
  }
  return digests;
}

// What all variations must equal: one thread, all sixteen in one run.
const std::map<int32_t, std::string>& Reference() {
  static const std::map<int32_t, std::string> digests = [] {
    const PackedTable train{Images()};
    return DigestsOf(TrainAll(Options(1), Sixteen(), train));
  }();
  return digests;
}

TEST(Bits, EqualSequentialSgd) {
  const PackedTable train{Images()};
  std::set<std::string> different;
  for (const Configuration& config : Sixteen()) {
    const std::string digest =
        SequentialDigest(config, Options(1), train, NumericsClass("fp32"), /*planned=*/true);
    EXPECT_EQ(Reference().at(config.key), digest)
        << "configuration " << config.key << ": " << config.compile << ", " << config.fit;
    different.insert(digest);
  }
  EXPECT_EQ(different.size(), 16U);
}

TEST(Bits, EqualSequentialSgdForFlatInputs) {
  const PackedTable train{{}};
  RunOptions options = Options(2);
  options.starts = {0, 1};
  std::vector<Configuration> configs;
  for (const std::string& optimizer : Optimizers()) {
    Configuration config;
    config.key = static_cast<int32_t>(configs.size()) + 1;
    config.arch = MlpJson(20, 24, 3);
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='" + optimizer + "'";
    config.fit = "batch_size=10, epochs=1, shuffle=False";
    configs.push_back(config);
  }
  const auto digests = DigestsOf(TrainAll(options, configs, train));
  for (const Configuration& config : configs) {
    EXPECT_EQ(digests.at(config.key),
              SequentialDigest(config, options, train, NumericsClass("fp32"), true))
        << config.compile;
  }
}

// Without planned steps, for the layers that have none and for comparisons.
TEST(Bits, EqualSequentialSgdThroughAutograd) {
  const PackedTable train{Images()};
  std::vector<Configuration> configs;
  for (const Configuration& config : Sixteen()) {
    if (config.key % 4 == 1) configs.push_back(config);
  }
  UsePlannedSteps(false);
  const auto digests = DigestsOf(TrainAll(Options(2), configs, train));
  for (const Configuration& config : configs) {
    EXPECT_EQ(digests.at(config.key),
              SequentialDigest(config, Options(2), train, NumericsClass("fp32"), false));
  }
  UsePlannedSteps(true);
  for (const Configuration& config : configs) {
    EXPECT_NE(digests.at(config.key), Reference().at(config.key)) << "the switch does nothing";
  }
}

TEST(Bits, DoNotDependOnThreads) {
  const PackedTable train{Images()};
  for (const int threads : {2, 5}) {
    EXPECT_EQ(DigestsOf(TrainAll(Options(threads), Sixteen(), train)), Reference());
  }
}

TEST(Bits, DoNotDependOnOtherConfigurations) {
  const PackedTable train{Images()};
  for (const Configuration& config : Sixteen()) {
    if (config.key % 5 != 1) continue;
    const auto alone = DigestsOf(TrainAll(Options(2), {config}, train));
    EXPECT_EQ(alone.at(config.key), Reference().at(config.key));
  }
}

TEST(Bits, DoNotDependOnEvaluation) {
  const PackedTable train{Images()};
  PackedTable::Options valid_options = Images();
  valid_options.seed = 9;
  const PackedTable valid{valid_options};
  RunOptions options = Options(3);
  options.training_metrics = HOPPER_METRICS_EVERY;
  EXPECT_EQ(DigestsOf(TrainAll(options, Sixteen(), train, &valid)), Reference());
}

TEST(Bits, SurviveAWarmStart) {
  const PackedTable train{Images()};
  RunOptions options = Options(2);
  options.iterations = 1;
  const auto first = TrainAll(options, Sixteen(), train);
  std::vector<Configuration> configs = Sixteen();
  for (Configuration& config : configs) config.state = first.at(config.key).state;
  options.iterations = 2;
  std::vector<hopper_event> events;
  const auto second = TrainAll(options, configs, train, nullptr, &events);
  EXPECT_EQ(DigestsOf(second), Reference());
  for (const auto& [key, result] : second) EXPECT_EQ(result.raw.iterations, 3);
  std::vector<int> iterations;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_ITERATION) iterations.push_back(event.iteration);
  }
  EXPECT_EQ(iterations, (std::vector<int>{2, 3}));
}

TEST(Bits, DependOnTheSeed) {
  const PackedTable train{Images()};
  const std::vector<Configuration> configs = {Sixteen().front()};
  RunOptions options = Options(1);
  options.seed = 43;
  const auto other = DigestsOf(TrainAll(options, configs, train));
  EXPECT_NE(other.at(1), Reference().at(1));
  // The configuration's own seed wins.
  std::vector<Configuration> seeded = configs;
  seeded[0].fit += ", seed=42";
  EXPECT_EQ(DigestsOf(TrainAll(options, seeded, train)).at(1), Reference().at(1));
}

}  // namespace
}  // namespace hopper
