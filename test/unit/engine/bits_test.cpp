// Equal bits: a model's state depends on data, seed, configuration and key alone.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/sequential_loop.h"
#include "engine/small_runs.h"
#include "model/planned/step_plan.h"
#include "support/autograd.h"
#include "train/stepper.h"
#include "train/trainer.h"

namespace hopper {
namespace {

const std::vector<std::string>& BitOptimizers() {
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
  return AllConfigurations({CnnJson(4, 3), CnnJson(6, 3)}, BitOptimizers(),
                           {"batch_size=8, epochs=1", "batch_size=13, epochs=2"});
}

// What all variations must equal: one thread, all sixteen in one run.
const std::map<int32_t, std::string>& Reference() {
  static const std::map<int32_t, std::string> digests = [] {
    const PackedTable train{SmallImages()};
    return DigestsOf(TrainAll(SmallRun(1), Sixteen(), train));
  }();
  return digests;
}

TEST(Bits, EqualSequentialSgd) {
  const PackedTable train{SmallImages()};
  std::set<std::string> different;
  for (const Configuration& config : Sixteen()) {
    const std::string digest =
        SequentialDigest(config, SmallRun(1), train, NumericsClass("fp32"), /*planned=*/true);
    EXPECT_EQ(Reference().at(config.key), digest)
        << "configuration " << config.key << ": " << config.compile << ", " << config.fit;
    different.insert(digest);
  }
  EXPECT_EQ(different.size(), 16U);
}

TEST(Bits, EqualSequentialSgdForFlatInputs) {
  const PackedTable train{{}};
  RunOptions options = SmallRun(2);
  options.starts = {0, 1};
  std::vector<Configuration> configs;
  for (const std::string& optimizer : BitOptimizers()) {
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
  const PackedTable train{SmallImages()};
  std::vector<Configuration> configs;
  for (const Configuration& config : Sixteen()) {
    if (config.key % 4 == 1) configs.push_back(config);
  }
  UsePlannedSteps(false);
  const auto digests = DigestsOf(TrainAll(SmallRun(2), configs, train));
  for (const Configuration& config : configs) {
    EXPECT_EQ(digests.at(config.key),
              SequentialDigest(config, SmallRun(2), train,
                               NumericsClass("fp32", 1, Autograd().Numerics()), false));
  }
  UsePlannedSteps(true);
  for (const Configuration& config : configs) {
    EXPECT_NE(digests.at(config.key), Reference().at(config.key)) << "the switch does nothing";
  }
}

TEST(Bits, DoNotDependOnThreads) {
  const PackedTable train{SmallImages()};
  for (const int threads : {2, 5}) {
    EXPECT_EQ(DigestsOf(TrainAll(SmallRun(threads), Sixteen(), train)), Reference());
  }
}

TEST(Bits, DoNotDependOnOtherConfigurations) {
  const PackedTable train{SmallImages()};
  for (const Configuration& config : Sixteen()) {
    if (config.key % 5 != 1) continue;
    const auto alone = DigestsOf(TrainAll(SmallRun(2), {config}, train));
    EXPECT_EQ(alone.at(config.key), Reference().at(config.key));
  }
}

TEST(Bits, DoNotDependOnEvaluation) {
  const PackedTable train{SmallImages()};
  PackedTable::Options valid_options = SmallImages();
  valid_options.seed = 9;
  const PackedTable valid{valid_options};
  RunOptions options = SmallRun(3);
  options.training_metrics = HOPPER_METRICS_EVERY;
  EXPECT_EQ(DigestsOf(TrainAll(options, Sixteen(), train, &valid)), Reference());
}

TEST(Bits, SurviveAWarmStart) {
  const PackedTable train{SmallImages()};
  RunOptions options = SmallRun(2);
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
  const PackedTable train{SmallImages()};
  const std::vector<Configuration> configs = {Sixteen().front()};
  RunOptions options = SmallRun(1);
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
