// Runs through the C functions: events, metrics, results.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/keras_models.h"
#include "support/run_driver.h"

namespace hopper {
namespace {

Configuration RunMlp(int32_t key, const std::string& optimizer = "Adam(lr=0.01)") {
  Configuration config;
  config.key = key;
  config.arch = MlpJson(20, 16, 3);
  config.compile =
      "loss='sparse_categorical_crossentropy', optimizer='" + optimizer + "', metrics=['accuracy']";
  config.fit = "batch_size=8, epochs=1";
  return config;
}

PackedTable::Options Valid() {
  PackedTable::Options options;
  options.rows = 61;
  options.partitions = 2;
  options.seed = 2;
  return options;
}

TEST(Run, LearnsAndTells) {
  const PackedTable train{{}};
  const PackedTable valid{Valid()};
  RunOptions options;
  options.iterations = 5;
  options.frequency = 2;
  std::vector<hopper_event> events;
  const auto results = TrainAll(options, {RunMlp(1), RunMlp(2, "SGD(lr=0.05, momentum=0.9)")},
                                train, &valid, &events);

  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.raw.status, HOPPER_MODEL_DONE) << result.raw.error;
    EXPECT_EQ(result.raw.iterations, 5);
    EXPECT_EQ(result.raw.examples, 5 * 203);
    EXPECT_EQ(result.raw.n_weights, result.raw.n_parameters);
    EXPECT_EQ(result.digest.size(), 32U);
    EXPECT_STREQ(result.raw.loss_type, "sparse_categorical_crossentropy");
    EXPECT_STREQ(result.raw.metrics_type[0], "accuracy");
  }
  // Metrics at iterations 2, 4 and 5: validation each time, training running, and measured last.
  std::map<int, std::vector<int>> seen;
  std::vector<int> iterations;
  std::set<int32_t> done;
  for (const hopper_event& event : events) {
    if (event.type == HOPPER_EVENT_METRICS && event.mst_key == 1) {
      seen[event.split * 2 + event.running].push_back(event.iteration);
      EXPECT_EQ(event.n_metrics, 1);
      if (event.iteration == 5 && event.running == 0) {
        EXPECT_GT(event.metrics[0], 0.9);
        EXPECT_LT(event.loss, 0.6);
      }
    }
    if (event.type == HOPPER_EVENT_ITERATION) iterations.push_back(event.iteration);
    if (event.type == HOPPER_EVENT_MODEL_DONE) done.insert(event.mst_key);
    EXPECT_NE(event.type, HOPPER_EVENT_WARNING) << event.message;
  }
  EXPECT_EQ(seen[HOPPER_SPLIT_VALID * 2], (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(seen[HOPPER_SPLIT_TRAIN * 2 + 1], (std::vector<int>{2, 4, 5}));
  EXPECT_EQ(seen[HOPPER_SPLIT_TRAIN * 2], (std::vector<int>{5}));
  EXPECT_EQ(iterations, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(done, (std::set<int32_t>{1, 2}));
  EXPECT_EQ(events.back().type, HOPPER_EVENT_FINISHED);
}

}  // namespace
}  // namespace hopper
