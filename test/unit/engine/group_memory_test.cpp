// Segments near their memory limit: who does not fit beside the others waits, and only who does not
// fit alone fails, whoever meets whom and in whatever order.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/group_driver.h"
#include "support/keras_models.h"
#include "support/repetitions.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

class GroupMemory : public ::testing::Test {
 protected:
  GroupMemory() : train_(Rows(1, Repetitions(200), 6)), valid_(Rows(2, Repetitions(60), 3)) {
    options_.starts = {0, 2, 4};
    options_.iterations = 3;
    options_.training_metrics = HOPPER_METRICS_EVERY;
  }

  static PackedTable::Options Rows(uint64_t seed, int64_t rows, int partitions) {
    PackedTable::Options options;
    options.seed = seed;
    options.rows = rows;
    options.partitions = partitions;
    return options;
  }
  // Some of them stop early, so that they meet others on their way.
  static Configuration Mlp(int key, int units) {
    Configuration config;
    config.key = key;
    config.arch = MlpJson(20, units, 3);
    config.compile = std::string("loss='sparse_categorical_crossentropy', optimizer='") +
                     (key % 2 == 0 ? "Adam()" : "SGD(lr=0.05, momentum=0.9)") +
                     "', metrics=['accuracy']";
    config.fit = "batch_size=16";
    if (key % 3 == 0) {
      config.fit += ", callbacks=[EarlyStopping(monitor='val_loss', patience=0, min_delta=0.5)]";
    }
    return config;
  }
  static std::vector<Configuration> Mlps(int n, int units) {
    std::vector<Configuration> configs;
    for (int key = 1; key <= n; ++key) configs.push_back(Mlp(key, units));
    return configs;
  }
  std::unique_ptr<GroupDriver> Segments(const std::vector<Configuration>& configs) const {
    return std::make_unique<GroupDriver>(options_, train_, &valid_, kKeys, kValidKeys, configs,
                                         /*planned=*/true);
  }
  // The least limit at which each of them is trained: what is there beside all data of a segment.
  int64_t Alone(const std::vector<Configuration>& configs) const {
    int64_t most = 0;
    for (const Configuration& config : configs) {
      const auto alone = Segments({config});
      for (const auto& [key, plan] : alone->plans()) {
        most = std::max(most, plan.bytes_models + plan.bytes_data);
      }
    }
    return most;
  }

  const std::vector<int32_t> kKeys = {0, 0, 1, 1, 2, 2};
  const std::vector<int32_t> kValidKeys = {0, 1, 2};
  const PackedTable train_;
  const PackedTable valid_;
  RunOptions options_;
};

std::map<int32_t, std::string> Answers(const std::map<int32_t, ModelResult>& results) {
  std::map<int32_t, std::string> answers;
  for (const auto& [key, result] : results) {
    answers[key] = result.raw.status == HOPPER_MODEL_DONE
                       ? result.digest
                       : std::string(result.raw.error) + ": " + result.raw.error_detail;
  }
  return answers;
}

TEST_F(GroupMemory, WhoDoesNotFitBesideOthersWaits) {
  const std::vector<Configuration> configs = Mlps(24, 400);
  const auto roomy = Segments(configs);
  const std::map<int32_t, ModelResult> all = roomy->Train();
  const int64_t state = static_cast<int64_t>(all.at(2).raw.state_size);
  EXPECT_GE(roomy->most_inside(), 6);
  for (const double more : {0.0, 1.5, 3.5}) {
    options_.memory_limit =
        Alone(configs) + static_cast<int64_t>(more * static_cast<double>(state));
    for (const int threads : {1, 3}) {
      options_.threads = threads;
      const auto tight = Segments(configs);
      EXPECT_EQ(Answers(tight->Train()), Answers(all)) << more << ", " << threads << " threads";
      EXPECT_LT(tight->most_inside(), roomy->most_inside());
      EXPECT_LE(tight->most_bytes(), options_.memory_limit);
    }
  }
}

// What is in memory is what went in and has not come out.
TEST_F(GroupMemory, StatesInsideStayBelowTheLimit) {
  std::vector<Configuration> configs = Mlps(18, 2000);
  for (Configuration& config : configs) {
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='Adam()', metrics=[]";
    config.fit = "batch_size=2";
  }
  const std::map<int32_t, ModelResult> all = Segments(configs)->Train();
  const int64_t state = static_cast<int64_t>(all.at(1).raw.state_size);
  options_.memory_limit = 5 * state;
  const auto tight = Segments(configs);
  EXPECT_EQ(Answers(tight->Train()), Answers(all));
  EXPECT_LE(tight->most_inside() * state, options_.memory_limit);
}

TEST_F(GroupMemory, WhoFailsDoesNotDependOnWhoMeets) {
  std::vector<Configuration> configs = Mlps(8, 300);
  options_.memory_limit = Alone(configs);
  configs[2] = Mlp(3, 40000);  // not even alone
  std::map<int32_t, std::string> first;
  for (int i = 0; i < Repetitions(10); ++i) {
    options_.threads = 1 + i % 4;
    const auto segments = Segments(configs);
    segments->Shuffle(static_cast<uint32_t>(i));
    const std::map<int32_t, std::string> answers = Answers(segments->Train());
    if (i == 0) first = answers;
    EXPECT_EQ(answers, first) << i;
    for (const auto& [key, answer] : answers) {
      EXPECT_EQ(answer.find("does not fit into memory") != std::string::npos, key == 3) << answer;
    }
  }
}

// A loss that becomes NaN leaves no state, whose room others take.
TEST_F(GroupMemory, WhoHasFailedTakesNoRoom) {
  std::vector<Configuration> configs = Mlps(6, 300);
  options_.memory_limit = Alone(configs);
  for (const int key : {1, 4}) {
    Configuration& config = configs[static_cast<size_t>(key) - 1];
    config.compile = "loss='sparse_categorical_crossentropy', optimizer='SGD(lr=1e38)', metrics=[]";
  }
  const auto segments = Segments(configs);
  segments->Shuffle(1);
  const std::map<int32_t, ModelResult> results = segments->Train();
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status == HOPPER_MODEL_FAILED, key == 1 || key == 4) << key;
  }
  EXPECT_LE(segments->most_bytes(), options_.memory_limit);
}

// Data in turns, and models that wait: both at once.
TEST_F(GroupMemory, DataComeInTurnsToo) {
  const PackedTable many{Rows(1, Repetitions(6000), 12)};
  const std::vector<int32_t> keys = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
  options_.starts = {0, 4, 8};
  std::vector<Configuration> configs = Mlps(7, 300);
  for (Configuration& config : configs) config.fit = "batch_size=64";
  GroupDriver roomy(options_, many, nullptr, keys, {}, configs, /*planned=*/true);
  const std::map<int32_t, ModelResult> all = roomy.Train();
  for (int i = 0; i < 3; ++i) {
    options_.threads = 1 + i;
    options_.memory_limit = int64_t{1} << 30;
    int64_t alone = 0;
    int64_t data = 0;
    for (const Configuration& config : configs) {
      const GroupDriver one(options_, many, nullptr, keys, {}, {config}, /*planned=*/true);
      alone = std::max(alone, one.plans().at(0).bytes_models);
      data = one.plans().at(0).bytes_data;
    }
    options_.memory_limit = alone + data / 2;
    GroupDriver tight(options_, many, nullptr, keys, {}, configs, /*planned=*/true);
    tight.Shuffle(static_cast<uint32_t>(i));
    EXPECT_EQ(Answers(tight.Train()), Answers(all)) << i;
    EXPECT_GT(tight.loads(), roomy.loads());
    EXPECT_EQ(tight.plans().at(0).resident, 0);
  }
}

}  // namespace
}  // namespace hopper
